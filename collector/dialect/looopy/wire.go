package looopy

import (
	"bytes"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// frame holds the members that any event may have. They are found in one pass.
type frame struct {
	data     strictjson.Value
	kind     string // a name in kinds, or the unknown name
	internal bool
	badKind  bool // its kind is not a string
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
	// Today's servers move the kind from the data to the event name. The design document has it in
	// both, except that the event name of an internal event lacks the prefix. So either one is
	// enough to make a frame internal.
	name := f.Event
	if kind.Exists() {
		name, fr.badKind = kind.Text(), kind.Kind() != strictjson.String
	}
	fr.internal = isInternal(name) || isInternal(f.Event)
	if k := kinds[string(name)]; k != nil {
		fr.kind = k.name
	} else {
		fr.kind = dialect.Name(string(name))
	}
	return fr
}

const internalPrefix = "internal"

// unprefixedInternal are the names that only internal kinds have, so that these are internal even
// without the prefix.
var unprefixedInternal = [][]byte{[]byte("llm-call"), []byte("checkpoint"), []byte("thought-process"), []byte("tool-message")}

// isInternal reads a name as leniently as possible: the servers' own filter let "Internal:" pass.
func isInternal(name []byte) bool {
	if kinds[string(name)] != nil {
		return false
	}
	name = bytes.TrimSpace(name)
	if len(name) >= len(internalPrefix) && bytes.EqualFold(name[:len(internalPrefix)], []byte(internalPrefix)) {
		return true
	}
	return slices.ContainsFunc(unprefixedInternal, func(internal []byte) bool { return bytes.EqualFold(name, internal) })
}

// isPrefixed reports whether an internal kind has the full prefix, which only Looopy uses.
func isPrefixed(kind string) bool {
	head, rest, found := strings.Cut(strings.TrimSpace(kind), ":")
	return found && rest != "" && strings.EqualFold(head, internalPrefix)
}

func (fr frame) hasTask() bool { return len(fr.task.Text()) > 0 }

// isArtifact reports whether a frame writes an artifact. Only these frames lack a task on today's
// servers.
func (fr frame) isArtifact() bool {
	k := kinds[fr.kind]
	return k != nil && k.writesArtifact && len(fr.data.Get("artifactId").Text()) > 0
}

func (fr frame) isEvent() bool {
	return fr.data.Kind() == strictjson.Object && !fr.badKind && (fr.hasTask() || fr.isArtifact())
}

// agentElement is the prefix of agents in a path. A path lists the agents and the tool that an
// event passed through, outermost first.
const agentElement = "agent:"

// agentOf returns the innermost agent of a path, or nil.
func agentOf(path strictjson.Value) []byte {
	var agent []byte
	for element := range path.Elements() {
		if name, found := bytes.CutPrefix(element.Text(), []byte(agentElement)); found {
			agent = name
		}
	}
	return agent
}

// contextOfID returns the context in a frame's id: the part before the last dash. After the dash comes a
// counter or, if the server does not buffer, the time in milliseconds.
func contextOfID(id []byte) []byte {
	dash := bytes.LastIndexByte(id, '-')
	if dash <= 0 || dash == len(id)-1 || !utf8.Valid(id) {
		return nil
	}
	if len(bytes.Trim(id[dash+1:], "0123456789")) > 0 {
		return nil
	}
	return id[:dash]
}

// readUsage reads the token counts of a model response, which have the names of the chat
// completions API.
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

// errorCode returns the code of a failure, or "". The protocol has no field for it, only a reason
// and the text of the error.
func (fr frame) errorCode() string {
	return wire.MostSpecific(wire.Code(fr.metadata.Get("reason")), wire.ErrorCode(fr.metadata.Get("error")), wire.ErrorCode(fr.data.First("error", "message")))
}

// duration returns the reported duration of the call or task that the frame ends.
func (fr frame) duration() event.Duration {
	return dialect.Duration(fr.metadata.Get("duration"), time.Millisecond)
}

// iterations returns the reported number of loop iterations of the task that the frame ends.
func (fr frame) iterations() event.Count { return dialect.Count(fr.metadata.Get("iterations")) }
