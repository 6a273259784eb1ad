package recent

import (
	"slices"
	"sync"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// Sources is an event.Sink that tracks the state of each source and its last parse errors.
type Sources struct {
	now func() time.Time

	mu      sync.Mutex
	sources []*Source // as configured
	byName  map[string]*Source
	streams map[*event.Stream]*openStream
}

// openStream is an open stream of a source, which may no longer be configured.
type openStream struct {
	of     *Source
	frames int // so far
}

// Source is the state of one source.
type Source struct {
	Name        string
	Kind        string // "proxy" or "tail"
	Address     string // URL that clients use instead of the agent's; "" for a tail, which reads the agent itself
	Agent       string // URL of the agent, without path and secrets
	Example     string // shell command that sends the agent a request through Address, or "" if none is known
	Known, Up   bool   // Up: the last request or connection attempt reached the agent; Known: there was one
	Streams     int    // open streams
	Frames      uint64
	ParseErrors uint64
	Last        time.Time    // receipt of the last frame; zero before the first
	Errors      []ParseError // the last parse errors, newest first
}

// ParseError describes a frame that could not be decoded, without its content.
type ParseError struct {
	At      time.Time // receipt
	Dialect string    // "" if it was not known yet
	Opened  time.Time // when the stream was opened
	Frame   int       // number in the stream, from 1
	Bytes   int
	Reason  event.Reason
}

// maxErrors is the number of parse errors kept for a source.
const maxErrors = 20

// NewSources returns a sink that ignores the streams of sources that are not configured.
func NewSources(now func() time.Time, configured ...Source) *Sources {
	s := &Sources{now: now, streams: map[*event.Stream]*openStream{}}
	s.Configure(configured...)
	return s
}

// Configure replaces the sources. A source with the same name and kind as before keeps its counts. It keeps Known and Up
// unless the agent's URL has changed. Its example is replaced only if one of its URLs has changed.
func (s *Sources) Configure(configured ...Source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.byName
	s.sources, s.byName = nil, map[string]*Source{}
	for _, c := range configured {
		of := &c
		if known := before[c.Name]; known != nil && known.Kind == c.Kind {
			of = known
			if c.Agent != of.Agent {
				of.Known, of.Up = false, false
			}
			if c.Address != of.Address || c.Agent != of.Agent {
				of.Address, of.Agent, of.Example = c.Address, c.Agent, c.Example
			}
		}
		s.sources = append(s.sources, of)
		s.byName[c.Name] = of
	}
}

// Open begins a stream.
func (s *Sources) Open(stream *event.Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of := s.byName[stream.Source]; of != nil {
		of.Streams++
		s.streams[stream] = &openStream{of: of}
	}
}

// Consume counts a frame and keeps its parse error, if any.
func (s *Sources) Consume(b *event.Batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	open := s.streams[b.Stream]
	if open == nil {
		return
	}
	of := open.of
	open.frames++
	of.Frames++
	if of.Last = b.Received; b.Received.IsZero() {
		of.Last = s.now()
	}
	if b.Rejected != "" {
		of.ParseErrors++
		if len(of.Errors) >= maxErrors {
			of.Errors = slices.Delete(of.Errors, 0, 1)
		}
		of.Errors = append(of.Errors, ParseError{
			At: of.Last, Dialect: b.Stream.Dialect, Opened: b.Stream.OpenedAt, Frame: open.frames, Bytes: b.Frame.Size, Reason: b.Rejected,
		})
	}
}

// Close ends a stream.
func (s *Sources) Close(stream *event.Stream, _ event.End, _ time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if open := s.streams[stream]; open != nil {
		delete(s.streams, stream)
		open.of.Streams--
	}
}

// Up records whether the source's agent was reached. It reports whether the source is configured.
func (s *Sources) Up(source string, up bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.byName[source]
	if of != nil {
		of.Known, of.Up = true, up
	}
	return of != nil
}

// SetExample sets a source's example of a request.
func (s *Sources) SetExample(source, command string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of := s.byName[source]; of != nil {
		of.Example = command
	}
}

// All returns the sources in the configured order.
func (s *Sources) All() []Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Source, 0, len(s.sources))
	for _, of := range s.sources {
		c := *of
		c.Errors = slices.Clone(of.Errors)
		slices.Reverse(c.Errors)
		out = append(out, c)
	}
	return out
}
