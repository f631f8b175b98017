package store

import (
	"bufio"
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baton/engine/control"
)

// writing, in the environment, makes the test binary a writer of that file.
const writing = "BATON_STORE_WRITE"

func TestMain(m *testing.M) {
	if path := os.Getenv(writing); path != "" {
		writeForEver(path)
	}
	flag.Parse()
	_ = flag.Set("test.parallel", "8") // writers that are waited for cost next to nothing
	os.Exit(m.Run())
}

// writeForEver makes an event every 2 ms and says on stdout which ones it has made.
func writeForEver(path string) {
	s, saved, err := Open(path)
	if err != nil || s.Alert() != "" {
		fmt.Println("error", err, s.Alert())
		os.Exit(1)
	}
	revision := make(chan int64, 1)
	revision <- saved.Revision
	go func() {
		_ = s.Run(context.Background(), func() control.Saved {
			r := <-revision
			revision <- r
			return control.Saved{Revision: r, Drained: map[string]string{"a": fmt.Sprint(r)}}
		})
	}()
	for seq := saved.Seq + 1; ; seq++ {
		<-revision
		s.Event(event(seq))
		revision <- seq
		fmt.Println(seq)
		time.Sleep(2 * time.Millisecond)
	}
}

// made is an event that a writer says it has made.
type made struct {
	seq int64
	at  time.Time
}

// writeAndKill runs a writer for that long and kills it.
func writeAndKill(t *testing.T, path string, lives time.Duration) (all []made, killed time.Time) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), writing+"="+path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var end <-chan time.Time
	done := make(chan struct{})
	for lines.Scan() {
		if end == nil {
			timer := time.NewTimer(lives)
			defer timer.Stop()
			end = timer.C
			go func() {
				defer close(done)
				<-end
				killed = time.Now()
				_ = cmd.Process.Kill()
			}()
		}
		m := made{at: time.Now()}
		if _, err := fmt.Sscan(lines.Text(), &m.seq); err != nil {
			t.Fatalf("the writer says %q", lines.Text())
		}
		all = append(all, m)
	}
	if end == nil {
		t.Fatal("the writer wrote nothing")
	}
	<-done
	_ = cmd.Wait()
	return all, killed
}

func TestKill_LosesAtMostTheLastSecondAndCorruptsNothing(t *testing.T) {
	lanes, lives := 5, []time.Duration{250 * time.Millisecond, 1300 * time.Millisecond, 700 * time.Millisecond, 1700 * time.Millisecond}
	dir := t.TempDir()
	t.Run("lanes", func(t *testing.T) {
		for lane := range lanes {
			t.Run(fmt.Sprint(lane), func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(dir, fmt.Sprintf("baton%d.db", lane))
				last := int64(0)
				for _, d := range lives {
					all, killed := writeAndKill(t, path, d+time.Duration(lane)*37*time.Millisecond)
					if all[0].seq <= last {
						t.Fatalf("a writer begins with %d where another has made %d", all[0].seq, last)
					}
					last = all[len(all)-1].seq
					sound(t, path)
					checkKept(t, path, all, killed)
				}
			})
		}
	})
}

// sound checks the file that a killed process has left.
func sound(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	said := ""
	if err := db.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&said); err != nil || said != "ok" {
		t.Fatalf("integrity_check: %s (%v)", said, err)
	}
}

// checkKept checks that of what a killed writer made only the last second is
// missing, and that what is there has no hole.
func checkKept(t *testing.T, path string, all []made, killed time.Time) {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "baton.db") // the next writer is to find it as it was left
	for _, with := range []string{"", "-wal"} {
		if err := copyFile(copied+with, path+with); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	s, saved := quick(t, copied)
	defer s.Close()
	if a := s.Alert(); a != "" {
		t.Fatal(a)
	}
	kept, err := s.Events(all[0].seq-1, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range kept {
		if e.Seq != all[0].seq+int64(i) || e.Text != fmt.Sprint("event ", e.Seq) {
			t.Fatalf("event %d is %+v", i, e)
		}
	}
	stood := killed.Sub(all[len(all)-1].at) // for so long nothing ran: a busy machine is no failure
	for i := range all[1:] {
		stood = max(stood, all[i+1].at.Sub(all[i].at))
	}
	due := 0
	for due < len(all) && killed.Sub(all[due].at) >= time.Second+stood {
		due++
	}
	if len(kept) < due {
		t.Fatalf("of %d events made over a second before the kill %d are kept", due, len(kept))
	}
	if due > 0 {
		if r := saved.Revision - revisionGap; r < all[due-1].seq || saved.Drained["a"] != fmt.Sprint(r) {
			t.Fatalf("revision %d and drain %q, where %d was made a second before the kill", r, saved.Drained["a"], all[due-1].seq)
		}
	}
}

func TestKill_AWriterThatCannotOpenSaysSo(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), writing+"="+filepath.Join(t.TempDir(), "none", "baton.db"))
	out, err := cmd.Output()
	if err == nil || !strings.Contains(string(out), "cannot be written") {
		t.Fatalf("%v: %s", err, out)
	}
}
