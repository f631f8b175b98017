package weights

import (
	"fmt"
	"os"
	"testing"
)

func TestTrace(t *testing.T) {
	name := os.Getenv("TRACE")
	if name == "" {
		t.Skip()
	}
	for _, sc := range simScenarios() {
		if sc.name != name {
			continue
		}
		sc.tick = func(s *sim, now float64) {
			if now < sc.event-5 {
				return
			}
			lv := s.law.vendors
			if now < 260 || int(now)%5 == 0 {
				fmt.Printf("%4.0f w=%.3f t=%.3f ceil=%.3f/%.3f beyond=%v/%v late=%v well=%v/%v steady=%v L=%.2f/%.2f p60=%.2f r=%.2f lim=%.0f/%.0f q=%d/%d up=%.3f mov=%v edge=%.1f keep=%.2f cap=%.2f pr=%v\n", now, s.w[0], s.law.target[0], lv[0].ceiling, lv[1].ceiling, lv[0].beyond, lv[1].beyond, lv[0].late, lv[0].well, lv[1].well, s.law.steady, lv[0].latency[0].value, lv[1].latency[0].value, func() float64 { x, _ := s.v[0].p90(1, 0, now, s.scratch); return x }(), lv[0].r, s.v[0].cap.limit, s.v[1].cap.limit, len(s.v[0].queue), len(s.v[1].queue), s.law.up[0], s.law.moving, lv[0].room.edge, lv[0].room.keep, lv[0].room.cap, lv[0].room.proved)
			}
		}
		newSim(sc, false, 1).run()
	}
}
