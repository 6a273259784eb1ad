// Package recovery turns panics of Delegraph's own code into one log line a place and a count, so that they cost telemetry and never the process.
package recovery

import (
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"sync"
)

// Component names the code that panicked; the values of the label `component`.
type Component string

// The closed set of components.
const (
	Proxy       Component = "proxy"       // the handling of a request and its answer
	Request     Component = "request"     // the reading of a run request
	Detector    Component = "detector"    // the choice of a dialect
	Decoder     Component = "decoder"     // the decoding of a frame
	Relay       Component = "relay"       // the writing of a filtered stream
	Observation Component = "observation" // what remains of reading a stream of a proxy
	Tail        Component = "tail"        // what remains of reading a stream of a tail
	Filter      Component = "filter"      // the decision what leaves
	Metrics     Component = "metrics"
	Tracker     Component = "tracker"
	Spans       Component = "spans"
	Stream      Component = "stream" // the external stream, its formats and its store
	Admin       Component = "admin"  // the page, the API, and the runs that they show
)

// Components returns all components.
func Components() []Component {
	return []Component{Proxy, Request, Detector, Decoder, Relay, Observation, Tail, Filter, Metrics, Tracker, Spans, Stream, Admin}
}

// Recorder counts panics and logs the first of each place. Its methods may be called by many goroutines at once. A nil Recorder
// recovers and records nothing.
type Recorder struct {
	logger *slog.Logger
	count  func(Component)

	mu     sync.Mutex
	logged map[string]bool // places; as many as the program has
}

// New returns a Recorder that calls count for each panic.
func New(logger *slog.Logger, count func(Component)) *Recorder {
	return &Recorder{logger: logger, count: count, logged: map[string]bool{}}
}

// Recover ends a panic, records it, and then calls then, which may be nil. Defer it directly.
func (r *Recorder) Recover(c Component, then func()) {
	value := recover()
	if value == nil {
		return
	}
	r.record(c, value)
	if then != nil {
		then()
	}
}

// Do calls f and ends a panic in it.
func (r *Recorder) Do(c Component, f func()) {
	defer r.Recover(c, nil)
	f()
}

// Handler returns a handler that records what next panics with, and aborts the answer. http.ErrAbortHandler is no fault.
func (r *Recorder) Handler(c Component, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		defer func() {
			value := recover()
			if value == nil {
				return
			}
			if value != http.ErrAbortHandler {
				r.record(c, value)
			}
			panic(http.ErrAbortHandler) // of which the server logs nothing
		}()
		next.ServeHTTP(w, q)
	})
}

// record never writes the value, which may quote what came over the wire, nor the arguments of the stack's calls.
func (r *Recorder) record(c Component, value any) {
	if r == nil {
		return
	}
	r.count(c)
	place, stack := trace()
	r.mu.Lock()
	again := r.logged[place]
	r.logged[place] = true
	r.mu.Unlock()
	if !again {
		r.logger.Error("a fault of Delegraph's own was caught; please report it with this line",
			"component", string(c), "place", place, "type", fmt.Sprintf("%T", value), "stack", stack)
	}
}

const module = "github.com/delegraph/delegraph/"

// trace returns the innermost place of ours that a panic came through, and the calls that led there.
func trace() (place, stack string) {
	var counters [64]uintptr
	frames := runtime.CallersFrames(counters[:runtime.Callers(3, counters[:])])
	var lines strings.Builder
	first, panicked := "", false
	for {
		f, more := frames.Next()
		if inRuntime := strings.HasPrefix(f.Function, "runtime."); panicked && !inRuntime {
			at := fmt.Sprintf("%s %s:%d", f.Function, f.File, f.Line)
			lines.WriteString(at + "\n")
			if first == "" {
				first = at
			}
			if place == "" && strings.HasPrefix(f.Function, module) {
				place = at
			}
		} else if f.Function == "runtime.gopanic" {
			panicked = true
		}
		if !more {
			break
		}
	}
	if place == "" {
		place = first
	}
	return place, strings.TrimSuffix(lines.String(), "\n")
}
