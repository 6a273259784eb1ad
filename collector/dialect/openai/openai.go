// Package openai decodes the streams of two APIs of OpenAI that many servers implement, the Responses API
// (now Open Responses) and the Chat Completions API, and the events of the OpenAI Agents SDK.
package openai

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Dialect implements dialect.Dialect for the Responses and Chat Completions APIs.
type Dialect struct{}

// Name returns "openai".
func (Dialect) Name() string { return "openai" }

// Paths returns the paths of OpenAI's API. LiteLLM and Foundry also serve them without the version. Azure, Groq and LiteLLM serve them
// below /openai. A GET retrieves a response that another request started.
//
// Source: openai/lib/azure.py of openai 3.54.
func (Dialect) Paths() []dialect.Path {
	return []dialect.Path{
		{Method: http.MethodPost, Glob: "/v1/responses"},
		{Method: http.MethodPost, Glob: "/openai/v1/responses"},
		{Method: http.MethodPost, Glob: "/openai/responses"},
		{Method: http.MethodPost, Glob: "/responses", AllowOthers: true},
		{Method: http.MethodGet, Glob: "/v1/responses/*"},
		{Method: http.MethodGet, Glob: "/openai/v1/responses/*"},
		{Method: http.MethodGet, Glob: "/openai/responses/*"},
		{Method: http.MethodGet, Glob: "/responses/*", AllowOthers: true},
		{Method: http.MethodPost, Glob: "/v1/chat/completions"},
		{Method: http.MethodPost, Glob: "/openai/v1/chat/completions"},
		{Method: http.MethodPost, Glob: "/openai/deployments/*/chat/completions"},
		{Method: http.MethodPost, Glob: "/chat/completions", AllowOthers: true},
	}
}

// Detect recognizes a frame by its type and the members that the type requires. It returns Maybe for an
// error without all members of OpenAI's, because other protocols may send it too.
func (Dialect) Detect(f dialect.Frame) dialect.Match {
	v := f.JSON
	name := v.Get("type").String()
	switch {
	case name == typeRaw:
		if kinds[v.Get("data").Get("type").String()].decode != nil {
			return dialect.Sure
		}
	case name == typeModel && slices.Contains(modelEvents, v.Get("data").Get("type").String()):
		return dialect.Sure
	case name == typeAgentUpdated && nameOf(newAgent(v)).Kind() == strictjson.String,
		name == typeRunItem && v.Get("name").Kind() == strictjson.String && v.Get("item").Kind() > strictjson.Null,
		isChunk(v) && strings.HasSuffix(v.Get("object").String(), typeChunk):
		return dialect.Sure
	case hasDelta(v):
		return dialect.Yes
	case v.Get("choices").Kind() == strictjson.Array:
		return dialect.Maybe
	case kinds[name].decode != nil:
		if v.Get("response").Get("id").Kind() == strictjson.String || v.Get("output_index").Kind() == strictjson.Number {
			return dialect.Sure
		}
		return dialect.Maybe
	case name == typeError && v.Get("message").Kind() == strictjson.String && v.Get("sequence_number").Kind() == strictjson.Number:
		return dialect.Yes
	}
	e := errorOf(dialect.Frame{JSON: v}) // other protocols have an event "error" too
	switch {
	case e.Get("message").Kind() != strictjson.String, v.Get("jsonrpc").Exists():
		return dialect.No
	case e.Get("type").Exists() && e.Get("param").Exists() && e.Get("code").Exists():
		return dialect.Yes
	}
	return dialect.Maybe
}

// isChunk reports whether a frame is a chunk of a completion. A chunk has choices, but one with the usage may lack them. The member
// object is no criterion. Clients do not read it, and servers send different values: "extensions.chat.completion.chunk" (Azure),
// "chat.reasoning" (Perplexity), "text_completion", "" or none.
func isChunk(v strictjson.Value) bool {
	choices, named := v.Get("choices"), v.Get("type")
	lacksChoices := choices.Kind() <= strictjson.Null && !named.Exists() && (v.Get("object").Is(typeChunk) || v.Get("usage").Kind() == strictjson.Object)
	return choices.Kind() == strictjson.Array || lacksChoices
}

// hasDelta reports whether a frame has a choice with a piece of a message.
func hasDelta(v strictjson.Value) bool {
	for choice := range v.Get("choices").Elements() {
		if choice.Get("delta").Kind() == strictjson.Object {
			return true
		}
	}
	return false
}

// Identify reads the path or the body of a request. The results at the end of the body answer calls that an
// earlier response left to the client. A request that retrieves a response gets that response's events
// again.
//
// Source: openai/types/responses/response_create_params.py, response_input_item_param.py and
// chat/completion_create_params.py of openai 3.54.
func (Dialect) Identify(r dialect.Request) event.Identity {
	if response := retrievedResponse(r); response != "" {
		return event.Identity{JoinedRun: response, ReplayedRun: response, InBackground: true}
	}
	body := r.Body
	id := event.Identity{User: dialect.Name(body.Get("user").String())}
	id.InBackground, _ = body.Get("background").Bool()
	switch conversation := body.Get("conversation"); conversation.Kind() {
	case strictjson.String:
		id.Session = dialect.Name(conversation.String())
	case strictjson.Object:
		id.Session = dialect.Name(conversation.Get("id").String())
	}
	id.AnsweredRun = dialect.Name(body.Get("previous_response_id").String())
	for _, item := range trailing(body.Get("messages"), isToolMessage) {
		wire.AddAnswer(&id, item.Get("tool_call_id"))
	}
	for _, item := range trailing(body.Get("input"), isAnswerItem) {
		wire.AddAnswer(&id, item.First("call_id", "approval_request_id", "id")) // local_shell_call_output has the call's ID in "id"
	}
	return id
}

// retrievedResponse returns the ID of the response that a request retrieves, or "". The API may have any
// prefix.
//
// Source: openai/resources/responses/responses.py, retrieve, of openai 3.54.
func retrievedResponse(r dialect.Request) string {
	if before, id := path.Split(r.Path); r.Method == http.MethodGet && strings.HasSuffix(before, "/responses/") {
		return dialect.Name(id)
	}
	return ""
}

func isToolMessage(v strictjson.Value) bool { return v.Get("role").Is("tool") }

func isAnswerItem(v strictjson.Value) bool {
	kind := v.Get("type")
	return isOutput(kind.String()) || kind.Is(approvalResponse)
}

// trailing returns the elements of a list after the last one that does not match.
func trailing(list strictjson.Value, matches func(strictjson.Value) bool) (end []strictjson.Value) {
	for v := range list.Elements() {
		if end = append(end, v); !matches(v) {
			end = end[:0]
		}
	}
	return end
}

// New returns a decoder.
func (Dialect) New(s *event.Stream) dialect.Decoder {
	return &decoder{agent: s.ConfiguredAgent, singleRun: s.SingleRun, joined: s.JoinedRun}
}
