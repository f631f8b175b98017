package cli

import (
	"bytes"
	"encoding/csv"
	"testing"

	"baton/engine/control"
)

func TestFailuresCSV_NoCellIsAFormula(t *testing.T) {
	var out bytes.Buffer
	a := &app{out: &out}
	texts := []string{`=HYPERLINK("http://x","y")`, "+1", "-1", "@SUM(A1)", "\t=1", "a = b", ""}
	var all []control.Failure
	for _, text := range texts {
		all = append(all, control.Failure{Message: text, RequestID: text, VendorRequestID: text, Reason: text})
	}
	if err := a.failuresCSV(all); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) != len(texts)+1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, text := range texts {
		want := "'" + text
		if text == "a = b" || text == "" {
			want = text
		}
		for _, column := range []int{2, 3, 8, 13} {
			if got := rows[i+1][column]; got != want {
				t.Errorf("%s: %q, want %q", rows[0][column], got, want)
			}
		}
	}
}
