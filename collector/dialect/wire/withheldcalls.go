package wire

import (
	"bytes"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// WithheldCalls finds the frames that repeat or answer a call that was withheld. Of an ADK agent, these are requests to confirm it,
// responses, and what an agent says that the call runs. They lack the mark that the call had.
type WithheldCalls struct {
	own       Set[string] // calls of this stream, and the names of their tools for responses without an ID
	shared    SharedSet   // calls of all streams of the agent
	ended     Set[string] // calls in own of which a response was withheld
	open      Set[string] // calls in own that have no last response
	shownKeys Set[string] // calls that left on this stream, and the places of work that did, by placeKey
	missed    bool        // an unreadable frame may have had an internal call

	missedDeferred bool        // see MissDeferred
	missedQuestion bool        // the same of an event that may have been a question
	emptyLeft      bool        // see ShowEmpty
	latest         latestCalls // of models that stream the arguments of calls
}

// NewWithheldCalls returns an empty set of calls.
func NewWithheldCalls(s *event.Stream) WithheldCalls {
	return WithheldCalls{shared: NewSharedSet(s, "adk call")}
}

// SetScope sets the scope of IDs without a UUID. If it is empty, only this stream knows them.
func (c *WithheldCalls) SetScope(scope string) { c.shared.SetScopes(scope) }

// NamedCall is a call that a frame names.
type NamedCall struct {
	ID    string // "" if the frame has none; of a CallWithin, the text that begins with it
	Tool  string // "" if the frame does not name it
	As    CallRole
	Place CallPlace // of a CallBegins or CallContinues: where the model responds
	Ends  bool      // a CallRepeated is the last response, after which a new call may reuse the ID

	IsPiece   bool // a CallBegins is a piece of a call, which may have another ID
	Continues bool // a CallBegins may be followed by more pieces of the call
	Answers   bool // a CallRepeated is the last response, in a protocol that never reuses IDs
	IsPaired  bool // a CodeEnds is the result of code in its frame
}

// CallRole says what a frame has of a call.
type CallRole uint8

// The roles.
const (
	CallBegins    CallRole = iota // the call itself
	CallContinues                 // a piece of a call without the name, and perhaps with an ID of its own
	CallRepeated                  // a response, a request for a confirmation or a credential, or a repeat
	CallWithin                    // the work of an agent that the call runs (see AppendWithin)
	CallMentioned                 // something that has the ID of a call, perhaps of another agent
	CallDeferred                  // the call itself, which the frame of its event need not have (see MissDeferred)
	CodeBegins                    // code that a model runs (see AppendCode)
	CodeEnds                      // the result of such code
)

// key returns the key of a call. Calls and responses without an ID count as those of their tool.
func (c NamedCall) key() string {
	if c.ID == "" {
		return toolKey(c.Tool)
	}
	return c.ID
}

func toolKey(name string) string { return "tool " + name }

// laterIDKey returns the key for a tool whose withheld call had no ID. A response to that call may have one. The key of "" stands for
// any tool.
func laterIDKey(tool string) string { return "later ID " + tool }

// IsEmpty reports whether no frame can be of a withheld call.
func (c *WithheldCalls) IsEmpty() bool { return c.own.Len() == 0 && c.shared.IsEmpty() && !c.missed }

// MayBeOpen reports whether a withheld call has, or may have, no response. An error may quote its arguments then.
func (c *WithheldCalls) MayBeOpen() bool {
	return c.mayHideDeferred() || c.open.Len() > 0 || c.latest.hasOpenPiece()
}

// Miss records a frame that cannot be read.
func (c *WithheldCalls) Miss(f dialect.Frame) {
	c.latest.forgetShown()
	c.missed = c.missed || MayHideInternal(f)
}

// MayHideInternal reports whether a frame that cannot be read may be internal, or name something that is. An escape may hide the word.
func MayHideInternal(f dialect.Frame) bool {
	return f.Malformed == event.ReasonTooLarge || bytes.Contains(f.Data, []byte(`\u`)) || bytes.Contains(lenient.Text(f.Data), []byte("internal"))
}

// Check reports whether a frame is of a withheld call, given the calls that it names. It remembers them. isWithheld says that
// the frame is withheld anyway. A withheld response does not withhold its call, which has left.
func (c *WithheldCalls) Check(named []NamedCall, isWithheld bool) (isOfWithheld bool) {
	isOfWithheld = slices.ContainsFunc(named, func(one NamedCall) bool { return c.isWithheld(one, named) })
	for _, one := range named {
		switch isHidden := isWithheld || isOfWithheld; {
		case isHidden && one.As == CallContinues && !isWithheld: // not remembered: each piece may have a new ID, and there may be many
		case isHidden && one.isCode():
			c.withholdCode(one)
		case isHidden:
			c.withhold(one)
		case one.As == CodeBegins:
			c.showCode(one)
		case one.As == CallBegins, one.As == CallDeferred:
			c.show(one)
		case one.As == CallWithin && !mayBeInvocation(firstSegment(one.ID)):
			c.shownKeys.Add(placeKey(one))
		}
	}
	return isOfWithheld
}

// withhold remembers a call that a withheld frame names.
func (c *WithheldCalls) withhold(call NamedCall) {
	key := call.key()
	switch {
	case call.As == CallContinues:
		c.latest.set(call.Place, pieceHidden)
	case call.As == CallBegins, call.As == CallDeferred && !c.shownKeys.Contains(key):
		if c.latest.set(call.Place, callHidden); call.Continues {
			c.latest.set(call.Place, pieceHidden)
		}
		c.ended.Remove(key)
		if !call.IsPiece {
			c.open.Add(key)
		}
	case call.As != CallRepeated || c.shownKeys.Contains(key):
		return
	case call.Ends:
		c.ended.Add(key)
	}
	if (call.Ends || call.Answers) && !c.open.IsFull() { // a full set lacks calls
		c.open.Remove(key)
	}
	c.own.Add(key)
	switch {
	case call.ID == "" && call.As == CallBegins:
		c.missed = c.missed || call.Tool == ""
		c.own.Add(laterIDKey(call.Tool))
		c.own.Add(laterIDKey(""))
	case call.ID != "":
		c.own.Add(toolKey(call.Tool))
		c.shared.Add(call.ID)
		if mayBeInvocation(call.ID) {
			c.own.Add(workKey(call.Tool, call.ID))
			c.shared.Add(workKey(call.Tool, call.ID))
		}
	}
}

// show remembers a call that leaves. If an ended call had the same ID, this is another one.
func (c *WithheldCalls) show(call NamedCall) {
	if key := call.key(); c.hasEnded(key) {
		c.own.Remove(key)
		c.own.Remove(workKey(call.Tool, call.ID))
		c.ended.Remove(key)
	}
	c.shownKeys.Add(call.key())
	c.latest.set(call.Place, callShown)
	if mayBeInvocation(call.ID) {
		c.shownKeys.Add(workKey(call.Tool, call.ID))
	}
}

// hasEnded reports whether a withheld call has ended. A full set stays full, because there are calls that it does not contain.
func (c *WithheldCalls) hasEnded(key string) bool { return c.ended.Contains(key) && !c.own.IsFull() }

// mayMiss reports whether there may be withheld calls that are not in the sets.
func (c *WithheldCalls) mayMiss() bool { return c.missed || c.own.IsFull() }

// isWithheld reports whether a call was withheld, or may have been. Some models count their calls, so a call that begins is
// another one unless this stream has withheld it. named are all calls that its frame names.
func (c *WithheldCalls) isWithheld(call NamedCall, named []NamedCall) bool {
	key := call.key()
	switch {
	case call.As == CallWithin:
		return c.isOfWork(call)
	case call.isCode():
		return c.isCodeWithheld(call)
	case call.As == CallDeferred:
		return c.isDeferredWithheld(call)
	case call.As == CallContinues:
		return call.ID != "" && c.own.Contains(key) || !(call.ID != "" && c.shownKeys.Contains(key)) && c.latest.mayHide(call.Place, c.missed)
	case call.As == CallBegins && !call.IsPiece && !call.Continues && c.latest[call.Place] == pieceHidden: // the whole call, with an ID of its own
		return true
	case call.ID == "" && call.As != CallRepeated:
		return false
	case call.ID == "" && call.Tool == "": // it may be of any call
		return c.own.Len() > 0 || c.missed
	case c.own.Contains(key):
		return call.As != CallBegins || !c.hasEnded(key)
	case call.As == CallBegins || c.shownKeys.Contains(key):
		return false
	case call.ID != "" && c.shared.Contains(call.ID), (call.Ends || call.Tool != "") && c.own.Contains(laterIDKey(call.Tool)), call.Ends && call.Tool == "" && c.own.Len() > 0:
		return true
	}
	return call.As == CallRepeated && c.mayMiss() && !slices.ContainsFunc(named, func(other NamedCall) bool { return other.As == CallBegins && other.key() == key })
}

// isOfWork reports whether the work at a place is of a withheld call, or may be. The ID of a call may contain dots too, so each
// part of the place that begins with the ID may be it.
func (c *WithheldCalls) isOfWork(call NamedCall) bool {
	if len(call.ID) > maxWithin {
		return true
	}
	first := firstSegment(call.ID)
	isKnown := call.Tool != "" && mayBeInvocation(first) || c.shownKeys.Contains(placeKey(call))
	for end := len(first); ; end++ {
		if end < len(call.ID) && !isSeparator(call.ID[end]) {
			continue
		}
		key := workKey(call.Tool, dialect.Name(call.ID[:end]))
		isShown := c.shownKeys.Contains(key)
		if c.own.Contains(key) || !isShown && c.shared.Contains(key) {
			return true
		}
		isKnown = isKnown || isShown
		if end >= len(call.ID) || end > dialect.MaxName { // longer IDs have the same name
			return !isKnown && c.mayMiss()
		}
	}
}

// workKey returns the key of the work that a call runs. A place also has the numbers of invocations, so a small number counts as an
// ID only with the name of the tool, which the agent has.
func workKey(tool, id string) string {
	if tool != "" && mayBeInvocation(id) {
		return tool + "@" + id
	}
	return id
}

// placeKey returns the key of a place that left.
func placeKey(work NamedCall) string {
	return work.Tool + "/" + dialect.Name(firstSegment(work.ID))
}

// firstSegment returns the start of a place up to the first separator.
func firstSegment(place string) string {
	if end := strings.IndexAny(place, "./"); end >= 0 {
		return place[:end]
	}
	return place
}

func isSeparator(c byte) bool { return c == '.' || c == '/' }

// mayBeInvocation reports whether an ID may be the number of an invocation. Invocations are counted from one.
func mayBeInvocation(id string) bool {
	return id != "" && len(id) <= maxInvocation && id[0] != '0' && strings.Trim(id, "0123456789") == ""
}

// maxInvocation bounds the digits of an invocation's number. A longer number is an ID.
const maxInvocation = 4

// AppendCall appends a call and, of a request for input, the call that it is about.
func AppendCall(calls []NamedCall, as CallRole, id, tool, args strictjson.Value) []NamedCall {
	name := dialect.Name(tool.String())
	calls = append(calls, NamedCall{ID: dialect.Name(id.String()), Tool: name, As: as})
	if !IsInputRequest(name) {
		return calls
	}
	original := args.First("originalFunctionCall", "original_function_call")
	for _, id := range []strictjson.Value{original.Get("id"), args.First("functionCallId", "function_call_id")} {
		if id.Exists() {
			calls = append(calls, NamedCall{ID: dialect.Name(id.String()), As: CallRepeated})
		}
	}
	return calls
}

// AppendPaused appends the calls that the actions of an event pause.
func AppendPaused(calls []NamedCall, requests ...strictjson.Value) []NamedCall {
	for _, request := range requests {
		for id := range request.Members() {
			calls = append(calls, NamedCall{ID: dialect.Name(id.String()), As: CallRepeated})
		}
	}
	return calls
}

// RequestsIn returns the requests by which the actions of an event pause calls: for confirmations and for credentials, by the ID of the
// call.
func RequestsIn(actions strictjson.Value) [2]strictjson.Value {
	return [...]strictjson.Value{
		actions.First("requestedToolConfirmations", "requested_tool_confirmations"), actions.First("requestedAuthConfigs", "requested_auth_configs"),
	}
}

// AppendActions appends the calls that the actions of an event pause or show. The widget of an MCP app has the ID and the arguments of
// its call.
//
// Source: google/adk/tools/mcp_tool/mcp_tool.py of google-adk 2.13.
func AppendActions(calls []NamedCall, actions strictjson.Value) []NamedCall {
	requests := RequestsIn(actions)
	calls = AppendPaused(calls, requests[:]...)
	for widget := range actions.First("renderUiWidgets", "render_ui_widgets").Elements() {
		calls = append(calls, NamedCall{ID: dialect.Name(widget.Get("id").String()), As: CallMentioned})
	}
	return calls
}

// maxWithin bounds the length of a place. What is at a longer one is withheld.
const maxWithin = 4 * MaxPath

// AppendWithin appends the calls that may run the agents of a place: a branch or a path, which has segments of the form
// NAME@CALL or NAME@NUMBER.
//
// Source: google/adk/tools/agent_tool.py, _node_tool.py and workflow/_llm_agent_wrapper.py of google-adk 2.13.
func AppendWithin(calls []NamedCall, place string) []NamedCall {
	start := 0 // of the segment
	for i := range len(place) {
		switch {
		case isSeparator(place[i]):
			start = i + 1
		case place[i] == '@':
			calls = append(calls, NamedCall{ID: place[i+1:], Tool: dialect.Name(place[start:i]), As: CallWithin})
			if len(place)-i > maxWithin {
				return calls
			}
		}
	}
	return calls
}

// AppendScope appends the call that an isolation scope is about. The scope of a task that no call started is a path.
//
// Source: google/adk/workflow/_dynamic_node_scheduler.py of google-adk 2.13.
func AppendScope(calls []NamedCall, scope string) []NamedCall {
	switch {
	case scope == "":
		return calls
	case !strings.Contains(scope, "@"):
		return append(calls, NamedCall{ID: scope, As: CallWithin})
	}
	return AppendWithin(append(calls, NamedCall{ID: dialect.Name(scope), As: CallMentioned}), scope)
}

// mayBeIn reports whether a withheld call is in a part of a remote agent's message: an object with its ID and a name, at any depth.
func (c *WithheldCalls) mayBeIn(v strictjson.Value) bool {
	if c.IsEmpty() {
		return false
	}
	id := v.Get("id")
	found := id.Kind() == strictjson.String && v.Get("name").Kind() == strictjson.String && c.isWithheld(NamedCall{ID: dialect.Name(id.String()), As: CallMentioned}, nil)
	for _, member := range v.Members() {
		found = found || c.mayBeIn(member)
	}
	for element := range v.Elements() {
		found = found || c.mayBeIn(element)
	}
	return found
}
