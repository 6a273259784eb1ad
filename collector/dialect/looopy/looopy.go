// Package looopy decodes the event stream of Looopy agents (github.com/looopy-ai/lib), in two formats:
// that of today's servers, and that of the design document and the first server (November 2025).
package looopy

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Dialect implements dialect.Dialect for Looopy.
type Dialect struct{}

// Name returns "looopy".
func (Dialect) Name() string { return "looopy" }

// Paths returns the path of the AWS runtime, which answers one turn, and the paths of a context's
// streams, which continue from turn to turn.
func (Dialect) Paths() []dialect.Path {
	return []dialect.Path{
		{Glob: "/invocations", AllowOthers: true},
		{Glob: "/events/*", MultipleRuns: true},
		{Glob: "/api/contexts/*/stream", MultipleRuns: true},
		{Glob: "/sse/*", MultipleRuns: true},
	}
}

// Detect recognizes an event by its kind and its task. It returns Maybe for frames that are not specific
// enough:
//   - messages with a task, which A2A has too
//   - checkpoints, which other protocols have too
//   - artifact writes without a task, which today's servers send
//
// It returns Sure only for an event that also has the context or a member of its kind: any job queue may
// send a task-complete with a taskId.
func (Dialect) Detect(f dialect.Frame) dialect.Match {
	fr := readFrame(f)
	switch {
	case fr.data.Kind() != strictjson.Object || fr.data.Get("jsonrpc").Exists() || kinds[fr.kind] == nil && !fr.internal:
		return dialect.No
	case fr.kind == kindMessage:
		return maybe(fr.hasTask() && fr.data.Get("message").Kind() == strictjson.Object)
	case fr.internal && !isPrefixed(fr.kind):
		return maybe(fr.hasTask())
	case fr.hasTask() && (fr.internal || fr.hasOwnMember()):
		return dialect.Sure
	case fr.hasTask():
		return dialect.Yes
	}
	return maybe(fr.isArtifact())
}

// hasOwnMember reports whether an event has a timestamp and a member that only few kinds have.
func (fr frame) hasOwnMember() bool {
	own := fr.data.First("contextId", "initiator", "toolCallId", "thoughtId", "delta", "inputId", "authId", "artifactId", "subtaskId", "prompt_tokens")
	return own.Exists() && fr.timestamp.Kind() == strictjson.String
}

func maybe(likely bool) dialect.Match {
	if likely {
		return dialect.Maybe
	}
	return dialect.No
}

// sessionHeader names the context in requests to the AWS runtime, whose bodies do not name it.
const sessionHeader = "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id"

// Identify reads the context, and the answers in a request that resumes a turn. The user is not
// identified, because only the request's token names the user. A GET request only listens to turns.
func (Dialect) Identify(r dialect.Request) event.Identity {
	id := event.Identity{Session: dialect.Name(contextOf(r))}
	if r.Method == http.MethodGet {
		id.JoinedSession = id.Session // every listener to a context gets the same events
		return id
	}
	if r.Body.Get("type").Is("prompt") {
		return id
	}
	for _, list := range []strictjson.Value{r.Body.Get("inputs"), r.Body.Get("credentials")} {
		for entry := range list.Elements() {
			wire.AddAnswer(&id, entry.First("inputId", "authId", "toolCallId"))
		}
	}
	return id
}

// contextOf returns the context that a request names in its header, body, query or path, or "".
func contextOf(r dialect.Request) string {
	if named := cmp.Or(r.Header.Get(sessionHeader), r.Body.Get("contextId").String(), r.Query.Get("contextId")); named != "" {
		return named
	}
	switch segments := strings.Split(strings.Trim(r.Path, "/"), "/"); {
	case len(segments) == 2 && (segments[0] == "events" || segments[0] == "sse" && segments[1] != "stream"):
		return segments[1]
	case len(segments) == 4 && segments[0] == "api" && segments[1] == "contexts" && segments[3] == "stream":
		return segments[2]
	}
	return ""
}

// New returns a decoder. A stream may contain the tasks of many turns and of many agents at once.
func (Dialect) New(s *event.Stream) dialect.Decoder {
	return &decoder{
		singleRun: s.SingleRun,
		listens:   s.JoinedSession != "",
		session:   dialect.Name(s.Session),
		tasks:     newCache[string, *task](maxTasks),
		questions: newCache[string, question](maxQuestions),
		encodings: newCache[string, encoding](maxArtifacts),
	}
}
