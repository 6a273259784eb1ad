package wire

import (
	"bytes"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// WithheldCalls finds the frames that repeat or answer a call that was withheld. Of an ADK agent, these are requests to confirm it,
// responses, and what an agent says that the call runs. They lack the mark that the call had.
type WithheldCalls struct {
	own    Set[string] // calls of this stream, and the names of their tools for responses without an ID
	others SharedSet   // calls of all streams of the agent
	shown  Set[string] // calls that left on this stream
	missed bool        // an unreadable frame may have had an internal call
}

// NewWithheldCalls returns an empty set of calls.
func NewWithheldCalls(s *event.Stream) WithheldCalls {
	return WithheldCalls{others: NewSharedSet(s, "adk call")}
}

// SetScope sets the scope of IDs without a UUID. If it is empty, only this stream knows them.
func (c *WithheldCalls) SetScope(scope string) { c.others.SetScopes(scope) }

// NamedCall is a call that a frame names.
type NamedCall struct {
	ID   string // "" if the frame has none
	Tool string // "" if the frame does not name it
	As   CallRole
}

// CallRole says what a frame has of a call.
type CallRole uint8

// The roles.
const (
	CallBegins   CallRole = iota // the call itself
	CallRepeated                 // a response, a request for a confirmation or a credential, or a repeat
	CallAround                   // the work of an agent that the call may run
)

// key returns the key of a call. Calls and responses without an ID count as those of their tool.
func (c NamedCall) key() string {
	if c.ID == "" {
		return toolKey(c.Tool)
	}
	return c.ID
}

func toolKey(name string) string { return "tool " + name }

// IsEmpty reports whether no frame can be of a withheld call.
func (c *WithheldCalls) IsEmpty() bool { return c.own.Len() == 0 && c.others.IsEmpty() && !c.missed }

// Miss records a frame that cannot be read.
func (c *WithheldCalls) Miss(f dialect.Frame) {
	c.missed = c.missed || f.Malformed == event.ReasonTooLarge || bytes.Contains(f.Data, []byte(`\u`)) || bytes.Contains(lenient.Text(f.Data), []byte("internal"))
}

// Check reports whether a frame is of a withheld call, given the calls that it names. It remembers them. isWithheld says that
// the frame is withheld anyway. A withheld response does not withhold its call, which has left.
func (c *WithheldCalls) Check(named []NamedCall, isWithheld bool) (isOfWithheld bool) {
	isOfWithheld = slices.ContainsFunc(named, c.isWithheld)
	for _, one := range named {
		switch key := one.key(); {
		case isWithheld || isOfWithheld:
			if one.As == CallBegins || one.As == CallRepeated && !c.shown.Contains(key) {
				c.add(one)
			}
		case one.As == CallBegins:
			c.shown.Add(key)
		}
	}
	return isOfWithheld
}

func (c *WithheldCalls) add(call NamedCall) {
	c.own.Add(call.key())
	if call.ID != "" {
		c.others.Add(call.ID)
		c.own.Add(toolKey(call.Tool))
	}
}

// isWithheld reports whether a call was withheld. Some models count their calls, so a call that begins is another one unless
// this stream has withheld it.
func (c *WithheldCalls) isWithheld(call NamedCall) bool {
	key := call.key()
	switch {
	case call.ID == "" && call.As != CallRepeated:
		return false
	case c.own.Contains(key):
		return true
	case call.As == CallBegins || c.shown.Contains(key):
		return false
	}
	return call.ID != "" && c.others.Contains(call.ID) || call.As == CallRepeated && (c.missed || c.own.IsFull())
}

// AppendCall appends a call and, of a request for input, the call that it is about.
func AppendCall(calls []NamedCall, as CallRole, id, tool, args strictjson.Value) []NamedCall {
	name := dialect.Name(tool.String())
	calls = append(calls, NamedCall{dialect.Name(id.String()), name, as})
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

// AppendBranch appends the calls that may run the agents of a branch, which has segments of the form NAME@CALL. The ID of a call
// may contain dots too.
//
// Source: google/adk/tools/agent_tool.py and workflow/_llm_agent_wrapper.py of google-adk 2.13.
func AppendBranch(calls []NamedCall, branch string) []NamedCall {
	for i := range len(branch) {
		if branch[i] != '@' {
			continue
		}
		for j := i + 1; j <= len(branch); j++ {
			if j == len(branch) || branch[j] == '.' {
				calls = append(calls, NamedCall{ID: dialect.Name(branch[i+1 : j]), As: CallAround})
			}
		}
	}
	return calls
}

// AppendNested appends what may be calls in messages of a remote agent: objects with an ID and a name, at any depth.
func AppendNested(calls []NamedCall, v strictjson.Value) []NamedCall {
	if id := v.Get("id"); id.Kind() == strictjson.String && v.Get("name").Kind() == strictjson.String {
		calls = append(calls, NamedCall{ID: dialect.Name(id.String()), As: CallAround})
	}
	for _, member := range v.Members() {
		calls = AppendNested(calls, member)
	}
	for element := range v.Elements() {
		calls = AppendNested(calls, element)
	}
	return calls
}
