package event

import "slices"

// Policy says for which kind of reader a stream is filtered.
type Policy string

// The two policies. Both withhold frames that the protocol marks as internal.
const (
	PolicyClient Policy = "client" // the protocol's own client: frames of known types, unchanged
	PolicyPublic Policy = "public" // any other reader: frames that are encoded again with only the data that the dialect's table allows
)

// Table says which data of a dialect's streams may leave. One filter applies the tables of all
// dialects.
type Table struct {
	// Discriminators are the members that hold the type of a frame, such as "kind". Their names are
	// compared leniently. The value of such a member must be a string that is in Types.
	Discriminators []string

	// TypePrefixes are beginnings of types whose rest an application chooses.
	TypePrefixes []string

	// Labels are the members that hold the name of an event or a type in every frame, such as "activityType". A frame
	// with an internal label is withheld.
	Labels []string

	// NameMembers are members that may hold the type of a frame or an envelope, as a discriminator does. Because
	// they may also hold anything else, only an internal name counts.
	NameMembers []string

	// Envelopes are the members that may contain another frame, such as "result". A frame is withheld
	// if a discriminator in them has an internal value. With DeepEnvelopes, every member is one.
	Envelopes     []string
	DeepEnvelopes bool

	// OpaqueMembers are members that are not searched although all around them are, because a user, a model or a tool chooses what is in
	// them.
	OpaqueMembers []string

	// FreeMembers are members with values in which names may differ only by case, because users choose these names. The filter compares
	// all of them leniently.
	FreeMembers []string

	// OwnEnvelopes maps the name of an envelope to members that are envelopes in it, but hold other data elsewhere.
	OwnEnvelopes map[string][]string

	// DeepMembers are the members of a frame or an envelope in which discriminators are checked at any
	// depth.
	DeepMembers []string

	// DeepStrings are DeepMembers in which a string at any depth may be JSON.
	DeepStrings []string

	// EncodedMembers are envelopes that may hold their JSON in a string. A string that is not strict JSON may
	// call itself internal to a more lenient reader, so the frame is withheld if the string could contain that.
	EncodedMembers []string

	// EncodedTexts are envelopes that may hold their JSON in a string, or a text of an agent. Only a string that begins like JSON is
	// searched.
	EncodedTexts []string

	// EntryKeys are members that hold the name of a member. An object in an envelope that has one is an entry: each of its
	// members with a name that ends in "value" holds the value of the member that the key names.
	EntryKeys []string

	// Events are the SSE event names that are allowed if the protocol does not put the frame's type there.
	// "message" is always allowed, because it means the same as no name. A frame with any other event name
	// is withheld.
	Events []string

	// IgnoreEventName says that only the JSON determines the type of a frame. A frame then leaves without
	// its SSE event name.
	IgnoreEventName bool

	// KeptEvents are the SSE event names that the protocol's own clients act on. A relay keeps them.
	KeptEvents []string

	// KeepEvents says that the protocol's own clients may act on any SSE event name. With the policy client, a relay
	// keeps them all.
	KeepEvents bool

	// TypeIsEventName says that the protocol puts the frame's type into the SSE event field. A frame
	// then leaves with its type as event name.
	TypeIsEventName bool

	// Namespaces says that the SSE event name is one of Events, alone or followed by '|' and a path of
	// names. A frame then leaves with its event name.
	Namespaces bool

	// PartDiscriminators are the members that hold the type of a part of a frame, for Rule.AllowedTypes,
	// if they are not Discriminators.
	PartDiscriminators []string

	// Types holds every type of frame that the protocol has for external readers. A frame whose
	// Batch.Type is not in it is withheld.
	Types map[string]Type

	// InternalMembers are members of any frame that are not for external readers, compared leniently.
	// The client gets a frame without them.
	InternalMembers []string

	// Instructions describes messages for models only, which may be anywhere in a frame; nil if no frame is searched.
	// Readers get the frame without them.
	Instructions *Instructions

	// FailureType is the type of FailureData and OversizeData. It is their event name if
	// TypeIsEventName or Namespaces is set.
	FailureType string

	// FailureData replaces a frame that reports the run's failure but cannot be decoded, so that the
	// client learns of the failure.
	FailureData string

	// OversizeData replaces a frame over the size limit for the protocol's own client, which would otherwise
	// wait for it. It is an error. If clients stop at an error although the run may continue, it is a notice
	// instead.
	OversizeData string
}

