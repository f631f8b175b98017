package control

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
	"time"
)

// NewDrillID makes an id that sorts by time: 20261201-100000-4f2a.
func NewDrillID(now time.Time) string {
	var b [2]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	return now.UTC().Format("20060102-150405") + "-" + hex.EncodeToString(b[:])
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
