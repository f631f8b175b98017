package control

import (
	"fmt"
	"math"
	"time"
)

// Terms are what the ledger cannot know. Money is in its currency; a nil is not
// known, except where it says otherwise.
type Terms struct {
	Overhead   *float64 `json:"overhead"`    // per day: people, gateway and drills that a second vendor takes
	Discount   *float64 `json:"discount"`    // 0-1: what the primary alone would take off its price; nil: 0
	Won        *float64 `json:"won"`         // 0-1: what competing has taken off the price so far, already in it; nil: 0
	OutageCost *float64 `json:"outage_cost"` // lost per minute without service; nil: 0
	OutageMins *float64 `json:"outage_mins"` // minutes per month that the second vendor saved; nil: 0
}

// Leverage is what having several vendors costs and is worth. Money is in
// Currency, shares are percents; a figure that is not known is null.
type Leverage struct {
	Since     time.Time `json:"since"`
	Until     time.Time `json:"until"`
	Days      float64   `json:"days"` // recorded
	Currency  string    `json:"currency"`
	Internal  bool      `json:"internal"` // not for a vendor's eyes
	For       string    `json:"for"`      // the vendor it is for, "" if it is internal
	Simulated bool      `json:"simulated"`

	Headline  string     `json:"headline"`
	Now       NowCost    `json:"now"`
	Volume    Volume     `json:"volume"`
	Vendors   []Standing `json:"vendors"`
	WhatIf    []Moved    `json:"what_if"` // the first vendor's share from 0 to 100 by 5, the rest to the others as they stand to each other
	BreakEven BreakEven  `json:"break_even"`
	Limits    []LimitSay `json:"limits"`
	Evidence  []Evidence `json:"evidence"`
	Notes     []string   `json:"notes"` // what has to be known to read the figures
	Terms     Terms      `json:"terms"`
}

// Recorded is of how long a time the figures are, in words: 14 min, 5 h, 12 days.
func (l *Leverage) Recorded() string {
	switch minutes := l.Days * 24 * 60; {
	case minutes < 90:
		return fmt.Sprintf("%.0f min", minutes)
	case l.Days < 2:
		return fmt.Sprintf("%.0f h", l.Days*24)
	}
	return fmt.Sprintf("%.0f days", l.Days)
}

// NowCost is the headline's figures, per day at the present volume.
type NowCost struct {
	PerDay   *float64 `json:"per_day"` // at the present shares
	Overhead *float64 `json:"overhead"`
	Single   []Single `json:"single"`
}

// Single is what all of it would cost at one vendor alone.
type Single struct {
	Vendor     string   `json:"vendor"`
	PerDay     *float64 `json:"per_day"`
	Difference *float64 `json:"difference"` // NowCost.PerDay + Overhead - PerDay: above 0, two cost more
	Percent    *float64 `json:"percent"`    // of PerDay
}

// Volume is what clients ask for.
type Volume struct {
	PerDay   float64  `json:"per_day"` // answered calls
	Input    *float64 `json:"input"`   // tokens per answered call
	Output   *float64 `json:"output"`
	PeakRate *float64 `json:"peak_rate"` // calls per second in the busiest minute
}

// Standing is how one vendor stands.
type Standing struct {
	Vendor   string `json:"vendor"` // masked in another's copy
	Label    string `json:"label"`
	Masked   bool   `json:"masked"`
	Answered int64  `json:"answered"`
	Attempts int64  `json:"attempts"`

	Share            *float64 `json:"share"` // of the answered calls
	Cost             *float64 `json:"cost"`
	PerSuccess       *float64 `json:"per_success"`
	PerMillionInput  *float64 `json:"per_million_input"`
	PerMillionOutput *float64 `json:"per_million_output"`
	PerMillion       *float64 `json:"per_million"`
	Surcharge        *float64 `json:"surcharge"` // all that was spent over what answers cost, 1 or more
	PerCall          *float64 `json:"per_call"`  // an average call of all traffic at its prices

	FirstToken Latency  `json:"first_token"`
	Whole      Latency  `json:"whole"`
	ErrorRate  *float64 `json:"error_rate"`
	Refused    *float64 `json:"refused"` // part of the attempts that it refused for its limits
	BadMinutes int64    `json:"bad_minutes"`

	RoomRate  *float64   `json:"room_rate"`  // further calls per second under its limit; null: not known
	Shiftable *Shiftable `json:"shiftable"`  // away from it; null: nothing is proven
	WalkAway  *WalkAway  `json:"walk_away"`  // null: there is nobody to go to, or no price
	AtShares  []AtShare  `json:"at_shares"`  // what was observed, by its share then
	Drills    []Evidence `json:"drills"`     // those that lost it
	LastDrill *time.Time `json:"last_drill"` // passed
}

// Shiftable is how much of a vendor's share can be moved away credibly.
type Shiftable struct {
	Share    float64  `json:"share"`  // percent points of all traffic
	Proven   float64  `json:"proven"` // by the drill
	Drill    string   `json:"drill"`
	At       string   `json:"at"`        // the drill's day
	AtRate   *float64 `json:"at_rate"`   // calls per second then
	Room     *float64 `json:"room"`      // percent points that the others' limits leave; null: not known
	Value    *float64 `json:"value"`     // per day: Share x calls x (its price - the cheapest other's)
	BoundBy  string   `json:"bound_by"`  // drill, room or share
	LowLoad  bool     `json:"low_load"`  // the drill ran under half of the present busiest minute
	ValidTil string   `json:"valid_til"` // the day on which the drill gets older than 35 days
}