// AllowsEvent reports whether a frame may have this SSE event name. Browsers call an event without a name
// "message" (https://html.spec.whatwg.org/multipage/server-sent-events.html#dispatchMessage).
func (t *Table) AllowsEvent(name []byte) bool {
	return len(name) == 0 || string(name) == "message" || slices.Contains(t.Events, string(name))
}

// OversizeMessage is the message of Table.OversizeData.
const OversizeMessage = "an event over the size limit was withheld"

// Verbosity is a level of detail of a model's thoughts: of one thought, or of those that may leave.
type Verbosity uint8

// The levels, from nothing to everything. A thought that does not state its level counts as detailed.
const (
	ThoughtsNone Verbosity = iota
	ThoughtsBrief
	ThoughtsNormal
	ThoughtsDetailed
)

// Type says which data of one type of frame may leave.
type Type struct {
	Client bool  // the protocol's own client gets the whole frame, except for its internal members
	Public *Rule // for the policy public; nil withholds the frame

	// InternalMembers are members that are not for external readers, in addition to those of the
	// table.
	InternalMembers []string

	// Labels are the members that hold the event's own name in frames of this type, in addition to those of the table. In
	// other frames, they hold the name of an agent or a tool, for example.
	Labels []string

	// OpaqueMembers are members of the frame that are not searched for discriminators although they are DeepMembers of the table.
	OpaqueMembers []string

	// Deep says that discriminators are checked in every member of the frame at any depth, also in strings of JSON. It does not apply to
	// the table's InternalMembers.
	Deep bool

	// Shows are kinds of facts that every frame of the type shows a part of, although neither the decoder nor Public
	// reports them. For example, a piece of a call's arguments shows a part of KindToolStarted. If a setting excludes
	// one of these kinds, the client does not get the frame.
	Shows []Kind

	// AnyJSON says that the frame's data may be any JSON value instead of an object.
	AnyJSON bool

	// AnyFact says that the frame may repeat facts of every kind in members that no rule describes. If a
	// setting excludes anything, the client does not get the frame.
	AnyFact bool

	// Messages describes the frame's list of messages, if it has one. The client gets the frame
	// without the internal messages.
	Messages *Messages

	// Words describes the members that repeat text of agents and that neither the decoder nor Public
	// covers.
	Words *Words

	// Text says that the frame's data is plain text instead of JSON. Of Public, only Fact, Form, AllowedValues and
	// Replacement apply, and Replacement is plain text too.
	Text bool

	// Answer says that the frame's text is always an answer's. The decoder may report none of it,
	// because earlier frames contained it.
	Answer bool
}

// Messages describes a list of messages in a frame. A message leaves only if its role is readable and
// not internal, and nothing in the message calls it internal.
type Messages struct {
	ListMember    string   // the member of the frame that holds the list
	RoleMember    string   // the member of a message that holds its role
	InternalRoles []string // roles of messages that are for models only
	RoleOptional  bool     // a message without the member is not withheld for that; the decoder may withhold it
	PartMembers   []string // members of a message that hold its parts, which are checked too
}

// Instructions describes messages that instruct models. Names and roles are compared leniently.
type Instructions struct {
	Roles   []string // an object with content and such a role is one
	Members []string // members that contain such messages or their text
	Skipped []string // members that are not searched
}

