package event

import (
	"time"
	"unsafe"

	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Batch is one frame with its events and the time at which it was received. It owns all bytes and values that it holds: they stay as
// they are until Begin or Reset, whatever later frames bring. The zero value is ready to use. A copy of a Batch shares its memory.
type Batch struct {
	Stream   *Stream
	Dialect  string // the stream's as known when the frame was decoded, or ""
	Frame    sse.Frame
	Received time.Time // zero where the source has no clock of its own (a file)

	Run      string    // the run's id on the wire, or ""
	Orphan   bool      // the run may turn out to be an agent of another (KindAdopted)
	Session  string    // the conversation as the wire names it, or ""
	Agent    string    // who speaks, or ""; never the user
	Branch   string    // the agent's place in a workflow, or which of the agents of that name it is; or ""
	Step     string    // the part of the agent's work that Branch is of, where that is no agent itself; or ""
	Place    *Place    // of the speaker in the run\'s tree; nil where the protocol has no such thing
	Within   string    // the id of the tool call in which the agent works, or ""
	Parent   string    // the branch of the agent for which it works, where that is not the run itself, or ""
	Time     time.Time // as reported on the wire, UTC; zero where it is not
	Partial  bool      // its text stands whole in another frame
	Output   bool      // the frame is the speaker\'s output, for what runs it
	Events   []Event
	Said     uint64 // what the frame says, as a hash that is the same on every stream of its run; 0 where no other stream brings the run
	Recap    bool   // it says how the run stands, to a stream that has heard nothing of it
	Refusal  bool   // it is an error, perhaps of its stream alone
	Rejected Reason // why the frame was not decoded; "" where it was
	Internal bool   // the protocol calls the frame internal
	Withheld []int  // the messages of its list, by place and in order, that stay in for what earlier frames say
	Unknown  string // the name of its kind, or of the first kind in it, that the dialect does not know, by dialect.UnknownKind; "" where it knows all

	Type  string           // what the protocol calls the frame, as its Table has it; "" where it is not known
	Table *Table           // the dialect's; nil while the dialect is not known
	JSON  strictjson.Value // the frame's data; does not exist where that is not strict JSON

	Statements Statements   // what the frame itself states of its answer, beside its events
	Unreadable []Unreadable // members of proof layers that could not be read

	beyond *Event // takes those that are too many; nil while none is
	memory memory
}

// Begin discards what b holds and starts the batch of a frame, of which it keeps a copy.
func (b *Batch) Begin(s *Stream, f sse.Frame, received time.Time) {
	b.empty()
	b.Stream, b.Dialect, b.Received = s, s.Dialect, received
	b.Frame = b.memory.copyFrame(f)
}

// Reset discards what b holds. It keeps some memory for the next frame.
func (b *Batch) Reset() {
	clear(b.Events[:cap(b.Events)])
	b.empty()
}

func (b *Batch) empty() {
	b.memory.reset()
	*b = Batch{Events: emptied(b.Events, keptEvents), memory: b.memory}
}

// Parse reads the frame's data as JSON nested at most depth deep, and sets JSON. It returns the reason if it cannot, else "".
func (b *Batch) Parse(depth int) (refused Reason) {
	b.JSON, refused = b.memory.parse(b.Frame.Data, depth)
	return refused
}

// maxEmbedded is how deep JSON in a string may be nested.
const maxEmbedded = 128

// Embedded returns the value whose JSON is the text of v. It returns v itself if v is no string or its text is no strict JSON.
func (b *Batch) Embedded(v strictjson.Value) strictjson.Value {
	if v.Kind() != strictjson.String {
		return v
	}
	if inner, refused := b.memory.parse(b.memory.text(v), maxEmbedded); refused == "" {
		return inner
	}
	return v
}

// MaxEvents bounds what one frame can state: an event takes many times the bytes that state it.
const MaxEvents = 16 << 10

// keptEvents is the number of events for which memory is kept from one frame to the next.
const keptEvents = 64

// Overfull reports whether the frame states more than MaxEvents events.
func (b *Batch) Overfull() bool { return b.beyond != nil }

// Add appends an event of kind k and returns it for its fields to be set. An event beyond MaxEvents is lost, which Overfull reports.
func (b *Batch) Add(k Kind) *Event {
	n := len(b.Events)
	if n == MaxEvents {
		if b.beyond == nil {
			b.beyond = new(Event)
		}
		*b.beyond = Event{Kind: k, memory: &b.memory}
		return b.beyond
	}
	if n < cap(b.Events) {
		b.Events = b.Events[:n+1] // an event is large: it is cleared where it stands, and not copied there
		b.Events[n] = Event{}
	} else {
		b.Events = append(b.Events, Event{})
	}
	e := &b.Events[n]
	e.Kind, e.memory = k, &b.memory
	return e
}

// AddText appends an event of kind k whose text is that of v. If v is empty or no string, it appends nothing and returns nil.
func (b *Batch) AddText(k Kind, v strictjson.Value) *Event {
	text := b.memory.text(v)
	if len(text) == 0 {
		return nil
	}
	e := b.Add(k)
	e.text = text
	return e
}

// Cost returns the approximate size of the batch in memory, in bytes. An index and events can take many times what the frame does.
func (b *Batch) Cost() int {
	n := int(unsafe.Sizeof(*b)) + 8*cap(b.Withheld) + b.memory.cost() + cap(b.Events)*int(unsafe.Sizeof(Event{}))
	n += len(b.Run) + len(b.Session) + len(b.Agent) + len(b.Branch) + len(b.Step) + len(b.Within) + len(b.Parent) + len(b.Type) + len(b.Unknown)
	for i := range b.Events {
		n += b.Events[i].cost()
	}
	return n
}
