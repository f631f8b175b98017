package story

import "time"

// traffic is who asks in an act.
type traffic struct {
	users int           // closed loop: so many people
	think time.Duration // each of whom thinks for so long between two questions, in the mean
	rps   float64       // open loop: independent arrivals
	said  string
}

var (
	crowd   = traffic{users: 500, think: 30 * time.Second, said: "500 users who think for 30 s between two questions (about 16 requests/s)"}
	arrival = traffic{rps: 26, said: "26 requests/s, independent arrivals (Poisson)"}
)

// act is one step of the ablation.
type act struct {
	name    string
	title   string
	caption string
	load    traffic
	stream  bool
	warm    time.Duration // before the measured time
	length  time.Duration // of it
	vendor  Simulated     // asked directly; unless
	engine  bool          // baton drives two
	want    string        // what the story says of it
	holds   func(f *Figures, before []Act) bool
}

var (
	hidden = Simulated{Name: "bailian", Label: "百炼", Profile: "limited", LimitMode: "queue", Seed: 4}
	spare  = Simulated{Name: "lanyun", Label: "蓝耘", Profile: "elastic", Seed: 5}
)

// acts are the first five; the sixth kills the primary of the fifth.
var acts = []act{
	{
		name: "naive-gpu", title: "One GPU behind a plain server, at ten times its traffic",
		caption: "A 7B model on one 24 GB card behind FastAPI, answers of some 38 tokens. It was fine for 50 users. Now there are 500.",
		load:    crowd, warm: 30 * time.Second, length: 30 * time.Second,
		vendor: Simulated{Name: "self-hosted", Profile: "naive-gpu", Tokens: 38, Steady: true, Seed: 1},
		want:   "P99 above 7 s, and memory runs out",
		holds:  func(f *Figures, _ []Act) bool { return over(f.P99ms, 7000) && f.Failed > 0 },
	},
	{
		name: "quantized", title: "The same GPU, quantized",
		caption: "4-bit weights leave room for every request, and so for the whole queue that the failures had hidden.",
		load:    crowd, warm: 15 * time.Second, length: 25 * time.Second,
		vendor: Simulated{Name: "self-hosted", Profile: "naive-gpu", Tokens: 38, Quantized: true, Steady: true, Seed: 1},
		want:   "memory holds, and P99 is still above 7 s",
		holds:  func(f *Figures, before []Act) bool { return over(f.P99ms, 7000) && f.Errors < before[0].Figures.Errors },
	},
	{
		name: "vllm-pool", title: "One pool with a professional inference engine",
		caption: "Continuous batching, paged memory: the crowd is no trouble any more. But it is one pool, and somebody has to run it.",
		load:    crowd, stream: true, warm: 10 * time.Second, length: 20 * time.Second,
		vendor: Simulated{Name: "pool", Profile: "vllm-pool", Seed: 3},
		want:   "first token P99 under 1 s, nothing fails",
		holds:  func(f *Figures, _ []Act) bool { return under(f.P99ms, 1000) && f.Errors < 0.01 },
	},
	{
		name: "silent-limit", title: "A vendor with spare engines, behind a silent limit",
		caption: "No GPU to run any more. But nobody has told us that this account may have 20 requests/s: the rest wait in line, and some are refused.",
		load:    arrival, stream: true, warm: 20 * time.Second, length: 30 * time.Second,
		vendor: hidden,
		want:   "first token P99 about 4.8 s",
		holds:  func(f *Figures, _ []Act) bool { return over(f.P99ms, 4000) },
	},
	{
		name: "two-vendors", title: "That vendor and an elastic one, driven by baton",
		caption: "The same vendor is still the primary, and the traffic is the same. baton finds the limit by itself, stays just under it, and sends the rest to the other at once.",
		load:    arrival, stream: true, warm: 35 * time.Second, length: 40 * time.Second,
		engine: true,
		want:   "first token P99 under 0.72 s: 85 % less",
		holds: func(f *Figures, before []Act) bool {
			return under(f.P99ms, 720) && f.P99ms != nil && before[3].Figures.P99ms != nil && *f.P99ms <= 0.2**before[3].Figures.P99ms && f.Errors < 0.001
		},
	},
}

func over(v *float64, bound float64) bool  { return v != nil && *v > bound }
func under(v *float64, bound float64) bool { return v != nil && *v < bound }

// Length is about how long the story takes.
func Length() time.Duration {
	d := calibration + killed
	for i := range acts {
		d += acts[i].warm + acts[i].length
	}
	return d
}
