// Package deepagents decodes the DeepAgents streaming API, versions 1 and 2. With this private HTTP API,
// known from a design document, a server answers a chat message. LangGraph serves agents of LangChain's
// deepagents library: see the package langgraph.
package deepagents

import (
	"regexp"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Dialect implements dialect.Dialect for DeepAgents.
type Dialect struct{}

// Name returns "deepagents".
func (Dialect) Name() string { return "deepagents" }

// OtherName returns "langgraph", which serves the agents of LangChain's deepagents library.
func (Dialect) OtherName() string { return "langgraph" }

// Paths returns the path that answers a message. The request that resumes a thread gets no stream: see
// readStart.
func (Dialect) Paths() []dialect.Path {
	return []dialect.Path{{Glob: "/api/chats/*/messages/*/stream"}}
}

// Identify reads the chat from the path, wherever the server is mounted. The stream names it too,
// but only in its first frame.
func (Dialect) Identify(r dialect.Request) event.Identity {
	const chats, chat, messages, stream, tail = 0, 1, 2, 4, 5
	path := strings.Split(r.Path, "/")
	if len(path) < tail {
		return event.Identity{}
	}
	path = path[len(path)-tail:]
	if path[chats] != "chats" || path[messages] != "messages" || path[stream] != "stream" {
		return event.Identity{}
	}
	return event.Identity{Session: dialect.Name(path[chat])}
}

// Detect recognizes a frame of version 2 by its type and the members that every frame has, and a
// frame of version 1 by the members of its type. It returns Sure only for a frame with the members
// of its type.
func (Dialect) Detect(f dialect.Frame) dialect.Match {
	v := f.JSON
	kind := v.Get("type")
	if _, known := readers[string(kind.Text())]; !known {
		return dialect.No
	}
	dated := v.Get("id").Kind() == strictjson.String && !dialect.TextTime(v.Get("ts")).IsZero()
	versioned := v.Get("v").Kind() == strictjson.Number
	switch {
	case dated && (versioned || !v.Get("v").Exists()) && hasOwnMembers(v):
		return dialect.Sure
	case dated && versioned:
		return dialect.Yes
	case dated || kind.Is(typeError) && v.Get("error").Exists():
		return dialect.Maybe
	}
	return dialect.No
}

// hasOwnMembers reports whether a frame has the members that its type requires. The type alone could
// be another program's.
func hasOwnMembers(v strictjson.Value) bool {
	is := func(kind strictjson.Kind, names ...string) bool {
		return !slices.ContainsFunc(names, func(name string) bool { return v.Get(name).Kind() != kind })
	}
	switch v.Get("type").String() {
	case typeStart:
		return is(strictjson.String, "message_id", "chat_id")
	case typeToolStart, typeToolEnd:
		return is(strictjson.String, "call_id", "name")
	case typePlan:
		return is(strictjson.Array, "items")
	case typeContent:
		return is(strictjson.String, "md")
	case typeEnd:
		return is(strictjson.String, "status") && is(strictjson.Number, "ms_total")
	}
	return false
}

// brokenError matches the beginning of an error frame. Before its type, it has only members that every frame has, and nothing
// that could contain another frame.
var brokenError = regexp.MustCompile(`^\{\s*(?:"(?:v|id|ts|agent_type|agent_id|parent_call_id)"\s*:\s*(?:"[^"\\]*"|[\w.]+)\s*,\s*)*"type"\s*:\s*"error"\s*[,}]`)

// isBrokenError reports whether data looks like an error frame whose text was inserted without
// escaping.
func isBrokenError(data []byte) bool {
	const head = 512
	return brokenError.Match(data[:min(len(data), head)])
}

// New returns a decoder. A stream answers one message, but a recording may contain several answers.
func (Dialect) New(s *event.Stream) dialect.Decoder { return &decoder{singleRun: s.SingleRun} }
