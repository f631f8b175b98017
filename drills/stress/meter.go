package stress

import "sync"

// meter counts what a run spends, over all targets.
type meter struct {
	budget float64 // 0: none

	mu    sync.Mutex
	one   float64 // what a request has cost at most, for those under way
	spent float64
	under int
	over  bool
}

// reserve says whether one more request is within the budget.
func (m *meter) reserve() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.budget > 0 && (m.over || m.spent+float64(m.under+1)*m.one > m.budget) {
		m.over = true
		return false
	}
	m.under++
	return true
}

// spend counts a request that was reserved.
func (m *meter) spend(s *sample) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.under--
	if s.ok() {
		m.spent += s.cost
		m.one = max(m.one, s.cost)
	}
}

// expect sets what a request may cost before one has been paid for.
func (m *meter) expect(cost float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.one = max(m.one, cost)
}

func (m *meter) exhausted() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.over
}

func (m *meter) sum() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spent
}
