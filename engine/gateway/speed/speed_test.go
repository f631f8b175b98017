package speed

import (
	"os/exec"
	"runtime"
	"testing"
	"time"
)

// TestSpeed holds baton against the reference. It fails if an answer is not whole,
// and never because of a time: those are for people to read.
func TestSpeed(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skipf("CPU times and memory of other processes are read from /proc, which %s does not have", runtime.GOOS)
	}
	if testing.Short() {
		t.Skip("starts processes and builds baton")
	}
	if _, err := exec.LookPath("go"); err != nil && *program == "" {
		t.Skipf("baton has to be built: %v", err)
	}
	path := build(t)
	mock := startRole(t, "mock")
	reference := startRole(t, "reference", mock.addr)
	baton := startBaton(t, path, mock.addr)
	proxies := []*process{mock, reference, baton}
	if *seconds > 0 {
		time.Sleep(time.Second) // for what starts with a process
	}
	for _, p := range proxies {
		p.idle = p.rss()
	}

	r := new(report)
	vendors := map[string]int{}
	for _, c := range cases() {
		t.Run(c.name, func(t *testing.T) {
			if c.open {
				c.setRate(t, reference)
			}
			results := measure(t, c, proxies)
			for _, m := range results {
				if m.all.cut+m.all.failed > 0 {
					t.Errorf("%s: %d answers cut and %d failed beside %d good ones; the first: %v", m.name, m.all.cut, m.all.failed, m.all.answers, m.all.fault)
				}
				if m.all.answers == 0 {
					t.Errorf("%s answered nothing", m.name)
				}
			}
			for name, n := range results[2].all.vendors {
				vendors[name] += n
			}
			r.add(c, results)
		})
	}
	if *seconds > 0 {
		t.Logf("\n%s", r)
	}
	if vendors["first"] == 0 || vendors["second"] == 0 || len(vendors) != 2 {
		t.Errorf("answers by vendor: %v; both were to take part", vendors)
	}
}
