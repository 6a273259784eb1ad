// Package deepagents decodes the event stream of the DeepAgents streaming API, in which a chat's message is answered: versions 1 and 2.
package deepagents

import (
	"bytes"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Dialect is that of DeepAgents.
type Dialect struct{}

// Name is "deepagents".
func (Dialect) Name() string { return "deepagents" }

// Paths is the one on which a message is answered. A request that resumes a thread is no stream: its work is the answer to
// another message.
func (Dialect) Paths() []dialect.Path {
	return []dialect.Path{{Glob: "/api/chats/*/messages/*/stream"}}
}

// Identify reads the chat, wherever the server is mounted. The stream itself names it too, but only from its first frame on.
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

// Detect knows a frame by its type and the members that every frame of version 2 has; one of version 1 by those of its type. It is
// Sure of a frame that has the members of its type.
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

// hasOwnMembers reports whether a frame has the members of its type. Other programs use the type alone.
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

// isBrokenError knows an error frame whose text was pasted in without escaping.
func isBrokenError(data []byte) bool {
	const head = 256
	data = data[:min(len(data), head)]
	return bytes.HasPrefix(data, []byte("{")) && (bytes.Contains(data, []byte(`"type":"error"`)) || bytes.Contains(data, []byte(`"type": "error"`)))
}

// New starts a stream. It answers one message; a capture may hold the answers to several.
func (Dialect) New(s *event.Stream) dialect.Decoder { return &decoder{oneRun: s.Answer} }
