package control

import (
	"context"
	"errors"
	"testing"
)

// numbered are the events from first to last.
func numbered(first, last int64) (events []Event) {
	for n := first; n <= last; n++ {
		events = append(events, Event{Seq: n})
	}
	return events
}

func TestResume_NumbersGoOnAndTheJournalIsThere(t *testing.T) {
	h := NewHub(Backend{Do: func(context.Context, Command) error { return nil }, Fill: func(*Snapshot) {}}, nil)
	h.Resume(Saved{Revision: 12, Seq: 2500, Journal: numbered(1, 2500)})
	h.Log(Event{Text: "first of this run"})
	events, err := Get[[]Event](t.Context(), h, EventsAfter{Seq: 2490})
	if err != nil || len(events) != 11 || events[10].Seq != 2501 {
		t.Fatalf("after 2490: %+v (%v)", events, err)
	}
	if n := len(h.after(0)); n > journalKept {
		t.Fatalf("%d events in memory", n)
	}
	stale := int64(11)
	if err := h.Do(t.Context(), &Undrain{Meta: Meta{Revision: &stale}}); err == nil {
		t.Fatal("a command made against a revision of the last run is taken")
	}
	cmd := &Undrain{}
	if err := h.Do(t.Context(), cmd); err != nil || RevisionAfter(cmd) != 13 {
		t.Fatalf("revision %d (%v)", RevisionAfter(cmd), err)
	}
}

func TestEventsAfter_ReachesBeyondMemory(t *testing.T) {
	file := numbered(1, 30000)
	var broken error
	asked := 0
	h := NewHub(Backend{Older: func(seq int64, limit int) ([]Event, error) {
		asked++
		return file[seq:min(int(seq)+limit, len(file))], broken
	}}, nil)
	h.Resume(Saved{Seq: 30000, Journal: numbered(29501, 30000)})
	h.Log(Event{}) // 30001, not in the file yet
	for _, c := range []struct {
		name        string
		after       int64
		broken      error
		first, last int64
		asked       int
	}{
		{"memory has it", 29500, nil, 29501, 30001, 0},
		{"beyond memory", 25000, nil, 25001, 30001, 1},
		{"so many at once, the oldest first", 100, nil, 101, 10100, 1},
		{"no place: what memory holds", 0, nil, 29501, 30001, 0},
		{"a file that cannot be read", 100, errors.New("disk I/O error"), 29501, 30001, 1},
	} {
		asked, broken = 0, c.broken
		events, err := Get[[]Event](t.Context(), h, EventsAfter{Seq: c.after})
		if err != nil || asked != c.asked || int64(len(events)) != c.last-c.first+1 || events[0].Seq != c.first || events[len(events)-1].Seq != c.last {
			t.Errorf("%s: %d events, %d to %d, file asked %d times (%v)", c.name, len(events), events[0].Seq, events[len(events)-1].Seq, asked, err)
		}
	}
}
