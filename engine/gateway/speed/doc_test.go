// Package speed measures what baton costs beside a plain proxy.
//
// Use:
//
//	go test -run TestSpeed -v -timeout 30m ./engine/gateway/speed -args -seconds 10
//
// It starts a mock vendor, a body-buffering [httputil.ReverseProxy] and baton
// itself (built from this module, with two vendors that are both the mock) as
// processes of their own on loopback, and sends the same load through each in
// turn. What counts is the ratio of baton to the reference, of turns that lie
// side by side: the machine is one and the same, and so is whatever else it does.
// Without -seconds it is a test of a second or two that checks answers and no times.
//
// Who is who: the mock and the reference are this test's own binary, started
// again with a role (see main_test.go); baton is the program that users run; the
// load comes from the test process. All of them end with it.
//
// Every answer of every turn is compared byte for byte with what the mock sent,
// streams to their [DONE]: a proxy that is fast because it cuts some is not.
//
// It is not a stress test of a vendor (see baton's drills), and it proves nothing
// about networks: loopback has no latency and loses nothing.
package speed
