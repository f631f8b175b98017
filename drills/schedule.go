package drills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/renameio/v2"
	"github.com/robfig/cron/v3"

	"baton/engine/config"
	"baton/engine/control"
)

const (
	scheduler     = "drill:schedule" // who starts what the schedule starts
	announceAhead = 10 * time.Minute
	announceLate  = 30 * time.Second // an announcement that is later than that is none
	turnEvery     = 20 * time.Second
	startLate     = time.Minute // a start that is later than that is not caught up
	cancelledFile = "cancelled" // beside the records: what a restart must not bring back
)

// plan is the schedule of drills.
type plan struct {
	file   string    // of the records' directory
	turned time.Time // when it was last found out whose turn it is; of the goroutine alone

	mu      sync.Mutex // guards what follows
	began   time.Time
	entries []entry
	said    map[string]bool   // announced, by occurrence
	done    map[string]bool   // started or left out
	not     map[string]string // why an occurrence will not run
}

// entry is one line of drill.schedule and its next occurrence.
type entry struct {
	config.Schedule
	cron   cron.Schedule
	at     time.Time // zero: none is known
	vendor string    // whose turn it is, "" by lot or not known
}

// configure takes a schedule over. What has been announced or cancelled stays so.
func (p *plan) configure(cfg *config.Config) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.said == nil {
		p.began, p.said, p.done, p.not = time.Now(), map[string]bool{}, map[string]bool{}, p.load()
	}
	p.entries = nil
	for _, s := range cfg.Drill.Schedule {
		c, err := cron.ParseStandard(sundays(s.Cron))
		if err != nil {
			continue // the configuration was checked
		}
		p.entries = append(p.entries, entry{Schedule: s, cron: c})
	}
}

// sundays writes the 7 that crontab(5) has for Sunday as 0.
func sundays(line string) string {
	fields := strings.Fields(line)
	if len(fields) != 5 {
		return line
	}
	var out []string
	for item := range strings.SplitSeq(fields[4], ",") {
		span, step, stepped := strings.Cut(item, "/")
		from, ranged := strings.CutSuffix(span, "-7")
		switch {
		case span == "7":
			item = "0"
		case ranged && from == "7":
			item = "0"
		case ranged && stepped: // robfig/cron has no range over the week's end
			low, _ := strconv.Atoi(from)
			every, _ := strconv.Atoi(step)
			for d := low; d <= 7 && every > 0; d += every {
				out = append(out, strconv.Itoa(d%7))
			}
			continue
		case ranged:
			item = from + "-6,0"
		}
		out = append(out, item)
	}
	fields[4] = strings.Join(out, ",")
	return strings.Join(fields, " ")
}

// next is the occurrence of e after a moment, its jitter in it. The jitter of an
// occurrence is always the same.
func (e *entry) next(after time.Time, z *time.Location) time.Time {
	at := e.cron.Next(after.Add(-e.Jitter).In(z))
	for range 1000 {
		if at.IsZero() {
			return at
		}
		if j := at.Add(e.jitterAt(at)); j.After(after) {
			return j
		}
		at = e.cron.Next(at)
	}
	return time.Time{}
}

func (e *entry) jitterAt(at time.Time) time.Duration {
	if e.Jitter < time.Second {
		return 0
	}
	h := fnv.New64a()
	fmt.Fprint(h, e.Scenario, e.Cron, at.Unix())
	return time.Duration(h.Sum64() % uint64(e.Jitter/time.Second) * uint64(time.Second))
}

// id names one occurrence.
func (e *entry) id(z *time.Location) string {
	return e.Scenario + "-" + e.at.In(z).Format("20060102-1504")
}

// tickPlan announces and starts what is due.
func (m *Machine) tickPlan(ctx context.Context, now time.Time) {
	p, z := &m.plan, m.zone()
	type due struct {
		entry
		id string
	}
	var announce, start []due
	if age := now.Sub(p.turned); age < 0 || age >= turnEvery {
		m.turns(ctx)
		p.turned = now
	}
	p.mu.Lock()
	for i := range p.entries {
		e := &p.entries[i]
		if e.at.IsZero() {
			e.at = e.next(now, z)
		}
		id := e.id(z)
		switch left := e.at.Sub(now); {
		case e.at.IsZero():
		case left <= 0:
			if !p.done[id] {
				p.done[id] = true
				start = append(start, due{*e, id})
			}
			e.at = e.next(now, z)
		case left <= announceAhead && !p.said[id] && p.not[id] == "":
			p.said[id] = true
			if late := announceAhead - left; late > announceLate {
				p.not[id] = fmt.Sprintf("it could not be announced %s ahead: baton began, or the schedule changed, %s before it", control.Duration(announceAhead), control.Duration(left.Round(time.Second)))
			}
			announce = append(announce, due{*e, id})
		}
	}
	p.mu.Unlock()
	for _, d := range announce {
		m.announceScheduled(ctx, &d.entry, d.id)
	}
	for _, d := range start {
		m.startScheduled(ctx, &d.entry, d.id, now)
	}
}

