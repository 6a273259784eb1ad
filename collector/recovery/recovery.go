// Package recovery recovers from panics in Delegraph's own code, so that they cost telemetry and never
// the process. It logs each place once and counts every panic.
package recovery

import (
	"cmp"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"sync"
)

// Component names the code that panicked. Its values are those of the metric label `component`.
type Component string

// The closed set of components.
const (
	Proxy       Component = "proxy"       // handling a request and its response
	Request     Component = "request"     // reading a run request
	Detector    Component = "detector"    // detecting the dialect
	Decoder     Component = "decoder"     // decoding a frame
	Relay       Component = "relay"       // writing a filtered stream
	Observation Component = "observation" // any other code that reads a stream of a proxy
	Tail        Component = "tail"        // any other code that reads a stream of a tail
	Filter      Component = "filter"      // deciding what may leave
	Metrics     Component = "metrics"
	Tracker     Component = "tracker"
	Spans       Component = "spans"
	Stream      Component = "stream" // the external stream, its formats and its store
	Admin       Component = "admin"  // the page, the API and their list of runs
)

// Components returns all components.
func Components() []Component {
	return []Component{Proxy, Request, Detector, Decoder, Relay, Observation, Tail, Filter, Metrics, Tracker, Spans, Stream, Admin}
}

// Recorder counts panics and logs the first one of each place. Its methods may be called concurrently.
// A nil Recorder recovers and records nothing.
type Recorder struct {
	logger *slog.Logger
	count  func(Component)

	mu     sync.Mutex
	logged map[string]bool // by place
}

// New returns a Recorder that calls count for each panic.
func New(logger *slog.Logger, count func(Component)) *Recorder {
	return &Recorder{logger: logger, count: count, logged: map[string]bool{}}
}

// Recover recovers from a panic, records it and then calls then, which may be nil. It must be deferred
// directly.
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

// Do calls f and recovers from a panic in it.
func (r *Recorder) Do(c Component, f func()) {
	defer r.Recover(c, nil)
	f()
}

// Handler returns a handler that calls next, records a panic in it and aborts the response. It does
// not record http.ErrAbortHandler.
func (r *Recorder) Handler(c Component, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		defer func() {
			value := recover()
			if value == nil {
				return
			}
			if value != http.ErrAbortHandler { //nolint:errorlint // the value of a panic is not wrapped
				r.record(c, value)
			}
			panic(http.ErrAbortHandler) // the server does not log this value
		}()
		next.ServeHTTP(w, q)
	})
}

// record counts a panic and logs the first one of each place. It logs neither the panic's value, which may
// contain data from the wire, nor the arguments of the calls on the stack.
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
		r.logger.Error("recovered from an internal error; please report this line",
			"component", string(c), "place", place, "type", fmt.Sprintf("%T", value), "stack", stack)
	}
}

const module = "github.com/delegraph/delegraph/"

// trace returns the stack of a panic, and its innermost call in this module. If the stack has no such call,
// place is the innermost call of any module.
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
	return cmp.Or(place, first), strings.TrimSuffix(lines.String(), "\n")
}
