package gateway

import (
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
	"sync"
	"sync/atomic"
)

// budget bounds the memory of all bodies and held answers together.
type budget struct {
	used, limit atomic.Int64
}

// take reserves n bytes; false if there is no room.
func (b *budget) take(n int64) bool {
	if b.used.Add(n) <= b.limit.Load() {
		return true
	}
	b.used.Add(-n)
	return false
}

func (b *budget) give(n int64) { b.used.Add(-n) }

// Buffers come in powers of two, from 4 KiB to 32 MiB, each size with its pool.
const (
	smallest = 12
	largest  = 25
)

var pools [largest - smallest + 1]sync.Pool // of *[]byte

// class returns the pool for a buffer of n bytes, and that pool's size; -1 for
// one that is too large for any.
func class(n int) (i, size int) {
	c := max(bits.Len(uint(max(n, 1)-1)), smallest)
	if c > largest {
		return -1, n
	}
	return c - smallest, 1 << c
}

func newBuffer(n int) *[]byte {
	i, size := class(n)
	if i >= 0 {
		if b, ok := pools[i].Get().(*[]byte); ok {
			return b
		}
	}
	b := make([]byte, size)
	return &b
}

func freeBuffer(b *[]byte) {
	if i, size := class(len(*b)); i >= 0 && size == len(*b) {
		pools[i].Put(b)
	}
}

// spool is bytes written once and read often: in memory while the budget has
// room, in an unlinked file otherwise. Its users count themselves in and out;
// with the last one the memory goes back to its pool.
type spool struct {
	memory *budget
	buf    *[]byte // nil once the bytes are in the file
	n      int64
	file   *os.File
	refs   atomic.Int32
}

// newSpool returns a spool for about size bytes, held once.
func newSpool(m *budget, size int64) (*spool, error) {
	s := &spool{memory: m}
	s.refs.Store(1)
	_, c := class(int(size))
	if !m.take(int64(c)) {
		return s, s.toFile()
	}
	s.buf = newBuffer(int(size))
	return s, nil
}

// bytes returns what was written; nil if it is in a file.
func (s *spool) bytes() []byte {
	if s.buf == nil {
		return nil
	}
	return (*s.buf)[:s.n]
}

// Write appends p.
func (s *spool) Write(p []byte) (int, error) {
	if err := s.room(len(p)); err != nil {
		return 0, err
	}
	if s.file != nil {
		n, err := s.file.Write(p)
		s.n += int64(n)
		return n, err
	}
	s.n += int64(copy((*s.buf)[s.n:], p))
	return len(p), nil
}

// room makes room for n bytes more, or changes to a file.
func (s *spool) room(n int) error {
	if s.file != nil || s.n+int64(n) <= int64(len(*s.buf)) {
		return nil
	}
	_, size := class(max(int(s.n)+n, 2*len(*s.buf)))
	if !s.memory.take(int64(size)) {
		return s.toFile()
	}
	old := s.buf
	s.buf = newBuffer(size)
	copy(*s.buf, (*old)[:s.n])
	s.memory.give(int64(len(*old)))
	freeBuffer(old)
	return nil
}

// toFile moves what there is into a file that has no name any more, so that it
// is gone with the process whatever happens.
func (s *spool) toFile() error {
	f, err := os.CreateTemp("", "baton-body-")
	if err != nil {
		return fmt.Errorf("keeping a body beyond gateway.buffer in a file: %w", err)
	}
	unlink := os.Remove(f.Name())
	s.file = f
	if s.buf == nil {
		return unlink
	}
	_, err = f.Write((*s.buf)[:s.n])
	s.memory.give(int64(len(*s.buf)))
	freeBuffer(s.buf)
	s.buf = nil
	return errors.Join(err, unlink)
}

// readFrom appends what src has, up to limit bytes in all; errTooLarge if there is more.
func (s *spool) readFrom(src io.Reader, limit int64, progress func()) error {
	var chunk *[]byte
	defer func() {
		if chunk != nil {
			freeBuffer(chunk)
		}
	}()
	for {
		if err := s.room(1); err != nil {
			return err
		}
		var p []byte
		if s.file == nil {
			p = (*s.buf)[s.n:]
		} else {
			if chunk == nil {
				chunk = newBuffer(64 << 10)
			}
			p = *chunk
		}
		n, err := src.Read(p)
		if s.n+int64(n) > limit {
			return errTooLarge
		}
		if s.file == nil {
			s.n += int64(n)
		} else if _, werr := s.Write(p[:n]); werr != nil {
			return fmt.Errorf("keeping a body in a file: %w", werr)
		}
		if err == io.EOF { // a wrapped one is a broken connection
			return nil
		}
		if err != nil {
			return err
		}
		if progress != nil {
			progress()
		}
	}
}

var errTooLarge = errors.New("the body is larger than its limit")

func (s *spool) retain() { s.refs.Add(1) }

func (s *spool) release() {
	if s.refs.Add(-1) != 0 {
		return
	}
	if s.buf != nil {
		s.memory.give(int64(len(*s.buf)))
		freeBuffer(s.buf)
		s.buf = nil
	}
	if s.file != nil {
		_ = s.file.Close()
	}
}

// WriteTo writes all of it.
func (s *spool) WriteTo(w io.Writer) (int64, error) {
	if s.file == nil {
		n, err := w.Write(s.bytes())
		return int64(n), err
	}
	return io.Copy(w, io.NewSectionReader(s.file, 0, s.n))
}

// readAt copies the bytes from offset at into p.
func (s *spool) readAt(p []byte, at int64) (int, error) {
	if s.file == nil {
		return copy(p, (*s.buf)[at:s.n]), nil
	}
	return s.file.ReadAt(p, at)
}

// scanning lets one body at a time come back from its file to be looked at, so
// that looking takes the memory of one.
var scanning sync.Mutex

// look calls f with all the bytes. f must not keep them.
func (s *spool) look(f func([]byte)) error {
	if s.file == nil {
		f(s.bytes())
		return nil
	}
	scanning.Lock()
	defer scanning.Unlock()
	b := newBuffer(int(s.n))
	defer freeBuffer(b)
	if _, err := io.ReadFull(io.NewSectionReader(s.file, 0, s.n), (*b)[:s.n]); err != nil {
		return fmt.Errorf("reading a body from its file: %w", err)
	}
	f((*b)[:s.n])
	return nil
}
