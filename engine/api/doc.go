// Package api is control over HTTP, server and client in one place so that they
// cannot drift apart.
//
// [NewServer] serves a control.Control on a loopback port; [NewClient] is a
// control.Control for an engine elsewhere on this machine. The console, the
// commands and the drills cannot tell the two ends apart.
//
// The server asks a bearer token for everything but /healthz and /metrics and
// refuses requests with an Origin or a foreign Host: a page in a browser must
// not reach it. JSON in, JSON out; errors in the shape of OpenAI's.
package api
