package event

// Policy is who the reader of a stream is.
type Policy string

// The two policies. Neither ever lets out what its protocol calls internal.
const (
	PolicyClient Policy = "client" // the protocol's own client: frames as they came, those of known types
	PolicyPublic Policy = "public" // anybody else: frames encoded anew from what the dialect's table allows
)

// Table says what may leave a stream of one dialect. It is data: one filter applies the tables of all dialects.
type Table struct {
	// Discriminators are the members of a frame that say what it is, such as "kind". Names that fold to one of them count too.
	// Where such a member stands, its value must be a string that is in Types.
	Discriminators []string

	// Labels are the members in which an agent names events of its own, such as "name". A frame with one that is internal stays in.
	Labels []string

	// Envelopes are the members in which a frame may stand within a frame, such as "result". In them, and at any depth where
	// Deep is set, no discriminator may name something internal.
	Envelopes []string
	Deep      bool

	// DeepIn are members of a frame within which that holds at any depth.
	DeepIn []string

	// Events are the SSE event names under which the protocol sends frames, where it does not name them by their type. A frame
	// under any other name stays in.
	Events []string

	// Unnamed is set where the JSON alone says what a frame is. Then a frame leaves whatever its SSE event name, without that name.
	Unnamed bool

	// Kept are the SSE event names that the protocol's own clients act on. A relay keeps them.
	Kept []string

	// Named is set where the protocol names its frames in the SSE event field: then a frame leaves under the name of its type.
	Named bool

	// Types holds every type of frame that the protocol has for readers outside; Batch.Type is one of them or the frame stays in.
	Types map[string]Type

	// Inner are members of any frame that are for no reader outside: where they stand, in any spelling, the client gets the frame
	// without them.
	Inner []string

	// FailureType is the type of Failure, by whose name it leaves where Named is set.
	FailureType string

	// Failure takes the place of a frame that says in a form nobody can read that the run failed, so that a client learns of it.
	Failure string

	// Oversize takes the place of a frame over the limit of size for the protocol's own client, which would wait for it in vain. It
	// is of the type FailureType, as Failure is.
	Oversize string
}

// Withheld is what Table.Oversize says.
const Withheld = "an event over the size limit was withheld"

// Verbosity is how much of a model's thoughts may leave.
type Verbosity uint8

// The verbosities, from nothing to everything. A thought that does not say how detailed it is counts as detailed.
const (
	ThoughtsNone Verbosity = iota
	ThoughtsBrief
	ThoughtsNormal
	ThoughtsDetailed
)

// Type is what may leave of one type of frame.
type Type struct {
	Client bool // the whole frame may leave to the protocol's own client
	Public *Rule

	// Inner are members that are for no reader outside: where they stand, in any spelling, the client gets the frame without them.
	Inner []string

	// Messages is set where the frame holds a list of messages: the client gets the frame without those that are for no reader outside.
	Messages *Messages

	// Words says where the frame shows what agents said, in addition to what its decoder states and Public finds.
	Words *Words

	// Text is set where the frame's data is text and no JSON. Then of Public only Fact counts, and Instead, which is text too.
	Text bool
}

// Messages describes a list of messages in a frame. A message leaves only if its role can be read and is not an inner one, and nothing in
// it calls it internal.
type Messages struct {
	Member string   // the frame's member that is the list
	Role   string   // the member of each message that says who speaks
	Inner  []string // roles whose messages are for models only
	Parts  []string // members of a message that are lists of its parts, in which nothing may call itself internal either
}

// Words describes members that repeat what agents said, or show it where the decoder states nothing: a conversation, a result,
// metadata. A setting that excludes one of these facts, or its author, withholds the frame from the client. Names are compared
// generously. For a type with Text set, all of the data is text and no member counts.
type Words struct {
	Members map[string]Kind // members that show a fact unless they are empty; KindText is text of whoever speaks
	Within  []string        // members that lead to them, through lists too
	Past    []string        // the same, for members that only the client gets

	Authors []string        // members that name the speaker
	Role    string          // the member that says in which role somebody speaks
	Users   []string        // roles of the user
	User    bool            // the user speaks, whatever the role
	Roles   map[string]Kind // what the text of other roles is; KindOther: nothing that a setting excludes

	Thought  []string // members that make the text beside them, or below, a thought; neither false nor null
	Metadata []string // members that hold Authors and Thought as well
}

// Form is which strings a rule lets out. Numbers, booleans and null are of every form.
type Form uint8

// The forms.
const (
	FormName  Form = iota // a name or an id: at most 256 bytes, without control characters
	FormText              // any string: text that is meant to leave
	FormTime              // a date and time of RFC 3339
	FormPlain             // none but those of Rule.Values
)

// MaxName is the size of the longest string of FormName, in bytes.
const MaxName = 256

// Rule says what of a JSON value may leave. The zero Rule lets a scalar out: a name, number, boolean or null.
type Rule struct {
	Members map[string]*Rule // of an object, by exact name; nothing else of it leaves
	Each    *Rule            // of every element of an array
	Names   *Rule            // of every member of an object whose names are data; a scalar beside one leaves only as an integer
	Form    Form             // which strings leave; of Names, of the names too
	Instead string           // JSON that takes the value's place, whatever it is
	Values  []string         // strings that leave as they are all the same, and then state no fact
	Thought []string         // an object with one of these members, neither false nor null, is a model's thought
	Signed  []string         // members of an object, objects themselves, in which one of Thought makes it a thought too
	Only    []string         // an object with a discriminator that has another value than one of these, or null, stays in
	Fact    Kind             // the fact that the value states, which settings may keep in; KindOther: none
	State   bool             // an object of session state, of which only the configured keys leave
	Patch   bool             // a JSON Patch (RFC 6902) of session state, of which only what changes the configured keys leaves
	Whole   bool             // the value may leave whatever it is

	// What readers that hold frames to a schema want of what is left.
	Given  bool   // null stays in: to a schema it is no way to leave out what may be left out
	Needed bool   // where the value stays in, and is not null, so does the object that it is a member of
	Else   string // JSON that takes the value's place where nothing of it may leave
	As     string // the name under which a member leaves, unless the object has another of that name
}
