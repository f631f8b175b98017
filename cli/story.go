package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"baton/drills"
	"baton/drills/story"
	"baton/engine/config"
	"baton/engine/control"
	"baton/vendors/sim"
)

// storyScenario is the one drill that brings its own vendors and engine.
const storyScenario = "story"

// stage starts what the story needs: simulated vendors, and an engine in a
// temporary state.
type stage struct{}

// Vendor starts a simulated vendor on a free loopback port.
func (stage) Vendor(v story.Simulated) (url string, stop func(), err error) {
	o := sim.Options{
		Name: v.Name, Label: v.Label, Profile: v.Profile, Seed: v.Seed, Limit: v.Limit, LimitMode: v.LimitMode, Quantized: v.Quantized, Tokens: v.Tokens,
	}
	if v.Steady {
		o.Crash = -1
	}
	vendor, err := sim.New(o)
	if err != nil {
		return "", nil, err
	}
	ln, err := listen("story", "127.0.0.1:0", false)
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: vendor, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(ln)
	}()
	return "http://" + ln.Addr().String() + "/v1", func() {
		_ = server.Close()
		<-done
	}, nil
}

// Engine starts baton over two simulated vendors, without demo traffic.
func (stage) Engine(primary, secondary story.Simulated) (story.Engine, error) {
	st, err := temporaryState()
	if err != nil {
		return story.Engine{}, err
	}
	file := st.path("config.toml")
	if err := os.WriteFile(file, []byte(storyConfig(primary, secondary)), 0o600); err != nil {
		st.close()
		return story.Engine{}, err
	}
	cfg, err := config.Load(config.Options{Flag: file, Environ: func(string) string { return "" }})
	if err != nil {
		st.close()
		return story.Engine{}, err
	}
	p, err := newProcess(cfg, st, freePorts{gateway: true, control: true}, slog.New(slog.DiscardHandler))
	if err != nil {
		st.close()
		return story.Engine{}, err
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = p.run(ctx)
	}()
	return story.Engine{URL: "http://" + p.gatewayL.Addr().String() + "/v1", Control: p.hub, Stop: func() {
		stop()
		<-done
		st.close()
	}}, nil
}

// storyConfig is the engine's configuration: the two vendors, and the rest as it
// is by default.
func storyConfig(vendors ...story.Simulated) string {
	var b strings.Builder
	b.WriteString("[demo]\nrps = 0\n\n[[models]]\nname = \"qwen-7b\"\n")
	for i, v := range vendors {
		role := "primary"
		if i > 0 {
			role = "secondary"
		}
		fmt.Fprintf(&b, "\n[[vendors]]\nname = %q\nlabel = %q\nrole = %q\nsimulate = %q\n[vendors.sim]\nseed = %d\n", v.Name, v.Label, role, v.Profile, v.Seed)
		if v.LimitMode != "" {
			fmt.Fprintf(&b, "limit_mode = %q\n", v.LimitMode)
		}
		if v.Limit > 0 {
			fmt.Fprintf(&b, "limit = %g\n", v.Limit)
		}
	}
	return b.String()
}

// runStory plays the story in this process and keeps its record.
func (a *app) runStory(d *drillRun, signals <-chan os.Signal) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	dir, err := stateDir(a.statePath, cfg.State.Dir, a.env)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go func() {
		select {
		case <-ctx.Done():
		case <-signals:
			stop()
		}
	}()
	id := control.NewDrillID(time.Now())
	a.tell("the story takes about %s; everything in it is simulated and runs on this machine. Ctrl-C ends it", control.Duration(story.Length().Round(time.Second)))
	t := &storyteller{a: a}
	r, playErr := story.Run(ctx, stage{}, t.scene)
	if playErr != nil && !errors.Is(playErr, context.Canceled) {
		return playErr
	}
	rep := r.Record(id, "operator:"+a.operator(), version())
	rep.Note, rep.Ticket = d.start.Note, d.start.Ticket
	if err := drills.Keep(filepath.Join(dir, "drills"), rep); err != nil {
		a.tell("the record cannot be written: %v", err)
	} else if page, err := storyPage(filepath.Join(dir, "drills"), id, r); err != nil {
		a.tell("the page cannot be written: %v", err)
	} else {
		a.tell("wrote %s", page)
	}
	if d.report != "" {
		paths, err := writeReport(d.report, rep)
		if err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
		page, err := storyPage(d.report, id, r)
		if err != nil {
			return fmt.Errorf("write the report: %w", err)
		}
		a.tell("wrote %s", strings.Join(append(paths, page), ", "))
	}
	if d.json {
		if err := a.printJSON(rep); err != nil {
			return err
		}
	} else {
		fmt.Fprint(a.out, "\n"+r.Markdown())
		fmt.Fprintf(a.out, "\n%s story: %s%s\n", id, strings.ToUpper(rep.Verdict), because(rep.Reason))
	}
	return exitIf(rep.Verdict != control.Passed, verdictCode(rep.Verdict))
}

// storyPage writes the story's own page beside its record.
func storyPage(dir, id string, r *story.Report) (string, error) {
	page := filepath.Join(dir, id+"-story.html")
	return page, os.WriteFile(page, []byte(r.HTML()), 0o600)
}

// storyteller says on standard error what happens: each act's caption once, and
// its figures in a line that is written over.
type storyteller struct {
	a    *app
	act  int
	told bool
}

func (t *storyteller) scene(s story.Scene) {
	out := t.a.err
	if !t.told || s.Act != t.act {
		if t.told {
			fmt.Fprintln(out)
		}
		t.told, t.act = true, s.Act
		head := s.Title
		if s.Act > 0 {
			head = fmt.Sprintf("ACT %d of %d: %s", s.Act, s.Of, s.Title)
		}
		fmt.Fprintf(out, "\n%s\n  %s\n  load: %s\n", head, s.Caption, s.Load)
	}
	line := "warming up, nothing counts yet"
	if f := s.Figures; f != nil {
		line = figuresOf(f)
	}
	if s.Note != "" {
		line = s.Note
	}
	bar := progress(s.At, s.Length, 20)
	text := fmt.Sprintf("  %s %s   %s left in all", bar, line, clockOf(s.Left))
	if f, ok := out.(*os.File); ok && isTerminal(f) {
		fmt.Fprintf(out, "\r\x1b[K%s", text)
	} else if s.At%(10*time.Second) < 500*time.Millisecond {
		fmt.Fprintln(out, text)
	}
}

func secondsOf(ms *float64) string {
	if ms == nil {
		return "-"
	}
	return fmt.Sprintf("%.2fs", *ms/1000)
}

// clockOf is a time left, as 4:05.
func clockOf(d time.Duration) string {
	s := int(d.Round(time.Second).Seconds())
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// progress is a bar of width cells.
func progress(at, length time.Duration, width int) string {
	n := 0
	if length > 0 {
		n = min(width, int(float64(width)*at.Seconds()/length.Seconds()))
	}
	return "[" + strings.Repeat("=", n) + strings.Repeat(" ", width-n) + "]"
}