// turns finds out whose turn it is in each line, where that may have changed.
func (m *Machine) turns(ctx context.Context) {
	m.plan.mu.Lock()
	entries := slices.Clone(m.plan.entries)
	m.plan.mu.Unlock()
	if len(entries) == 0 {
		return
	}
	for i := range entries {
		v, _ := m.turn(ctx, &entries[i])
		m.plan.mu.Lock()
		if len(m.plan.entries) == len(entries) {
			m.plan.entries[i].vendor = v
		}
		m.plan.mu.Unlock()
	}
}

// unfit says why a scheduled drill will not run, "" if it will as far as is known.
func (m *Machine) unfit(ctx context.Context, e *entry, id string) (vendor, why string) {
	m.plan.mu.Lock()
	why = m.plan.not[id]
	m.plan.mu.Unlock()
	m.mu.Lock()
	t := m.terms
	m.mu.Unlock()
	vendor, err := m.turn(ctx, e)
	day, dark := blackout(&t.rules, e.at)
	switch {
	case why != "":
	case err != nil:
		why = err.Error()
	case dark:
		why = "blackout " + day
	case !e.Armed && (vendor == "" && t.anyReal() || t.real(vendor)):
		why = "it is not armed, and the vendor is a real one"
	default:
		if before := m.records.drilledOn(vendor, e.at, zone(&t.rules)); vendor != "" && before != "" {
			why = "the vendor was drilled that day already: " + before
		}
	}
	return vendor, why
}

// turn is the vendor whose turn it is: both directions in turn, unless another line
// of the schedule goes the other way. "" where it is drawn by lot.
func (m *Machine) turn(ctx context.Context, e *entry) (string, error) {
	s, err := m.scenario(e.Scenario)
	if err != nil {
		return "", err
	}
	snap, err := control.Get[*control.Snapshot](ctx, m.control, control.State{})
	if err != nil {
		return "", err
	}
	if s.Target == targetGiven {
		if s.external() || len(snap.Vendors) == 0 {
			return "", invalid("scenario", "%s wants a vendor, and the schedule has none", s.Name)
		}
	}
	usual, err := target(s, "", snap)
	if s.Target == targetGiven {
		usual, err = snap.Vendors[0].Name, nil
	}
	if err != nil || usual == "" || s.external() || m.otherWay(e, usual, snap) {
		return usual, err
	}
	last := m.records.lastScheduled(s.Name)
	names := make([]string, len(snap.Vendors))
	for i := range snap.Vendors {
		names[i] = snap.Vendors[i].Name
	}
	i := slices.Index(names, last)
	if i < 0 {
		return usual, nil
	}
	return names[(i+1)%len(names)], nil
}

// otherWay says whether another line of the schedule is for another vendor.
func (m *Machine) otherWay(e *entry, usual string, snap *control.Snapshot) bool {
	m.plan.mu.Lock()
	entries := slices.Clone(m.plan.entries)
	m.plan.mu.Unlock()
	for i := range entries {
		s, err := m.scenario(entries[i].Scenario)
		if err != nil || s.Name == e.Scenario || s.Target == targetGiven {
			continue
		}
		if v, err := target(s, "", snap); err == nil && v != "" && v != usual {
			return true
		}
	}
	return false
}

func (m *Machine) announceScheduled(ctx context.Context, e *entry, id string) {
	vendor, why := m.unfit(ctx, e, id)
	at := e.at.In(m.zone()).Format("15:04:05 MST")
	text := fmt.Sprintf("the drill %s begins at %s. `baton drill cancel %s` cancels it", scheduledName(e, vendor), at, id)
	if why != "" {
		text = fmt.Sprintf("the drill %s of %s will not run: %s", scheduledName(e, vendor), at, why)
	}
	m.log(control.Event{Level: control.Warn, Kind: "drill", Vendor: vendor, Who: scheduler, Text: text, Data: map[string]any{"scheduled": id}})
}

