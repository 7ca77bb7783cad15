package retrytest

import (
	"context"
	"sync"
	"time"

	"github.com/seed-89b3229b/retry"
)

var _ retry.Observer = (*Recorder)(nil)

// Recorder is a retry.Observer that keeps everything it is told, for retry.WithObserver. It changes nothing in the calls it
// watches. The zero Recorder is ready for use. Safe for concurrent use; do not copy.
//
// Where it returns one list for all calls, the calls follow each other in the order in which they began, each in full, so
// that the list does not depend on how goroutines were scheduled.
type Recorder struct {
	mu    sync.Mutex
	calls []*observation
}

// Start implements retry.Observer.
func (r *Recorder) Start(_ context.Context, c retry.Call) (context.Context, retry.Observation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	o := &observation{recorder: r, record: Record{Call: c}}
	r.calls = append(r.calls, o)
	return nil, o
}

// observation fills in the record of one call.
type observation struct {
	recorder *Recorder
	record   Record
}

func (o *observation) update(f func(r *Record)) {
	o.recorder.mu.Lock()
	defer o.recorder.mu.Unlock()
	f(&o.record)
}

func (o *observation) Attempt(_ context.Context, s retry.AttemptStart) context.Context {
	o.update(func(r *Record) { r.Starts = append(r.Starts, s) })
	return nil
}

func (o *observation) AttemptDone(_ context.Context, e retry.Event) {
	o.update(func(r *Record) { r.Events = append(r.Events, e) })
}

func (o *observation) Pause(_ context.Context, p retry.Pause) {
	o.update(func(r *Record) { r.Pauses = append(r.Pauses, p) })
}

func (o *observation) Done(_ context.Context, s retry.Summary) {
	o.update(func(r *Record) { r.Summary, r.Ended = s, true })
}

// Records returns what is known of every call, in the order in which they began. It is a copy.
func (r *Recorder) Records() []Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	records := make([]Record, 0, len(r.calls))
	for _, o := range r.calls {
		records = append(records, o.record.clone())
	}
	return records
}

// Attempts returns how many attempts all calls have started.
func (r *Recorder) Attempts() (n int) {
	for _, record := range r.Records() {
		n += len(record.Starts)
	}
	return n
}

// Errors returns how each attempt that returned came out, over all calls: its error as classified, nil for a success.
func (r *Recorder) Errors() []error { return collect(r, Record.Errors) }

// Delays returns the waits before attempts over all calls, at the length that they had when they began.
func (r *Recorder) Delays() []time.Duration { return collect(r, Record.Delays) }

// Endings returns why the calls ended, those that have.
func (r *Recorder) Endings() []retry.Ending {
	return collect(r, func(record Record) []retry.Ending {
		if !record.Ended {
			return nil
		}
		return []retry.Ending{record.Summary.Ending}
	})
}

// String returns the text of all records.
func (r *Recorder) String() (text string) {
	for _, record := range r.Records() {
		text += record.String()
	}
	return text
}

// collect returns one list for all calls, not nil.
func collect[E any](r *Recorder, of func(Record) []E) []E {
	all := []E{}
	for _, record := range r.Records() {
		all = append(all, of(record)...)
	}
	return all
}