// Words describes the members of a frame that contain text of agents and that the decoder does not
// turn into events: a conversation, a result, metadata. If a setting excludes one of these facts or
// its author, the client does not get the frame. Names are compared leniently. For a type
// with Text set, all data is text and the members do not apply.
type Words struct {
	Members          map[string]Kind // members that state a fact of this kind if they are not empty; KindText is text of the speaker
	Containers       []string        // members that contain Members, at any depth and through lists, even if they are Members themselves
	ClientContainers []string        // the same, for members that only the client gets
	OfNodes          bool            // the frame's own members contain Members too, whatever their names
	OnlyNested       bool            // only nested objects have Members, not the frame itself
	Anywhere         []string        // members of objects that contain Members wherever they are in a client's frame
	Lists            []string        // Containers in which a string, or a list of strings, is text of the speaker
	TypedMembers     []string        // members that state a fact of the kind that TypeKinds or RoleKinds give for the object, if they give one

	AuthorMembers []string        // members that name the speaker
	RoleMember    string          // the member that holds the speaker's role
	UserRoles     []string        // roles of the user
	FromUser      bool            // the speaker is the user, whatever the role
	RoleKinds     map[string]Kind // the kind of text of other roles; KindOther: no setting excludes it
	TypeKinds     map[string]Kind // the kind of text in an object whose member `type`, or one of TypeMembers, has this value
	TypeMembers   []string        // more members to which TypeKinds applies

	ThoughtMarkers  []string // members that, unless false or null, mark the text beside or below them as a thought
	MetadataMembers []string // members that may contain AuthorMembers, TypeMembers and ThoughtMarkers
	RoleInMetadata  bool     // they may contain RoleMember too
}

// Form says which strings a rule allows. Numbers, booleans and null are allowed in every form.
type Form uint8

// The forms.
const (
	FormName  Form = iota // a name or an id: at most MaxName bytes, without control characters, no printed object, and no URL with a user or a password
	FormText              // any string: text that is meant for readers
	FormTime              // a date and time of RFC 3339
	FormEnum              // only Rule.AllowedValues
	FormID                // the ID of a call, a message or a part, which several frames have: a name, but a hash replaces one longer than MaxName
	FormTool              // a tool's name: letters, digits, blanks and _.:/@#|~+$&*'-, at most MaxTool bytes, no URL with a user or a password; "unknown" replaces any other
	FormURL               // any string; a URL leaves without user and password
	FormMedia             // a media type
	FormCode              // an identifier or words with dashes, such as tool_call, perhaps after namespaces with colons: at most MaxCode bytes
)

// MaxName is the maximum length of a string of FormName, in bytes.
const MaxName = 256

// MaxTool is the maximum length of a string of FormTool, in bytes.
const MaxTool = 128

// MaxCode is the maximum length of a string of FormCode, in bytes.
const MaxCode = 64

// Rule says which parts of a JSON value may leave. The zero Rule allows a scalar: a name, number,
// boolean or null.
type Rule struct {
	Members          map[string]*Rule // of an object, by exact name; other members are dropped
	Elements         *Rule            // for each element of an array
	String           *Rule            // for a string, instead of the rest of the rule
	ByType           map[string]*Rule // for an object whose member `type` has this value ("": none), instead of the rest of the rule
	TypePath         [][]string       // the path from the object to the member that ByType is about, if it is not `type`; of each step, the first of these members
	AnyMember        *Rule            // for each member of an object whose names are data and not in Members; of its scalars, only integers are allowed
	Form             Form             // of strings, and of the names that AnyMember allows
	Replacement      string           // JSON that always replaces the value, unless it is null
	AllowedValues    []string         // strings that are allowed regardless of Form and Fact; with Replacement, settings exclude them if the decoder found Fact
	ThoughtMarkers   []string         // an object with one of these members, neither false nor null, is a model's thought
	ThoughtMarkersIn []string         // object members in which ThoughtMarkers mark the outer object too
	AllowedTypes     []string         // an object is dropped if a discriminator in it is neither null nor one of these
	TypeRequired     bool             // an object is dropped too if no discriminator in it is one of AllowedTypes
	Fact             Kind             // the fact that the value states; settings may exclude it. KindOther: none
	State            bool             // an object of session state, of which only the configured keys are allowed
	Patch            bool             // a JSON Patch (RFC 6902) of session state, with the same restriction
	AllowAny         bool             // the value is allowed as it is
	EndsResponse     bool             // the value is dropped from a frame that only repeats the end of a model's response
	StatedOnly       bool             // the value is dropped unless the decoder found Fact in the frame
	FindOnly         bool             // the value is dropped; the rule only finds the facts that the client would see in it
	OwnMarkers       bool             // thought markers in the value are about its own texts, not about those beside it

	// The rest keeps the output valid for readers that check a schema.
	DropNull bool   // null is dropped, because the schema does not allow it
	Required bool   // if the value is dropped and is not null, the object that contains it is dropped too
	Fallback string // JSON that replaces a value of which nothing is allowed, unless it is null
	RenameTo string // the name of the member in the output, unless the object has another member of that name
}
