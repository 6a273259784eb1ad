package adk

import (
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// actions holds the members of an event's actions that are used. They are found in one pass.
type actions struct {
	transfer, artifacts, state, confirmations, credentials strictjson.Value

	skipsSummary, escalates, endsInvocation, endsAgent bool
}

func readActions(v strictjson.Value) (a actions) {
	var skips, ends strictjson.Value
	for name, value := range v.Members() {
		if value.Kind() <= strictjson.Null {
			continue
		}
		switch string(name.Text()) {
		case "transferToAgent":
			a.transfer = value
		case "transfer_to_agent":
			a.transfer = firstOf(a.transfer, value)
		case "artifactDelta":
			a.artifacts = value
		case "artifact_delta":
			a.artifacts = firstOf(a.artifacts, value)
		case "stateDelta":
			a.state = value
		case "state_delta":
			a.state = firstOf(a.state, value)
		case "requestedToolConfirmations":
			a.confirmations = value
		case "requested_tool_confirmations":
			a.confirmations = firstOf(a.confirmations, value)
		case "requestedAuthConfigs":
			a.credentials = value
		case "requested_auth_configs":
			a.credentials = firstOf(a.credentials, value)
		case "skipSummarization":
			skips = value
		case "skip_summarization":
			skips = firstOf(skips, value)
		case "endInvocation":
			ends = value
		case "end_invocation":
			ends = firstOf(ends, value)
		case "escalate":
			a.escalates = isTrue(value)
		case "endOfAgent", "end_of_agent":
			a.endsAgent = isTrue(value)
		}
	}
	a.skipsSummary = isTrue(skips)
	a.endsInvocation = isTrue(ends)
	return a
}

// readContent returns the members of an event's content that are used. They are found in one pass.
func readContent(v strictjson.Value) (parts, role, thought strictjson.Value) {
	for name, value := range v.Members() {
		switch string(name.Text()) {
		case "parts":
			parts = value
		case "role":
			if isModel(role) {
				role = value
			}
		case "thought":
			thought = value
		default: // a reader that ignores case may take it for the role
			if lenient.MatchesAny(name.Text(), roleMember) && !isModel(value) {
				role = value
			}
		}
	}
	return parts, role, thought
}

var roleMember = []string{"role"}

type partKind uint8

const (
	partText partKind = iota
	partThought
	partCall
	partResponse
	partCode // code from the model, to be executed
	partCodeResult
	partOther
)

// part is an element of content.parts.
type part struct {
	kind     partKind
	text     strictjson.Value
	id, name strictjson.Value
	body     strictjson.Value // arguments or response; the whole part for code and its result
	unknown  strictjson.Value // name of the member with the content, if the kind is unknown

	isForeignThought bool // only a remote agent's mark says that it is a thought
}

// maxReusedParts limits the memory for parts that is reused for the next frame.
const maxReusedParts = 64

// appendParts reads a frame's parts into the memory of the previous frame's parts.
func appendParts(parts []part, list strictjson.Value) []part {
	if cap(parts) > maxReusedParts {
		parts = nil
	}
	parts = parts[:0]
	for element := range list.Elements() {
		parts = append(parts, readPart(element))
	}
	return parts
}

func readPart(v strictjson.Value) part {
	if t := v.Get("text"); v.Len() == 1 && t.Kind() == strictjson.String {
		return part{kind: partText, text: t} // as most are
	}
	if c := v.First("functionCall", "function_call"); c.Exists() {
		return part{kind: partCall, id: c.Get("id"), name: c.Get("name"), body: c.Get("args")}
	}
	if r := v.First("functionResponse", "function_response"); r.Exists() {
		// Rust puts the id next to the response instead of into it.
		return part{kind: partResponse, id: firstOf(r.Get("id"), v.Get("id")), name: r.Get("name"), body: r.Get("response")}
	}
	if t := v.Get("text"); t.Kind() == strictjson.String {
		switch {
		case wire.MayBeTrue(v.Get("thought")) || isMarkedThought(v):
			return part{kind: partThought, text: t}
		case isForeignThought(v):
			return part{kind: partThought, text: t, isForeignThought: true}
		}
		return part{kind: partText, text: t}
	}
	if t := v.Get("thinking"); t.Kind() == strictjson.String { // Rust
		return part{kind: partThought, text: t}
	}
	if v.Get("name").Kind() == strictjson.String && v.Get("args").Exists() { // Rust: a call without its wrapper
		return part{kind: partCall, id: v.Get("id"), name: v.Get("name"), body: v.Get("args")}
	}
	if c := v.First("executableCode", "executable_code"); c.Exists() {
		return part{kind: partCode, id: c.Get("id"), body: c}
	}
	if r := v.First("codeExecutionResult", "code_execution_result"); r.Exists() {
		return part{kind: partCodeResult, id: r.Get("id"), body: r}
	}
	return part{kind: partOther, unknown: unknownMember(v)}
}

func isTrue(v strictjson.Value) bool {
	on, _ := v.Bool()
	return on
}

// partMetadata are the members of a part that hold an agent's or a converter's own data.
var partMetadata = []string{"partMetadata", "part_metadata"}

// isMarkedThought reports whether a part is marked as a thought other than by the protocol's own
// member.
func isMarkedThought(v strictjson.Value) bool {
	metadata := v.First(partMetadata...)
	return isTrue(v.Get("adk_thought")) || isTrue(metadata.Get("adk_thought")) || isTrue(metadata.Get("thought"))
}

// isForeignThought reports whether a part is marked as a thought in a way that the ADK does not know. The ADK keeps the metadata of a
// remote agent's parts.
func isForeignThought(v strictjson.Value) bool {
	_, is := wire.ThoughtMark(v)
	return is || wire.HasThoughtMetadata(v, metadataMembers)
}

// unknownMember returns the name of the first member that is not in the protocol's definition of a
// part. The name does not exist if all members are in it.
func unknownMember(v strictjson.Value) strictjson.Value {
	for name := range v.Members() {
		switch string(name.Text()) {
		case "inlineData", "inline_data", "fileData", "file_data", "executableCode", "executable_code", "codeExecutionResult", "code_execution_result",
			"text", "thought", "thoughtSignature", "thought_signature", "videoMetadata", "video_metadata", "mediaResolution", "media_resolution",
			"partMetadata", "part_metadata", "toolCall", "tool_call", "toolResponse", "tool_response", "mimeType", "mime_type", "data", "fileUri", "file_uri",
			"functionCall", "function_call", "functionResponse", "function_response":
		default:
			return name
		}
	}
	return strictjson.Value{}
}
