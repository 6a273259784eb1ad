// Package aisdk decodes the UI message streams of Vercel's AI SDK (github.com/vercel/ai), version 1 of
// the protocol, which the SDK sends and reads since version 5. Other servers send it too, such as
// pydantic-ai.
package aisdk

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

// Dialect implements dialect.Dialect for the AI SDK.
type Dialect struct{}

// Name returns "aisdk".
func (Dialect) Name() string { return "aisdk" }

// Paths returns the path that the SDK's clients use by default, and the path at which they resume an
// answer that another request began.
//
// Source: ai/src/ui/http-chat-transport.ts.
func (Dialect) Paths() []dialect.Path {
	return []dialect.Path{
		{Method: http.MethodPost, Glob: chatPath, AllowOthers: true},
		{Method: http.MethodGet, Glob: chatPath + "/*/stream", AllowOthers: true},
	}
}

const chatPath = "/api/chat"

// Detect recognizes a chunk by its type and required members. It returns Maybe for types that other
// protocols could use too, except for a start with a message ID, which is Sure.
func (Dialect) Detect(f dialect.Frame) dialect.Match {
	k := kindOf(f.JSON)
	if k == nil {
		return dialect.No
	}
	for _, name := range k.required {
		if f.JSON.Get(name).Kind() != strictjson.String {
			return dialect.No
		}
	}
	for _, name := range k.present {
		if !f.JSON.Get(name).Exists() {
			return dialect.No
		}
	}
	if k.ambiguous && !namesMessage(f.JSON) {
		return dialect.Maybe
	}
	return dialect.Sure
}

// namesMessage reports whether v is a start with the ID of its message, and without members that the
// protocol does not have.
func namesMessage(v strictjson.Value) bool {
	known := 2
	if v.Get("messageMetadata").Exists() {
		known++
	}
	return v.Get("type").Is(typeStart) && v.Get("messageId").Kind() == strictjson.String && v.Len() == known
}

// Identify reads a chat request, whose ID is that of the chat. It has all messages, or only the last one: the SDK's guide replaces
// the request's body so. If the last message is the assistant's, its parts contain the user's decisions and the results of the page's
// own tools. A request that resumes a stream joins the chat's current answer, whose ID only the stream contains.
//
// Source: ai/src/ui/http-chat-transport.ts and ui-messages.ts; docs/04-ai-sdk-ui/03-chatbot-message-persistence.mdx.
func (Dialect) Identify(r dialect.Request) event.Identity {
	if chat := resumedChat(r); chat != "" {
		return event.Identity{Session: chat, JoinedRun: chat, ReplayedRun: chat}
	}
	var id event.Identity
	messages, last := r.Body.Get("messages"), r.Body.Get("message")
	hasAll := messages.Kind() == strictjson.Array
	if hasAll {
		last = strictjson.Value{}
		for message := range messages.Elements() {
			last = message
		}
	}
	isMessage := last.Get("role").Kind() == strictjson.String && last.Get("parts").Kind() == strictjson.Array
	switch chat := dialect.Name(r.Body.Get("id").String()); {
	case hasAll && slices.ContainsFunc(triggers, r.Body.Get("trigger").Is):
		id.Session, id.RequestDialect = chat, "aisdk"
	case isMessage && (r.Unambiguous || r.Path == chatPath):
		id.Session = chat
	}
	if !last.Get("role").Is("assistant") {
		return id
	}
	var answers []strictjson.Value
	for part := range last.Get("parts").Elements() {
		switch state := part.Get("state"); {
		case state.Is("approval-responded"):
			answers = append(answers, part.Get("approval").Get("id"))
		case state.Is("output-available"), state.Is("output-error"):
			answers = append(answers, part.Get("toolCallId"))
		}
	}
	for _, answer := range answers[max(0, len(answers)-wire.MaxAnswers):] { // the newest ones
		wire.AddAnswer(&id, answer)
	}
	return id
}

// triggers are the reasons why a client asks for an answer.
var triggers = []string{"submit-message", "regenerate-message"}

// resumedChat returns the chat whose answer a request resumes, or "". Other protocols serve streams with
// such names too, except below the default path.
func resumedChat(r dialect.Request) string {
	before, isStream := strings.CutSuffix(r.Path, "/stream")
	api, chat := path.Split(before)
	if r.Method != http.MethodGet || !isStream || api != chatPath+"/" && !r.Unambiguous {
		return ""
	}
	return dialect.Name(chat)
}

// New returns a decoder.
func (Dialect) New(s *event.Stream) dialect.Decoder {
	return &decoder{agent: s.ConfiguredAgent}
}
