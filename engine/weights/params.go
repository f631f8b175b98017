package weights

import "time"

// Params are the constants of the law. Steps and gains are per second; Tick scales them to the time that
// really passed. The defaults were chosen in the simulation of this package's tests.
type Params struct {
	NMin  int     // fewest samples from which a percentile or an error rate is believed
	Gamma float64 // how strongly relative latency weighs: r^-Gamma
	Kappa float64 // how strongly relative errors weigh: s^Kappa
	Near  float64 // latency within this factor of the best is as good as the best
	RMax  float64 // latency counts as at most this many times the best

	Alpha, Step         float64 // gain and largest move per second, normally
	AlphaFast, StepFast float64 // while a vendor sheds traffic for errors or for a cap
	AlphaLate           float64 // while a vendor sinks for being beyond the SLO
	AlphaRamp, StepRamp float64 // while a vendor is recovering

	Enter, Exit float64 // deadband: start to move at Enter, stop under Exit
	Floor       float64 // what a vendor that is not down keeps, unless its band begins lower
	RampMin     float64 // where a ramp begins

	RevHold, RevHoldMax, RevMemory time.Duration // hold before turning round; doubles per turn inside RevMemory

	Keep      time.Duration // how long a figure that lost its samples is kept
	PanicHold time.Duration // shortest time at configured weights once every vendor is down

	ErrorSick float64 // above the best by this much a vendor sheds fast
	ErrorWell float64 // at this rate a vendor is no longer well
	WellAfter time.Duration

	SLOP90  time.Duration // first token; 0: no absolute target
	SLOHold time.Duration // beyond SLOP90 for this long: to the floor, if another vendor is within it
	SLORoom float64       // others count as within SLOP90 when their shortest window is under this part of it
	SLORise float64       // how fast a vendor that is within it again may rise, per second
	SLOLead float64       // how far a sinking ceiling may be under the weight

	Strain                float64       // this many times its own baseline, and behind the best: perhaps overloaded
	Eased                 float64       // an overload is proved when latency falls to this part of its height as the weight falls
	RoomKeep              float64       // of what a vendor completed while overloaded, what it is trusted with afterwards
	EdgeNear              float64       // and what at most while the edge is remembered
	EdgeHold, EdgeHoldMax time.Duration // how long that is; doubles when the edge is met again
	CutShows              time.Duration // within which a cut of the weight shows in latency, or has done nothing
	Patience              time.Duration // how long relief may take to show
	RoomRise              float64       // relative growth per second of that trust, at first
	Relief                time.Duration // a vendor whose r is at least ReliefAt may turn down this soon
	ReliefAt              float64

	BaselineDrift float64 // upward drift per second of a kind's running minimum
	CapSlack      float64 // weight over cap by this part of the cap is left to admission
}

// Default returns the law as it is meant to run.
func Default() Params {
	return Params{
		NMin: 50, Gamma: 1.5, Kappa: 32, Near: 1.15, RMax: 6,
		Alpha: 0.05, Step: 0.02,
		AlphaFast: 0.25, StepFast: 0.10,
		AlphaLate: 0.25,
		AlphaRamp: 0.5, StepRamp: 0.05,
		Enter: 0.05, Exit: 0.01,
		Floor: 0.05, RampMin: 0.05,
		RevHold: 30 * time.Second, RevHoldMax: 240 * time.Second, RevMemory: 300 * time.Second,
		Keep: 300 * time.Second, PanicHold: 10 * time.Second,
		ErrorSick: 0.05, ErrorWell: 0.02, WellAfter: 5 * time.Second,
		SLOP90: time.Second, SLOHold: 60 * time.Second, SLORoom: 0.9, SLORise: 0.005, SLOLead: 0.1,
		Strain: 1.5, Eased: 0.7, RoomKeep: 0.92, EdgeNear: 0.93, CutShows: 30 * time.Second, EdgeHold: 600 * time.Second, EdgeHoldMax: 1800 * time.Second, Patience: 14 * time.Second, RoomRise: 0.0005, Relief: 10 * time.Second, ReliefAt: 1.5,
		BaselineDrift: 0.0005, CapSlack: 0.05,
	}
}
