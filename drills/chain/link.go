package chain

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// File is the chain's name in the directory of the records.
const File = "chain.jsonl"

// Link is one record's line. All digests are SHA-256 in hexadecimal.
type Link struct {
	N        int               `json:"n"` // from 1
	ID       string            `json:"id"`
	Time     time.Time         `json:"time"`     // when it was entered
	Record   string            `json:"record"`   // the record's own, see Digest
	Files    map[string]string `json:"files"`    // of the files' bytes, by name
	Previous string            `json:"previous"` // the Link of the line before, "" for the first
	Link     string            `json:"link"`     // of this line, with this field empty
}

// digest is the Link that the line should have.
func (l Link) digest() string {
	l.Link = ""
	b, err := json.Marshal(l)
	if err != nil {
		return "" // never: texts, numbers and a time read from JSON
	}
	return sum(b)
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// Digest is a record's own digest: of its JSON document with chain.sha256 empty,
// written without white space and with sorted keys, so that it can be computed
// from the file with any JSON tool that keeps numbers as they are written.
func Digest(doc []byte) (string, error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var fields map[string]any
	if err := d.Decode(&fields); err != nil {
		return "", fmt.Errorf("read the record: %w", err)
	}
	c, ok := fields["chain"].(map[string]any)
	if !ok {
		return "", errors.New("read the record: it has no chain")
	}
	c["sha256"] = ""
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(fields); err != nil {
		return "", fmt.Errorf("write the record anew: %w", err)
	}
	return sum(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// line is a line of the file, and what is wrong with it.
type line struct {
	Link
	problem string
}

// read reads the chain. whole is the length up to the end of the last line: a
// crash may have left a part of one behind it.
func read(dir string) (lines []line, whole int64, err error) {
	b, err := os.ReadFile(filepath.Join(dir, File))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the chain of records: %w", err)
	}
	end := bytes.LastIndexByte(b, '\n') + 1
	for text := range bytes.Lines(b[:end]) {
		var l line
		if err := json.Unmarshal(text, &l.Link); err != nil {
			l.problem = "it cannot be read: " + err.Error()
		} else if l.Link.Link != l.digest() {
			l.problem = "it was changed: its digest is another one"
		}
		lines = append(lines, l)
	}
	return lines, int64(end), nil
}
