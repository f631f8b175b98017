package recording

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sort"
	"time"

	"baton/engine/control"
)

const longestLine = 32 << 20

// frame is one snapshot of a recording.
type frame struct {
	at     time.Duration
	raw    json.RawMessage
	events []control.Event
}

// recorded is a recording in memory.
type recorded struct {
	head
	frames []frame // at least one, by rising time
}

// load reads a recording as far as it goes.
func load(path string) (*recorded, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no recording %s", path)
	}
	if err != nil {
		return nil, fmt.Errorf("open a recording: %w", err)
	}
	defer f.Close()
	r, err := decode(f)
	if err != nil {
		return nil, fmt.Errorf("read the recording %s: %w", path, err)
	}
	return r, nil
}

// decode reads a recording. It ends where the file does, also in the middle of a
// line: the process that wrote it may have been killed.
func decode(in io.Reader) (*recorded, error) {
	zip, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("it is no recording, or nothing of it was written: %w", err)
	}
	lines := bufio.NewReaderSize(io.LimitReader(zip, largest+longestLine), 256<<10)
	r := new(recorded)
	for first := true; ; first = false {
		line, err := lines.ReadBytes('\n')
		if err != nil { // the end, or as far as it was written
			break
		}
		if first {
			if err := json.Unmarshal(line, &r.head); err != nil || r.Format != format {
				return nil, fmt.Errorf("its first line is not the head of a recording of format %d", format)
			}
			continue
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(r.frames)+2, err)
		}
		at := time.Duration(e.TMs) * time.Millisecond
		if n := len(r.frames); at < 0 || e.TMs > 1<<40 || n > 0 && at < r.frames[n-1].at || len(e.Snapshot) == 0 {
			return nil, fmt.Errorf("line %d: a time of %d ms does not go on", n+2, e.TMs)
		}
		r.frames = append(r.frames, frame{at, e.Snapshot, e.Events})
	}
	if len(r.frames) == 0 {
		return nil, errors.New("there is no snapshot in it")
	}
	return r, nil
}

// index is the frame that is shown at a moment.
func (r *recorded) index(at time.Duration) int {
	return max(0, sort.Search(len(r.frames), func(i int) bool { return r.frames[i].at > at })-1)
}

func (r *recorded) length() time.Duration { return r.frames[len(r.frames)-1].at }

// snapshot is the state of a frame, a value of its own.
func (r *recorded) snapshot(i int) (*control.Snapshot, error) {
	s := new(control.Snapshot)
	if err := json.Unmarshal(r.frames[i].raw, s); err != nil {
		return nil, control.Errorf(control.Internal, "read a recorded snapshot: %v", err)
	}
	return s, nil
}

// events are those of the frames from a up to b, at most the last so many.
func (r *recorded) events(a, b, most int) []control.Event {
	out := []control.Event{}
	for i := a; i <= b; i++ {
		out = append(out, r.frames[i].events...)
	}
	return out[max(0, len(out)-most):]
}
