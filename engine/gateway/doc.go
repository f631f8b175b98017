// Package gateway is the data plane: the OpenAI-compatible API that clients
// talk to, and the attempts at vendors behind it.
//
// Use: [New], serve [Gateway.Server] (or mount the Gateway itself, an
// [http.Handler]), start [Gateway.Run] for the probes, and [Gateway.Drain]
// before the end.
//
// One request: its body is read once (bounded, pooled, in an unlinked file when
// memory is short) → its top-level members are scanned, not parsed → attempts
// until one answers: [engine.Engine.Acquire] names a vendor, the request goes
// there with the model's name spliced in, the answer is held until the commit
// point and then relayed event by event → the lease's Done, and at the end
// [engine.Engine.Finish].
//
// Who owns what:
//  1. A request runs in the goroutine that net/http gave it; there is no other
//     and no channel. Clocks are timers that cancel an attempt's context with a cause.
//  2. An attempt is one try at one vendor: context, lease, answer, usage. Nothing
//     is shared between the attempts of a request but the request's own body.
//  3. The configuration and the vendors in force are one pointer, swapped by
//     [Gateway.Reload]; a request ends with what it began with, and the vendors
//     of an older configuration are closed after their last request.
//  4. Nothing of a request's contents is kept: failures hold ids, codes and scrubbed messages.
//
// It is not a router: which vendor is asked is the engine's decision, what an
// answer means is outcome's, how a vendor is spelled to is the vendors'.
package gateway
