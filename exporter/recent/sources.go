package recent

import (
	"slices"
	"sync"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// Sources knows how each source fares, and the last of its frames that could not be read. It is an event.Sink before another.
type Sources struct {
	next event.Sink
	now  func() time.Time

	mu      sync.Mutex
	sources []*Source // as configured
	byName  map[string]*Source
	streams map[*event.Stream]*openStream
}

// openStream is a stream of a source, which may be configured no longer.
type openStream struct {
	of     *Source
	frames int // so far
}

// Source is how one source fares.
type Source struct {
	Name        string
	Kind        string // "proxy" or "tail"
	Known, Up   bool   // whether the last request, or attempt, reached the agent; not Known before the first
	Streams     int    // open
	Frames      uint64
	ParseErrors uint64
	Last        time.Time    // receipt of its last frame; zero before the first
	Errors      []ParseError // the last of them, the newest first
}

// ParseError is a frame that could not be read: where it stood and why, and nothing of it.
type ParseError struct {
	At      time.Time
	Dialect string // "" where it was not known yet
	Opened  time.Time
	Frame   int // its number in the stream, from 1
	Bytes   int
	Reason  event.Reason
}

// maxErrors is how many parse errors of a source are kept.
const maxErrors = 20

// NewSources passes everything on to the next sink. A stream of a source that is not configured is passed on, and no more.
func NewSources(next event.Sink, now func() time.Time, configured ...Source) *Sources {
	s := &Sources{next: next, now: now, streams: map[*event.Stream]*openStream{}}
	s.Configure(configured...)
	return s
}

// Configure replaces the sources. One that stays what it was is known as before.
func (s *Sources) Configure(configured ...Source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.byName
	s.sources, s.byName = nil, map[string]*Source{}
	for _, c := range configured {
		of := &c
		if known := before[c.Name]; known != nil && known.Kind == c.Kind {
			of = known
		}
		s.sources = append(s.sources, of)
		s.byName[c.Name] = of
	}
}

// Open begins a stream.
func (s *Sources) Open(stream *event.Stream) {
	s.mu.Lock()
	if of := s.byName[stream.Source]; of != nil {
		of.Streams++
		s.streams[stream] = &openStream{of: of}
	}
	s.mu.Unlock()
	s.next.Open(stream)
}

// Consume counts a frame.
func (s *Sources) Consume(b *event.Batch) {
	s.mu.Lock()
	if open := s.streams[b.Stream]; open != nil {
		open.count(b, s.now)
	}
	s.mu.Unlock()
	s.next.Consume(b)
}

func (s *openStream) count(b *event.Batch, now func() time.Time) {
	of := s.of
	s.frames++
	of.Frames++
	if of.Last = b.Received; b.Received.IsZero() {
		of.Last = now()
	}
	if b.Rejected != "" {
		of.ParseErrors++
		if len(of.Errors) >= maxErrors {
			of.Errors = slices.Delete(of.Errors, 0, 1)
		}
		of.Errors = append(of.Errors, ParseError{
			At: of.Last, Dialect: b.Stream.Dialect, Opened: b.Stream.Opened, Frame: s.frames, Bytes: b.Frame.Size, Reason: b.Rejected,
		})
	}
}

// Close ends a stream.
func (s *Sources) Close(stream *event.Stream, end event.End, at time.Time) {
	s.mu.Lock()
	if open := s.streams[stream]; open != nil {
		delete(s.streams, stream)
		open.of.Streams--
	}
	s.mu.Unlock()
	s.next.Close(stream, end, at)
}

// Up notes whether the source's agent was reached, and says whether the source is configured.
func (s *Sources) Up(source string, up bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.byName[source]
	if of != nil {
		of.Known, of.Up = true, up
	}
	return of != nil
}

// All lists the sources as configured.
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
