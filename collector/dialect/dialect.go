// Package dialect defines the interface that each supported agent protocol implements, and the Detector
// that finds a stream's dialect.
package dialect

import (
	"bytes"
	"net/http"
	"net/url"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Match is a dialect's answer to the question whether a frame is one of its own.
type Match uint8

// The answers. Yes decides on an agent's path. On any other path only Sure decides: the frame has
// members that streams of other programs do not have by chance. Maybe leaves the decision to later
// frames.
const (
	No Match = iota
	Maybe
	Yes
	Sure
)

// Frame is one SSE frame whose data has been parsed once for all readers.
type Frame struct {
	sse.Frame
	JSON      strictjson.Value // does not exist if the data is not strict JSON
	Malformed event.Reason     // why the data is not strict JSON, or ""
}

// MayContainObject reports whether a lenient reader may find a JSON object in data that is not one. The
// object may follow characters that the reader skips, or it may be encoded in a string. The data of a
// frame over the size limit is unknown, so it may contain one.
func (f Frame) MayContainObject() bool {
	return f.Malformed == event.ReasonTooLarge || bytes.IndexByte(f.Data, '{') >= 0 || bytes.Contains(bytes.ToLower(f.Data), []byte(`\u007b`))
}

// Dialect is one agent protocol's way of using SSE. It has no state.
type Dialect interface {
	// Name returns the dialect's name, which is also that of its folder.
	Name() string

	// Paths returns the request paths whose responses are streams of this dialect.
	Paths() []Path

	// Identify returns what a request says about its run. It keeps no reference to the request.
	Identify(Request) event.Identity

	// Detect judges a frame on its own. It keeps no reference to the frame.
	Detect(Frame) Match

	// Table says which data of the dialect's streams may leave. The caller must not change it.
	Table() *event.Table

	// New returns a decoder for one stream.
	New(*event.Stream) Decoder
}

// CardRewriter is a Dialect whose agents publish their URLs in a document, the agent card.
type CardRewriter interface {
	// IsCard reports whether the response to a request may be an agent card.
	IsCard(Request) bool

	// ReplaceURLs returns the card with the agent's own URLs replaced, or nil if it contains none. A signed
	// card must not be changed; signed reports whether one contains such URLs.
	ReplaceURLs(card strictjson.Value, replace func(string) string) (changed []byte, signed bool)
}

// Namesake is a Dialect with a name that users may confuse with another protocol's. They then configure the wrong one.
type Namesake interface {
	// OtherName returns the name of the other dialect. Streams of that dialect are decoded as such even if the Namesake is
	// configured.
	OtherName() string
}

// Decoder decodes the frames of one stream, in order. It is for one goroutine at a time.
type Decoder interface {
	// Decode adds the frame's facts and its type to the batch. If it cannot, it sets Batch.Rejected to the
	// reason. It keeps no reference to the frame or the batch, because both are reused. The batch has the
	// dialect's Table.
	Decode(Frame, *event.Batch)
}

// Closer is a Decoder that keeps what it knows for later streams.
type Closer interface {
	// Close is called after the last frame.
	Close()
}

// Path is a request path at which a dialect's streams are served.
type Path struct {
	Method       string // of the requests; "" for any
	Glob         string // as for path.Match
	AllowOthers  bool   // other programs serve streams there too, so a stream that no dialect recognizes is passed on
	MultipleRuns bool   // a stream contains several runs; otherwise it answers one request and ends with its run
}

// Request is a request to an agent. Its URL and headers may contain secrets, so dialects keep only ids.
type Request struct {
	Method string
	Path   string
	Query  url.Values
	Header http.Header
	Body   strictjson.Value // does not exist if the body is not strict JSON

	Unambiguous bool // no other dialect may answer the request
}

// Detector determines the dialect of a stream from its frames.
type Detector struct {
	dialects   []Dialect
	threshold  Match // the lowest answer that decides
	likely     Dialect
	candidates []Dialect // for the last frame
}

// NewDetector returns a Detector that tries the dialects in their order. threshold is the lowest answer
// that decides: Yes on an agent's path, Sure on any other.
func NewDetector(dialects []Dialect, threshold Match) *Detector {
	return &Detector{dialects: dialects, threshold: threshold}
}

// Detect returns the first dialect whose answer to the frame decides, or nil.
func (d *Detector) Detect(f Frame) Dialect {
	d.candidates = d.candidates[:0]
	for _, candidate := range d.dialects {
		switch answer := candidate.Detect(f); {
		case answer >= d.threshold:
			return candidate
		case answer >= Maybe:
			d.candidates = append(d.candidates, candidate)
		}
	}
	if d.likely == nil && len(d.candidates) > 0 {
		d.likely = d.candidates[0]
	}
	return nil
}

// Candidates returns the dialects that may have sent the last frame although their answers did not
// decide. The result is valid until the next call of Detect.
func (d *Detector) Candidates() []Dialect { return d.candidates }

// MostLikely returns the dialect to assume if no frame decides, or nil. It is the first in the list that
// answered Maybe or more to the earliest frame with such an answer.
func (d *Detector) MostLikely() Dialect { return d.likely }
