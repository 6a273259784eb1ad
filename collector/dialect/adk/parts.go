package adk

import "github.com/delegraph/delegraph/collector/strictjson"

// actions are those members of an event's actions that anything is read of, found in one pass.
type actions struct {
	transfer, artifacts, state, confirmations, credentials strictjson.Value

	skips, escalates, ends bool
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
			a.transfer = first(a.transfer, value)
		case "artifactDelta":
			a.artifacts = value
		case "artifact_delta":
			a.artifacts = first(a.artifacts, value)
		case "stateDelta":
			a.state = value
		case "state_delta":
			a.state = first(a.state, value)
		case "requestedToolConfirmations":
			a.confirmations = value
		case "requested_tool_confirmations":
			a.confirmations = first(a.confirmations, value)
		case "requestedAuthConfigs":
			a.credentials = value
		case "requested_auth_configs":
			a.credentials = first(a.credentials, value)
		case "skipSummarization":
			skips = value
		case "skip_summarization":
			skips = first(skips, value)
		case "endInvocation":
			ends = value
		case "end_invocation":
			ends = first(ends, value)
		case "escalate":
			a.escalates, _ = value.Bool()
		}
	}
	a.skips, _ = skips.Bool()
	a.ends, _ = ends.Bool()
	return a
}

type partKind uint8

const (
	partText partKind = iota
	partThought
	partCall
	partResponse
	partCode // code that the model wrote, to be executed
	partCodeResult
	partOther
)

// part is one element of content.parts.
type part struct {
	kind     partKind
	text     strictjson.Value
	id, name strictjson.Value
	body     strictjson.Value // arguments or response; of code and its result, the whole of it
	unknown  strictjson.Value // the name of the member that says what it is, where that is not known
}

// keptParts is how many parts there is room for without taking memory for each frame.
const keptParts = 64

// appendParts reads a frame's parts into the room that those of the frame before had.
func appendParts(parts []part, list strictjson.Value) []part {
	if cap(parts) > keptParts {
		parts = nil
	}
	parts = parts[:0]
	for element := range list.Elements() {
		parts = append(parts, readPart(element))
	}
	return parts
}

func readPart(v strictjson.Value) part {
	if c := v.First("functionCall", "function_call"); c.Exists() {
		return part{kind: partCall, id: c.Get("id"), name: c.Get("name"), body: c.Get("args")}
	}
	if r := v.First("functionResponse", "function_response"); r.Exists() {
		// Rust puts the id beside the response, not into it.
		return part{kind: partResponse, id: first(r.Get("id"), v.Get("id")), name: r.Get("name"), body: r.Get("response")}
	}
	if t := v.Get("text"); t.Kind() == strictjson.String {
		kind := partText
		if isOn(v.Get("thought")) || isMarked(v) {
			kind = partThought
		}
		return part{kind: kind, text: t}
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

func isOn(v strictjson.Value) bool {
	on, _ := v.Bool()
	return on
}

// partMetadata are the members of a part in which an agent, or a converter, says what the protocol has no member for.
var partMetadata = []string{"partMetadata", "part_metadata"}

// isMarked reports whether a part says of itself that it is a thought in other places than the protocol's.
func isMarked(v strictjson.Value) bool {
	said := v.First(partMetadata...)
	return isOn(v.Get("adk_thought")) || isOn(said.Get("adk_thought")) || isOn(said.Get("thought"))
}

// unknownMember returns the name of the first member that the protocol's parts are not known to have. It does not exist where all are.
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
