// Package dialect is the contract between the pipeline and the agent protocols that it understands.
package dialect

import (
	"net/http"
	"net/url"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Match is a dialect's answer to "is this frame yours?".
type Match uint8

// The answers. Yes is final for a stream on an agent's path; on any other path only Sure is: the frame has members that streams of
// other programs do not have by chance. Maybe waits for a better frame.
const (
	No Match = iota
	Maybe
	Yes
	Sure
)

// Frame is one SSE frame whose data was read strictly, once for all who look at it.
type Frame struct {
	sse.Frame
	JSON      strictjson.Value // does not exist where the data is not strict JSON
	Malformed event.Reason     // then why not
}

// Dialect is one agent protocol's way of using SSE. A dialect is a value without state; Name is also its folder.
type Dialect interface {
	Name() string

	// Paths are the request paths whose answers are this dialect's streams.
	Paths() []Path

	// Identify reads what a request says of the run; absent fields stay empty. It keeps nothing of the request.
	Identify(Request) event.Identity

	// Detect judges a frame by itself; it keeps nothing of it.
	Detect(Frame) Match

	// Table says what of the dialect's streams may leave, as data that nobody changes.
	Table() *event.Table

	// New starts the decoding of one stream.
	New(*event.Stream) Decoder
}

// Carder is a Dialect whose agents tell clients their URLs in a document, the agent card.
type Carder interface {
	// IsCard reports whether the answer to a request may be such a document.
	IsCard(Request) bool

	// ReplaceURLs returns the document with the URLs replaced at which the agent is reached, or nil if none is. Signed says that some
	// would be, and that the document may not be changed.
	ReplaceURLs(card strictjson.Value, replace func(string) string) (changed []byte, signed bool)
}

// Decoder turns the frames of one stream, in order, into events. It is used by one goroutine.
type Decoder interface {
	// Decode adds the frame's facts and its type to the batch, or says in Batch.Rejected why it cannot. It keeps nothing of the frame
	// and of the batch: both are used again, though perhaps not before many more frames are decoded.
	Decode(Frame, *event.Batch)
}

// Path is where a dialect's streams are served.
type Path struct {
	Method    string // the only one by which streams are asked for there, "" for any
	Glob      string // path.Match
	Shared    bool   // others serve their streams there too: one that is no dialect's passes
	Continues bool   // the stream goes on from run to run; else it answers one run request, and its end is the run's end
}

// Request asks an agent for a stream. Its URL and its headers may hold secrets: nothing of them is kept but ids.
type Request struct {
	Method string
	Path   string
	Query  url.Values
	Header http.Header
	Body   strictjson.Value // does not exist where the body is not strict JSON
}

// Detector finds out, frame by frame, whose stream it is.
type Detector struct {
	dialects []Dialect
	enough   Match // the answer that decides
	maybe    Dialect
	unsure   []Dialect // that may have sent the last frame
}

// NewDetector asks the dialects in their order. Enough is the answer that decides: Yes on an agent's path, Sure on any other.
func NewDetector(dialects []Dialect, enough Match) *Detector {
	return &Detector{dialects: dialects, enough: enough}
}

// Ask returns the first dialect whose answer to the frame decides, or nil.
func (d *Detector) Ask(f Frame) Dialect {
	d.unsure = d.unsure[:0]
	for _, candidate := range d.dialects {
		switch answer := candidate.Detect(f); {
		case answer >= d.enough:
			return candidate
		case answer >= Maybe:
			d.unsure = append(d.unsure, candidate)
		}
	}
	if d.maybe == nil && len(d.unsure) > 0 {
		d.maybe = d.unsure[0]
	}
	return nil
}

// Unsure returns the dialects that may have sent the last frame, though their answer did not decide. It is valid until the next Ask.
func (d *Detector) Unsure() []Dialect { return d.unsure }

// Likely returns the first dialect that said Maybe to the first frame that any said it to, or nil: the answer when no frame decided.
func (d *Detector) Likely() Dialect { return d.maybe }
