// Package looopy decodes the event stream of Looopy agents (github.com/looopy-ai/lib), as their servers send it today and as their
// design document and their first server of November 2025 had it.
package looopy

import (
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Dialect is Looopy's.
type Dialect struct{}

// Name is "looopy".
func (Dialect) Name() string { return "looopy" }

// Paths are that of the AWS runtime, which answers one turn, and those of the streams of a context, which go on from turn to turn.
func (Dialect) Paths() []dialect.Path {
	return []dialect.Path{
		{Glob: "/invocations", Shared: true},
		{Glob: "/events/*", Continues: true},
		{Glob: "/api/contexts/*/stream", Continues: true},
		{Glob: "/sse/*", Continues: true},
	}
}

// Detect knows an event by its kind and its task. Agents of the A2A protocol have messages with a task too, other protocols
// checkpoints, and the artifact store of today's servers leaves the task out: those are a Maybe. It is Sure of an event that has a
// member of its kind or the context too: any queue of jobs may send a task-complete with a taskId.
func (Dialect) Detect(f dialect.Frame) dialect.Match {
	fr := readFrame(f)
	k := kinds[fr.kind]
	switch {
	case fr.data.Kind() != strictjson.Object || fr.data.Get("jsonrpc").Exists() || k == nil && !fr.internal:
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

// hasOwnMember reports whether an event has a timestamp and a member that only a few kinds have.
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

// sessionHeader names the context in requests to the AWS runtime, whose bodies do not.
const sessionHeader = "X-Amzn-Bedrock-AgentCore-Runtime-Session-Id"

// Identify reads the context, and what a request that resumes a turn brings. Who asks stands only in its token.
func (Dialect) Identify(r dialect.Request) event.Identity {
	id := event.Identity{Session: dialect.Name(contextOf(r))}
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

func contextOf(r dialect.Request) string {
	for _, named := range []string{r.Header.Get(sessionHeader), r.Body.Get("contextId").String(), r.Query.Get("contextId")} {
		if named != "" {
			return named
		}
	}
	switch segments := strings.Split(strings.Trim(r.Path, "/"), "/"); {
	case len(segments) == 2 && (segments[0] == "events" || segments[0] == "sse" && segments[1] != "stream"):
		return segments[1]
	case len(segments) == 4 && segments[0] == "api" && segments[1] == "contexts" && segments[3] == "stream":
		return segments[2]
	}
	return ""
}

// New starts a stream. It may hold the tasks of many turns, and of many agents at once.
func (Dialect) New(s *event.Stream) dialect.Decoder {
	return &decoder{
		answer:    s.Answer,
		session:   dialect.Name(s.Session),
		tasks:     remember[*task](maxTasks),
		asked:     remember[question](maxQuestions),
		encodings: remember[encoding](maxArtifacts),
	}
}
