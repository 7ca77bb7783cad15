// Package benchmarks compares this library with its peers: what the same work costs (speed), what each does in cases that
// retry libraries have got wrong (correct), and both for those that retry HTTP requests (roundtrip). It is a module of its
// own, so that nobody who uses the library downloads the peers.
//
//	make compare                                          all comparisons, as tables
//	go -C benchmarks test -bench=. -run='^$'              the same work as ordinary benchmarks
//	go -C benchmarks test                                 holds every verdict on every library, with its version
package benchmarks