func scheduledName(e *entry, vendor string) string {
	if vendor == "" {
		return e.Scenario
	}
	return e.Scenario + " of " + vendor
}

// startScheduled starts one that is due, or says why not.
func (m *Machine) startScheduled(ctx context.Context, e *entry, id string, now time.Time) {
	vendor, why := m.unfit(ctx, e, id)
	m.plan.mu.Lock()
	said := m.plan.said[id]
	m.plan.mu.Unlock()
	if why == "" && (!said || now.Sub(e.at) > startLate) {
		why = "its time was missed; it is not caught up"
	}
	if why == "" {
		c := &control.StartDrill{Meta: control.Meta{By: scheduler}, Scenario: e.Scenario, Vendor: vendor, Note: "by the schedule " + e.Cron}
		err := m.control.Do(ctx, c)
		if err == nil {
			return
		}
		why = err.Error()
	}
	m.log(control.Event{
		Level: control.Warn, Kind: "drill", Vendor: vendor, Who: scheduler,
		Text: fmt.Sprintf("the scheduled drill %s did not run: %s", scheduledName(e, vendor), why), Data: map[string]any{"scheduled": id},
	})
}

// Schedule is the drills that come, the next of each line, soonest first.
func (m *Machine) Schedule() []control.Scheduled {
	p, z := &m.plan, m.zone()
	p.mu.Lock()
	entries := slices.Clone(p.entries)
	out := make([]control.Scheduled, 0, len(entries))
	said := make([]bool, len(entries))
	for i := range entries {
		if entries[i].at.IsZero() {
			entries[i].at = entries[i].next(time.Now(), z)
		}
		said[i] = p.said[entries[i].id(z)]
	}
	p.mu.Unlock()
	for i := range entries {
		e := &entries[i]
		if e.at.IsZero() {
			continue
		}
		s := control.Scheduled{ID: e.id(z), Scenario: e.Scenario, At: e.at.UTC(), Armed: e.Armed, Announced: said[i]}
		s.Vendor, s.Cancelled = m.planned(e, s.ID)
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b control.Scheduled) int { return a.At.Compare(b.At) })
	return out
}

// planned is whose turn it is and why it will not run. It asks nobody: it is part
// of what is asked.
func (m *Machine) planned(e *entry, id string) (vendor, why string) {
	m.plan.mu.Lock()
	why = m.plan.not[id]
	m.plan.mu.Unlock()
	m.mu.Lock()
	t := m.terms
	m.mu.Unlock()
	if day, dark := blackout(&t.rules, e.at); why == "" && dark {
		why = "blackout " + day
	}
	if why == "" && !e.Armed && t.anyReal() {
		why = "it is not armed, and a vendor is a real one"
	}
	return e.vendor, why
}

// cancel takes one occurrence off the schedule.
func (m *Machine) cancel(c *control.CancelScheduled) error {
	p, z := &m.plan, m.zone()
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.entries {
		e := &p.entries[i]
		if e.at.IsZero() || e.id(z) != c.ID {
			continue
		}
		if p.not[c.ID] == "" {
			p.not[c.ID] = "cancelled by " + c.Who()
			m.log(control.Event{
				Level: control.Warn, Kind: "drill", Who: c.Who(), Text: fmt.Sprintf("the drill %s of %s is cancelled", e.Scenario, e.at.In(z).Format("2006-01-02 15:04 MST")),
				Data: map[string]any{"scheduled": c.ID, "command": c.Line()},
			})
			if err := p.save(); err != nil {
				return control.Errorf(control.Internal, "it is cancelled, but a restart would not know: %v", err)
			}
		}
		return nil
	}
	return control.Errorf(control.NotFound, "no drill %q comes", c.ID)
}

// load and save keep what was cancelled; p.mu is held.
func (p *plan) load() map[string]string {
	out := map[string]string{}
	if b, err := os.ReadFile(filepath.Join(p.file, cancelledFile)); err == nil {
		_ = json.Unmarshal(b, &out) // one that is broken cancels nothing
	}
	return out
}

func (p *plan) save() error {
	b, err := json.Marshal(p.not)
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(p.file, 0o700), renameio.WriteFile(filepath.Join(p.file, cancelledFile), b, 0o600))
}
