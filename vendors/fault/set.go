package fault

import "sync"

// Set holds the points of all vendors, by name. It outlives reloads of the
// configuration, and so do faults.
type Set struct {
	mu     sync.Mutex
	points map[string]*Point
}

// NewSet returns a Set without points.
func NewSet() *Set { return &Set{points: map[string]*Point{}} }

// Point returns the vendor's point, always the same one.
func (s *Set) Point(vendor string) *Point {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.points[vendor]
	if p == nil {
		p = new(Point)
		s.points[vendor] = p
	}
	return p
}

// Clear ends every fault.
func (s *Set) Clear() {
	s.mu.Lock()
	points := make([]*Point, 0, len(s.points))
	for _, p := range s.points {
		points = append(points, p)
	}
	s.mu.Unlock()
	for _, p := range points {
		p.Clear()
	}
}
