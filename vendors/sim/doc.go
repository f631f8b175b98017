// Package sim is a simulated model vendor: an http.Handler that speaks the OpenAI protocol over real sockets.
//
// Use:
//
//  1. v, err := sim.New(sim.Options{Name: "lanyun", Seed: 1})
//  2. serve v with any http.Server on a loopback port; both /v1/chat/completions and /chat/completions work;
//  3. steer it with v.Set while it runs, and hold what a client measured against v.Stats and v.Log, the ground truth.
//
// A profile decides how the vendor behaves. "elastic" is a hosted service with spare room: a lognormal first token
// with a tail, a jittered pace of tokens, latency that grows with load and capacity that follows it late. "limited" is the
// same behind a limit that it does not tell. "naive-gpu" is one GPU behind FastAPI that runs out of memory, "vllm-pool"
// servers with continuous batching, fixed in number or elastic. "faults" is a vendor that misbehaves on purpose: the
// model's name picks the fault (see Faults), and any other name is well. Every profile takes every knob of latency,
// errors, capacity and limits; limit.go, gpu.go and pool.go say how each is calibrated.
//
// A chat whose last message is the assistant's goes on from that message's text: of the counted words exactly those come
// that are missing.
//
// Every answer carries X-Baton-Simulated: 1. No model runs: answers are canned sentences, or sixty numbered words in
// the profile "faults", so that a client can count what arrived.
//
// The attempt log is also served: GET /sim/log reads it, DELETE /sim/log clears it and the state of stateful faults,
// GET /sim/stats reads the totals, GET /sim/faults lists the faults, GET /sim/options shows the knobs and PUT
// turns them (see ParseKnobs). These paths ask for no key and are meant for loopback.
//
// Ownership: a Vendor owns no socket; whoever serves it closes it. It starts no goroutine, but has a timer while requests
// wait in a line, on a GPU or in a pool, and none when it is idle. All methods may be called concurrently. A request's
// randomness comes from Options.Seed and its number in order of arrival alone.
//
// It is not a model of any vendor's quality or prices, and it deliberately shares no code with the gateway that is
// tested against it.
package sim
