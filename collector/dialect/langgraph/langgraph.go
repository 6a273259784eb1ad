// Package langgraph decodes the streams of LangGraph's server (`langgraph dev`, LangGraph Platform). Their
// SSE event names are stream modes. The server also serves agents of LangChain's deepagents library; the
// package deepagents reads another API of a similar name.
//
// Source: langgraph_api/stream.py and langgraph_api/api/runs.py of langgraph-api 0.16.
package langgraph

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Dialect implements dialect.Dialect for LangGraph's server.
type Dialect struct{}

// Name returns "langgraph".
func (Dialect) Name() string { return "langgraph" }

// Paths returns the paths that start a run and those that join one.
func (Dialect) Paths() []dialect.Path {
	return []dialect.Path{
		{Method: http.MethodPost, Glob: "/runs/stream"},
		{Method: http.MethodPost, Glob: "/threads/*/runs/stream"},
		{Method: http.MethodGet, Glob: "/threads/*/runs/*/stream", MultipleRuns: true},
		{Method: http.MethodGet, Glob: "/threads/*/stream", MultipleRuns: true},
	}
}

// resumes stands for the answer in a request that resumes the thread's interrupted run without naming the
// question.
const resumes = "resume"

// Segments of paths.
const (
	threads = "threads"
	runs    = "runs"
	stream  = "stream"
)

// interruptID matches the id of an interrupt. A request may answer several interrupts by their ids.
//
// Source: langgraph/pregel/_loop.py, map_resume: keys of `resume` that are hashes (xxh3, 128 bits).
var interruptID = regexp.MustCompile(`^[0-9a-f]{32}$`)

// Identify reads the thread from the path, and the answers from the command in the body.
func (Dialect) Identify(r dialect.Request) event.Identity {
	var id event.Identity
	thread, joined := splitPath(r.Path)
	id.Session, id.JoinedRun = dialect.Name(thread), dialect.Name(joined)
	id.ReplayedRun = id.JoinedRun
	if r.Method != http.MethodPost {
		if joined == "" {
			id.JoinedSession = id.Session
		}
		return id
	}
	answer := r.Body.Get("command").Get("resume")
	for name := range answer.Members() {
		if interruptID.Match(name.Text()) {
			wire.AddAnswer(&id, name)
		}
	}
	if thread != "" && (answer.Exists() || r.Body.Get("input").Kind() <= strictjson.Null) && len(id.Answers) < wire.MaxAnswers {
		id.Answers = append(id.Answers, resumes)
	}
	return id
}

// splitPath returns the thread and the joined run of a path, which may have any prefix.
func splitPath(path string) (thread, joined string) {
	segments := strings.Split(path, "/")
	i := slices.Index(segments, threads)
	if i < 0 || i+2 >= len(segments) || segments[len(segments)-1] != stream {
		return "", ""
	}
	thread = segments[i+1]
	if rest := segments[i+2:]; len(rest) == 3 && rest[0] == runs {
		joined = rest[1]
	}
	return thread, joined
}

var uuid = regexp.MustCompile(`^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$`)

func isUUID(s string) bool { return uuid.MatchString(s) }

// Detect recognizes a frame by its event name together with members that only this server sends. The
// names alone are ordinary words.
func (Dialect) Detect(f dialect.Frame) dialect.Match {
	mode, _ := splitEvent(f.Event)
	v := f.JSON
	if isProtocolEvent(v) {
		return dialect.No
	}
	switch mode {
	case modeMetadata:
		if id := v.Get("run_id").String(); id != "" && v.Get("attempt").Kind() == strictjson.Number || isUUID(id) && v.Get("status").Kind() == strictjson.String {
			return dialect.Sure
		}
	case modeMessages:
		if message, metadata := tuple(v); isMessage(message) && metadata.Get("langgraph_node").Kind() == strictjson.String {
			return dialect.Sure
		}
	case modeMessagesMetadata:
		for _, entry := range v.Members() {
			if entry.Get("metadata").Get("langgraph_node").Kind() == strictjson.String {
				return dialect.Sure
			}
		}
	case modeMessagesPartial, modeMessagesComplete:
		for message := range v.Elements() {
			if isMessage(message) {
				return dialect.Sure
			}
		}
	case modeEvents:
		if strings.HasPrefix(v.Get("event").String(), "on_") && v.Get("metadata").Get("langgraph_api_version").Exists() {
			return dialect.Sure
		}
	case modeDebug:
		if v.Get("step").Kind() == strictjson.Number && v.Get("payload").Kind() == strictjson.Object && !dialect.TextTime(v.Get("timestamp")).IsZero() {
			return dialect.Sure
		}
	case modeTasks, modeCheckpoints:
		if isTask(v) || v.Get("config").Get("configurable").Get("thread_id").Kind() == strictjson.String {
			return dialect.Yes
		}
	case modeUpdates, modeValues:
		if v.Kind() == strictjson.Object {
			return dialect.Maybe
		}
	case modeError:
		if v.Get("error").Kind() == strictjson.String && v.Get("message").Kind() == strictjson.String {
			return dialect.Maybe
		}
	}
	return dialect.No
}

// isProtocolEvent reports whether a frame is of the newer protocol, which this package does not read. Its
// SSE event names include values, updates and messages too.
//
// Source: langgraph_api/api/event_streaming.py.
func isProtocolEvent(v strictjson.Value) bool {
	return v.Get("type").Is("event") && v.Get("method").Kind() == strictjson.String && v.Get("params").Kind() == strictjson.Object
}

func isMessage(v strictjson.Value) bool {
	return v.Get("type").Kind() == strictjson.String && v.Get("content").Exists() && v.Get("id").Exists()
}

func isTask(v strictjson.Value) bool {
	return v.Get("id").Kind() == strictjson.String && v.Get("name").Kind() == strictjson.String &&
		(v.Get("triggers").Kind() == strictjson.Array || v.Get("interrupts").Kind() == strictjson.Array)
}

// New returns a decoder. The stream of a thread contains one run after the other. The run's own agent has the
// configured name until the stream names it.
func (Dialect) New(s *event.Stream) dialect.Decoder {
	isAnswer, joins := slices.Contains(s.Answers, resumes), s.JoinedRun+s.JoinedSession != ""
	return &decoder{
		run: s.JoinedRun, session: s.Session, configured: s.ConfiguredAgent, resumes: isAnswer, mayContinue: isAnswer || joins || s.Session == "" && !s.NewRun, joins: joins,
		resumption: newResumption(s),
	}
}

// uuidKey returns the same key for all spellings of a UUID that the server accepts.
//
// Source: langgraph_runtime_inmem/inmem_stream.py, _ensure_uuid; uuid.UUID of Python.
func uuidKey(id string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("{}-", r) {
			return -1
		}
		return r
	}, strings.NewReplacer("urn:", "", "uuid:", "").Replace(strings.ToLower(id)))
}
