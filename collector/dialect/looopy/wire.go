package looopy

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// frame is what any event may say of itself, found in one pass.
type frame struct {
	data     strictjson.Value
	kind     string // of kinds, or whatever stood there
	internal bool
	misnamed bool // its kind is no string
	id       []byte

	context, task, parent, path, timestamp, metadata strictjson.Value
}

func readFrame(f dialect.Frame) frame {
	fr := frame{data: f.JSON, id: f.ID}
	var kind strictjson.Value
	for name, value := range f.JSON.Members() {
		if value.Kind() <= strictjson.Null {
			continue
		}
		switch string(name.Text()) {
		case "kind":
			kind = value
		case "contextId":
			fr.context = value
		case "taskId":
			fr.task = value
		case "parentTaskId":
			fr.parent = value
		case "path":
			fr.path = value
		case "timestamp":
			fr.timestamp = value
		case "metadata":
			fr.metadata = value
		}
	}
	// Today's servers take the kind out of the data and leave it in the event name; the design document has it in both, but for
	// internal events, whose event name has no prefix. So either is enough to call a frame internal.
	said := f.Event
	if kind.Exists() {
		said, fr.misnamed = kind.Text(), kind.Kind() != strictjson.String
	}
	fr.internal = isInternal(said) || isInternal(f.Event)
	if k := kinds[string(said)]; k != nil {
		fr.kind = k.name
	} else {
		fr.kind = dialect.Name(string(said))
	}
	return fr
}

const prefix = "internal"

// bare are the internal kinds whose names without the prefix no other kind has.
var bare = [][]byte{[]byte("llm-call"), []byte("checkpoint"), []byte("thought-process"), []byte("tool-message")}

// isInternal judges a name as its most generous reader would: the servers' own filter let "Internal:" pass.
func isInternal(name []byte) bool {
	if kinds[string(name)] != nil {
		return false
	}
	name = bytes.TrimSpace(name)
	if len(name) >= len(prefix) && bytes.EqualFold(name[:len(prefix)], []byte(prefix)) {
		return true
	}
	for _, b := range bare {
		if bytes.EqualFold(name, b) {
			return true
		}
	}
	return false
}

// isPrefixed says whether an internal kind is so in full, by which it is surely Looopy's.
func isPrefixed(kind string) bool {
	head, rest, found := strings.Cut(strings.TrimSpace(kind), ":")
	return found && rest != "" && strings.EqualFold(head, prefix)
}

func (fr frame) hasTask() bool { return len(fr.task.Text()) > 0 }

// isArtifact says whether a frame writes an artifact: the only ones that today's servers send without a task.
func (fr frame) isArtifact() bool {
	k := kinds[fr.kind]
	return k != nil && k.artifact != "" && len(fr.data.Get("artifactId").Text()) > 0
}

func (fr frame) isEvent() bool {
	return fr.data.Kind() == strictjson.Object && !fr.misnamed && (fr.hasTask() || fr.isArtifact())
}

// Elements of a path name the agents and the tool that an event came through, the outermost first.
const agentElement = "agent:"

// agentOf is the name of the agent that speaks, "" where a path names none.
func agentOf(path strictjson.Value) []byte {
	var agent []byte
	for element := range path.Elements() {
		if name, found := bytes.CutPrefix(element.Text(), []byte(agentElement)); found {
			agent = name
		}
	}
	return agent
}

// contextOfID is the context in a frame's id: what stands before the last dash, which a counter follows or, where the server does
// not buffer, the time in milliseconds.
func contextOfID(id []byte) []byte {
	dash := bytes.LastIndexByte(id, '-')
	if dash <= 0 || dash == len(id)-1 || !utf8.Valid(id) {
		return nil
	}
	for _, c := range id[dash+1:] {
		if c < '0' || c > '9' {
			return nil
		}
	}
	return id[:dash]
}

// readUsage reads the counts of a model's response, which bear the names of the chat completions API.
func readUsage(v strictjson.Value) event.Usage {
	usage := event.Usage{
		Input:     dialect.Count(v.Get("prompt_tokens")),
		Output:    dialect.Count(v.Get("completion_tokens")),
		Reasoning: dialect.Count(v.Get("completion_tokens_details").Get("reasoning_tokens")),
		CacheRead: dialect.Count(v.Get("prompt_tokens_details").Get("cached_tokens")),
	}
	if !usage.CacheRead.Known {
		usage.CacheRead = dialect.Count(v.Get("cache_read_input_tokens"))
	}
	return wire.WithTotal(usage, dialect.Count(v.Get("total_tokens")))
}

// errorCode returns the code of what failed, or "". The protocol has no field for one, but a reason, and the words of an error.
func (fr frame) errorCode() string {
	return wire.Specific(wire.Code(fr.metadata.Get("reason")), wire.ErrorCode(fr.metadata.Get("error")), wire.ErrorCode(fr.data.First("error", "message")))
}

// took is how long it was that a frame ends, by its own word.
func (fr frame) took() event.Duration {
	return dialect.Duration(fr.metadata.Get("duration"), time.Millisecond)
}

// iterations returns how many rounds the loop of the task took that a frame ends, by its own word.
func (fr frame) iterations() event.Count { return dialect.Count(fr.metadata.Get("iterations")) }