// WalkAway is the price from which a vendor loses its share.
type WalkAway struct {
	To               string   `json:"to"`     // who would take it
	Factor           float64  `json:"factor"` // of its present price: over 1 it may still rise
	PerMillionInput  *float64 `json:"per_million_input"`
	PerMillionOutput *float64 `json:"per_million_output"`
	PerCall          float64  `json:"per_call"`
	ToKeepUp         *float64 `json:"to_keep_up"` // 0-1: what it has to take off to be as cheap as To; null: it is cheaper
}

// AtShare is a vendor's latency while its share was within so many percent.
type AtShare struct {
	From  float64  `json:"from"`
	To    float64  `json:"to"`
	Count int64    `json:"count"`
	P90ms *float64 `json:"p90_ms"` // first token
	P99ms *float64 `json:"p99_ms"`
}

// Moved is what a split of the traffic would cost and give.
type Moved struct {
	Shares       map[string]float64 `json:"shares"` // percent
	PerDay       *float64           `json:"per_day"`
	Difference   *float64           `json:"difference"` // from now
	P90ms        *float64           `json:"p90_ms"`     // first token, of all; null outside of what was observed
	P99ms        *float64           `json:"p99_ms"`
	Extrapolated []string           `json:"extrapolated"` // vendors that never had such a share
	NoRoom       []string           `json:"no_room"`      // vendors over their limit at the present rate
}

// BreakEven is from how many calls a day a second vendor pays.
type BreakEven struct {
	Overhead    *float64    `json:"overhead"` // per day
	Avoided     *float64    `json:"avoided"`  // per day: outages that it saved
	PerCall     *float64    `json:"per_call"` // at the primary alone
	Gain        *float64    `json:"gain"`     // 0-1 of PerCall that a call saves: won + (1 - w) x gap - discount
	CallsPerDay *float64    `json:"calls_per_day"`
	Now         *float64    `json:"now"` // calls per day
	Pays        *bool       `json:"pays"`
	Net         *float64    `json:"net"` // per day, at the present volume
	Why         string      `json:"why"` // there is no break-even; "" there is
	Table       [][]float64 `json:"table"`
	Overheads   []float64   `json:"overheads"` // of the table's rows
	Gains       []float64   `json:"gains"`     // of its columns
}

// LimitSay is one entry of the register of limits.
type LimitSay struct {
	Vendor string `json:"vendor"`
	What   string `json:"what"` // documented, asked, granted or measured
	Limit  string `json:"limit"`
	Day    string `json:"day"`
	Source string `json:"source"`
}

// Evidence is what a figure rests on.
type Evidence struct {
	Ref  string `json:"ref"` // "drill 20261201-…", "ledger"
	Text string `json:"text"`
}

// Split is what a split of the traffic would cost and give, by the figures of l.
// shares are percents by vendor; they are made to sum to 100. The cost is
// computed, the latency is that of the nearest split of l.WhatIf.
func (l *Leverage) Split(shares map[string]float64) Moved {
	m := Moved{Shares: map[string]float64{}}
	sum := 0.0
	for i := range l.Vendors {
		sum += max(0, shares[l.Vendors[i].Vendor])
	}
	if sum <= 0 {
		return m
	}
	cost, known := 0.0, true
	for i := range l.Vendors {
		v := &l.Vendors[i]
		share := 100 * max(0, shares[v.Vendor]) / sum
		m.Shares[v.Vendor] = share
		if share > 0 && v.PerCall == nil {
			known = false
		} else if share > 0 {
			cost += share / 100 * *v.PerCall * l.Volume.PerDay
		}
		if !v.seenAt(share) {
			m.Extrapolated = append(m.Extrapolated, v.Vendor)
		}
		if v.full(share, l) {
			m.NoRoom = append(m.NoRoom, v.Vendor)
		}
	}
	if known {
		m.PerDay = Figure(cost)
		if l.Now.PerDay != nil {
			m.Difference = Figure(cost - *l.Now.PerDay)
		}
	}
	if near := l.nearest(m.Shares); near != nil && len(m.Extrapolated) == 0 {
		m.P90ms, m.P99ms = near.P90ms, near.P99ms
	}
	return m
}

// ObservedWithin is how far from an observed share a latency is believed, in
// percent points.
const ObservedWithin = 10

// Near says whether a share is near the observed ones from from to to.
func Near(share, from, to float64) bool {
	const rounding = 1e-6
	return share >= from-ObservedWithin-rounding && share <= to+ObservedWithin+rounding
}

// seenAt says whether the vendor was observed near a share. At none of the
// traffic there is nothing to observe.
func (v *Standing) seenAt(share float64) bool {
	if share <= 0 {
		return true
	}
	for _, s := range v.AtShares {
		if s.Count > 0 && Near(share, s.From, s.To) {
			return true
		}
	}
	return false
}

// full says whether a share of the busiest minute is over the vendor's room.
func (v *Standing) full(share float64, l *Leverage) bool {
	if v.RoomRate == nil || v.Share == nil || l.Volume.PeakRate == nil {
		return false
	}
	return (share-*v.Share)/100**l.Volume.PeakRate > *v.RoomRate
}

// nearest is the split of l.WhatIf whose shares differ least.
func (l *Leverage) nearest(shares map[string]float64) *Moved {
	var best *Moved
	least := math.Inf(1)
	for i := range l.WhatIf {
		d := 0.0
		for name, s := range shares {
			d += math.Abs(s - l.WhatIf[i].Shares[name])
		}
		if d < least {
			best, least = &l.WhatIf[i], d
		}
	}
	return best
}
