package story

import "baton/engine/control"

// Simulated is a vendor that a Stage starts.
type Simulated struct {
	Name      string
	Label     string
	Profile   string  // elastic, limited, naive-gpu or vllm-pool
	LimitMode string  // of limited: queue or reject
	Limit     float64 // requests per second; 0: the profile's
	Quantized bool
	Tokens    int  // median length of an answer; 0: the profile's
	Steady    bool // of naive-gpu: it never dies of a failure for memory
	Seed      uint64
}

// Engine is a running baton over two vendors.
type Engine struct {
	URL     string // base URL of its gateway, http://127.0.0.1:8080/v1
	Control control.Control
	Stop    func() // ends it, and its vendors
}

// Stage starts what an act needs, all of it on loopback.
type Stage interface {
	// Vendor starts a simulated vendor by itself and returns its base URL; stop ends it.
	Vendor(v Simulated) (url string, stop func(), err error)
	// Engine starts baton over a primary and a secondary.
	Engine(primary, secondary Simulated) (Engine, error)
}

// model is what every request asks for.
const model = "qwen-7b"
