package event

import (
	"slices"
	"time"
	"unsafe"

	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// StateEnded is the Batch.StateHash of every state that no run leaves.
const StateEnded uint64 = 1

// Batch holds one frame, its events and the time at which it was received. It owns all bytes and
// values that it holds: they stay valid until Begin or Reset. The zero value is ready to use. A copy
// of a Batch shares its memory.
type Batch struct {
	Stream   *Stream
	Dialect  string // of the stream when the frame was decoded; "" if it was not known yet
	Frame    sse.Frame
	Received time.Time // zero if the source has no clock of its own (a file)

	Run           string    // the run's id on the wire, or ""
	Orphan        bool      // the run may turn out to be an agent of another run (KindChildRun)
	Session       string    // the conversation's id on the wire, or ""
	Agent         string    // the speaker, or ""; never the user
	Renames       string    // the configured name that earlier batches gave the run's own agent instead of Agent, or ""
	AgentUnknown  bool      // the speaker is an agent that the stream does not name, or not yet, not the run itself; it works for the agent of ParentBranch
	Sent          *Sent     // what the agent sent before the stream named it; nil if nothing
	Branch        string    // the agent's position in a workflow, or a value that distinguishes agents with the same name; or ""
	Step          string    // the step of the agent that works in Branch, if it is not the agent itself; or ""
	Place         *Place    // of the speaker in the run's tree; nil if the protocol has no places
	EnclosingCall string    // the id of the tool call in which the agent works, or ""
	InUnknownCall bool      // the agent works in another call, within EnclosingCall if it is set, and several may be that call
	ParentBranch  string    // the branch of the agent that this agent works for; "" for the run itself
	Around        *Around   // the agent or step of ParentBranch, if the protocol states it with each frame; else nil
	Response      string    // distinguishes model responses of the speaker that arrive at the same time; "" for the first
	MayBeRoot     bool      // the agent is directly below the run itself, which has not spoken
	IsParallel    bool      // another agent with the same name, directly below the run itself, works at the same time, in the same task or in another node
	Follows       string    // the branch of another invocation that the same piece of code, such as a node, began before; or ""
	IsWritten     bool      // code wrote the text in the name of Agent, which may be none
	MayBeBeside   bool      // the agent may have begun before the last frames of others with the same parent
	OrderUnknown  bool      // agents with the same parent may work one after the other or at the same time, or the frame comes late
	Task          Task      // of the speaker, which the frame shows; the zero value if it shows none
	SameStep      bool      // the run itself begins nothing with the frame: an agent that speaks later may have begun before it
	Time          time.Time // as reported on the wire, in UTC, or zero
	Partial       bool      // another frame repeats the text of this one in full
	Piece         bool      // one of several pieces, such as of arguments: some may be equal, and a stream that replays the run may join them
	ArgumentsOf   string    // the ID of the call to whose arguments the frame adds; its tool has not run before
	Repeats       bool      // an earlier frame has reported the text in full
	Output        bool      // the frame is the speaker's output to its caller
	AgentWaits    bool      // the speaker has stopped until an answer comes from outside the run
	WorkLeft      bool      // the frames so far show that the run still has work to do: if the stream ends now, the run is not complete
	Events        []Event

	// ContentHash is a hash of the frame's content that is equal on every stream of the run. It is 0
	// if the run has only one stream.
	ContentHash uint64

	// StateHash is a hash of the run's state that is equal for every frame that states the same, a snapshot included. It
	// is 0 if the frame states none, and StateEnded if the run has ended for good.
	StateHash uint64

	// AwaitsInput says that the run waits for input in the state of StateHash. The agent ends its streams then. The answer
	// is another request.
	AwaitsInput bool

	Replayed    bool   // the agent may have sent the frame earlier: on the run's streams, it comes before the first pause after a time without any
	NewTask     bool   // the frame is about another task of a remote agent than the last frame from its place
	Snapshot    bool   // the frame repeats the state of the run for a new subscriber
	MissedStart bool   // the frame continues something that began before the stream
	StreamError bool   // the frame is an error that may concern only its stream
	Rejected    Reason // why the frame was not decoded; "" if it was
	Internal    bool   // the protocol calls the frame internal

	// Cuts are parts of the frame, at any depth, that must be withheld.
	Cuts map[strictjson.Value]struct{}

	// Substitutes maps parts of the frame to the JSON that replaces them under the policy public.
	Substitutes map[strictjson.Value]string

	// HasThoughts says that the frame contains a model's thought, even if no event reports it.
	HasThoughts bool

	// TextKinds holds the kinds of text in objects of the frame that do not say so themselves. Such an object
	// does not leave under the policy public.
	TextKinds map[strictjson.Value]Kind

	// Authors maps objects of the frame, or the frame itself, to the agents that wrote their text, as far as other
	// frames say. The name "" stands for an agent that is not known.
	Authors map[strictjson.Value][]string

	// InputAuthors holds the agents that ask the questions in the frame. The name "" stands for an agent that is not known.
	// If it is empty, a setting that excludes authors does not apply to the questions.
	InputAuthors []string

	// UnknownKind names the first kind in the frame that the dialect does not know, as returned by
	// dialect.UnknownKind, or is "".
	UnknownKind string

	Type  string           // the protocol's name for the frame, a key of Table.Types; "" if unknown
	Table *Table           // of the dialect; nil if the dialect is not known
	JSON  strictjson.Value // the frame's data; does not exist if the data is not strict JSON

	// Names is the judgment of lenient.CheckNames, which is NamesUnchecked until its first call.
	Names NameCheck

	Statements Statements   // what the frame states about its answer, in addition to its events
	Unreadable []Unreadable // members of proof layers that could not be read

	named    int    // the number of events that NameTexts need not visit again
	turns    []turn // empty if the frame has one speaker
	overflow *Event // receives the events beyond MaxEvents; nil if there are none
	memory   memory
}

// Sent identifies a response of a model, a call, or both. Earlier batches had them without an agent (AgentUnknown).
type Sent struct {
	Response string // as Batch.Response
	Call     string // the ID of the call, or ""
	OnlyCall bool   // Response is not set
	IsOpen   bool   // the response has not ended before this batch
}

// NameCheck says what the names in a frame allow.
type NameCheck uint8

// The judgments of a frame's names.
const (
	NamesUnchecked NameCheck = iota
	NamesListed
	NamesInternal // one is internal
	NamesUnknown  // the table does not list one
)

// Around is an agent or a step in which a speaker works. It may not have spoken yet. It is immutable, because batches
// share it.
type Around struct {
	Agent, Step, Branch, EnclosingCall, Follows string // as in Batch
	MayBeBeside, OrderUnknown                   bool
	Above                                       *Around // in which it works itself; nil if that is the run
}

// Begin discards what b holds and starts the batch of a frame. It copies the frame.
func (b *Batch) Begin(s *Stream, f sse.Frame, received time.Time) {
	b.empty()
	b.Stream, b.Dialect, b.Received = s, s.Dialect, received
	b.Frame = b.memory.copyFrame(f)
}

// BeginOwned is Begin for a frame whose data is not copied: the batch keeps it, and nothing may change it.
func (b *Batch) BeginOwned(s *Stream, f sse.Frame, received time.Time) {
	b.empty()
	b.Stream, b.Dialect, b.Received = s, s.Dialect, received
	b.Frame = b.memory.takeFrame(f)
}

// Reset discards what b holds. It keeps some memory for the next frame.
func (b *Batch) Reset() {
	clear(b.Events[:cap(b.Events)])
	b.empty()
}

func (b *Batch) empty() {
	b.memory.reset()
	*b = Batch{Events: reuse(b.Events, maxReusedEvents), memory: b.memory}
}

// Parse reads the frame's data as JSON nested at most depth levels deep and sets JSON. It returns
// the reason for a failure, or "". Set Table before: its FreeMembers count. Without a table, names may differ by case anywhere.
func (b *Batch) Parse(depth int) (refused Reason) {
	free := everywhere
	if b.Table != nil {
		free = b.Table.FreeMembers
	}
	b.JSON, refused = b.memory.parse(b.Frame.Data, depth, free)
	b.Names = NamesUnchecked
	return refused
}

// SetTextKind sets the kind of the text in an object.
func (b *Batch) SetTextKind(object strictjson.Value, kind Kind) {
	if b.TextKinds == nil {
		b.TextKinds = make(map[strictjson.Value]Kind)
	}
	b.TextKinds[object] = kind
}

// Cut withholds a part of the frame.
func (b *Batch) Cut(part strictjson.Value) {
	if b.Cuts == nil {
		b.Cuts = make(map[strictjson.Value]struct{})
	}
	b.Cuts[part] = struct{}{}
}

// Substitute replaces a part of the frame under the policy public. The substitute is JSON and a constant.
func (b *Batch) Substitute(part strictjson.Value, substitute string) {
	if b.Substitutes == nil {
		b.Substitutes = make(map[strictjson.Value]string)
	}
	b.Substitutes[part] = substitute
}

// Has reports whether the batch has an event of a kind.
func (b *Batch) Has(k Kind) bool {
	for i := range b.Events {
		if b.Events[i].Kind == k {
			return true
		}
	}
	return false
}

// EndsInFailure reports whether the frame states that its run has ended in a failure.
func (b *Batch) EndsInFailure() bool {
	return slices.ContainsFunc(b.Events, func(e Event) bool { return e.Kind == KindRunEnded && e.Error != NoFailure })
}

// AddAuthors adds authors of the text in an object. The batch keeps the slice names.
func (b *Batch) AddAuthors(object strictjson.Value, names ...string) {
	if len(names) == 0 {
		return
	}
	if b.Authors == nil {
		b.Authors = make(map[strictjson.Value][]string)
	}
	if known := b.Authors[object]; len(known) > 0 {
		names = slices.Concat(known, names)
	}
	b.Authors[object] = names
}

// maxEmbeddedDepth bounds the nesting of JSON within a string.
const maxEmbeddedDepth = 128

// Embedded parses the text of v as JSON and returns its root. It returns v itself if v is not a
// string or its text is not strict JSON.
func (b *Batch) Embedded(v strictjson.Value) strictjson.Value {
	if v.Kind() != strictjson.String {
		return v
	}
	if inner, refused := b.memory.parse(b.memory.text(v), maxEmbeddedDepth, nil); refused == "" {
		return inner
	}
	return v
}

// MaxEvents bounds the events of one frame: an event takes much more memory than the bytes that
// state it.
const MaxEvents = 16 << 10

// maxReusedEvents is the maximum capacity of events that is reused for the next frame.
const maxReusedEvents = 64

// TooManyEvents reports whether the frame states more than MaxEvents events.
func (b *Batch) TooManyEvents() bool { return b.overflow != nil }

// Add appends an event of kind k and returns it, so that the caller can set its fields. An event
// beyond MaxEvents is lost; see TooManyEvents.
func (b *Batch) Add(k Kind) *Event {
	n := len(b.Events)
	if n == MaxEvents {
		if b.overflow == nil {
			b.overflow = new(Event)
		}
		*b.overflow = Event{Kind: k, memory: &b.memory}
		return b.overflow
	}
	if n < cap(b.Events) {
		b.Events = b.Events[:n+1] // an event is large: clear it in place instead of copying a zero value
		b.Events[n] = Event{}
	} else {
		b.Events = append(b.Events, Event{})
	}
	e := &b.Events[n]
	e.Kind, e.memory = k, &b.memory
	return e
}

// AddText appends an event of kind k with the text of v. If v is empty or not a string, AddText
// appends nothing and returns nil.
func (b *Batch) AddText(k Kind, v strictjson.Value) *Event {
	text := b.memory.text(v)
	if len(text) == 0 {
		return nil
	}
	e := b.Add(k)
	e.text = text
	return e
}

// IsText reports whether the event is a text or a thought.
func (e *Event) IsText() bool { return e.Kind == KindText || e.Kind == KindThought }

// NameTexts sets the Message of the texts and thoughts that have none. A dialect calls it after it has added those of a message. Events that
// were added before an earlier call stay as they are, so that many calls for one frame do not visit all its events each time.
func (b *Batch) NameTexts(message string) {
	if message == "" {
		return
	}
	for ; b.named < len(b.Events); b.named++ {
		if e := &b.Events[b.named]; e.Message == "" && e.IsText() {
			e.Message = message
		}
	}
}

// MemorySize returns the approximate size of the batch in memory, in bytes. It can be many times the
// size of the frame.
func (b *Batch) MemorySize() int {
	n := int(unsafe.Sizeof(*b)) + b.memory.size() + cap(b.Events)*int(unsafe.Sizeof(Event{}))
	n += len(b.turns) * int(unsafe.Sizeof(turn{}))
	n += 48*(len(b.Cuts)+len(b.TextKinds)) + 64*len(b.Substitutes) + 96*len(b.Authors) + 16*len(b.InputAuthors)
	n += len(b.Run) + len(b.Session) + len(b.Agent) + len(b.Branch) + len(b.Step) + len(b.ArgumentsOf) + len(b.EnclosingCall) + len(b.ParentBranch) + len(b.Response) + len(b.Type) + len(b.UnknownKind)
	for i := range b.Events {
		n += b.Events[i].size()
	}
	return n
}
