package langgraph

import (
	"hash/maphash"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// shown tracks the messages and calls of frames that were read and not withheld. After an unreadable frame,
// any other message or call may be from that frame, so it counts as internal, unless the server's metadata
// comes with it.
type shown struct {
	ids     map[uint64]struct{} // hashes of the ids of messages and calls, at most maxSeen
	noted   []uint64            // those that are new in the frame, or the part of it, that is being judged
	vouched []strictjson.Value  // messages of the frame that come with the server's metadata
	missed  missed
	isWhole bool // the run's own graph has shown all of its state: a message that is new after that was not in it
}

// missed says what may be in the unreadable frames so far.
type missed uint8

const (
	missedNothing missed = iota
	missedUpdates        // only updates of the run's own graph
	missedAnything
)

// addUnreadable records an unreadable frame.
func (s *shown) addUnreadable(f dialect.Frame) {
	switch mode, namespace := splitEvent(f.Event); {
	case !f.MayContainObject():
	case mode == modeMetadata, mode == modeError, mode == modeEnd, mode == modeFeedback: // without messages
	case mode == modeValues: // each state repeats the messages of the one before, with all that is known of them
		s.isWhole = false
	case mode == modeUpdates && len(namespace) == 0:
		s.missed = max(s.missed, missedUpdates)
	default:
		s.missed = missedAnything
	}
}

// begin starts a frame: it finds the messages that come with the server's metadata. They are only needed if something
// is in doubt.
func (s *shown) begin(mode string, v strictjson.Value, inDoubt bool) {
	s.noted, s.vouched = s.noted[:0], s.vouched[:0]
	if s.missed == missedNothing && !inDoubt && mode != modeMessagesMetadata {
		return
	}
	switch mode {
	case modeMessages:
		if message, metadata := tuple(v); isServerMetadata(metadata) {
			s.vouched = append(s.vouched, message)
		}
	case modeEvents:
		if isServerMetadata(v.Get("metadata")) {
			s.vouched = append(s.vouched, v.Get("data").Get("chunk"), v.Get("data").Get("output"))
		}
	case modeMessagesMetadata:
		for id, entry := range v.Members() {
			if isServerMetadata(entry.Get("metadata")) {
				s.note(id)
			}
		}
	case modeUpdates:
		s.vouchForUpdates(v)
	}
}

// isServerMetadata reports whether metadata says where in the graph its message was made. The server sends
// the same with each piece of a message.
func isServerMetadata(v strictjson.Value) bool {
	return len(v.Get("langgraph_node").Text()) > 0 && len(v.Get("langgraph_checkpoint_ns").Text()) > 0
}

// vouchForUpdates accepts the only message of a node's update. A node that repeats the messages of others
// sends several, unless it only returns the last message of a graph below it, whose updates have a namespace.
func (s *shown) vouchForUpdates(v strictjson.Value) {
	if s.missed == missedAnything {
		return
	}
	for _, update := range v.Members() {
		for _, one := range append(elementsOf(update), update) {
			messages := one.Get("messages")
			switch {
			case messages.Kind() == strictjson.Object:
				s.vouched = append(s.vouched, messages)
			case messages.Len() == 1:
				s.vouched = slices.AppendSeq(s.vouched, messages.Elements())
			}
		}
	}
}

// note records an id, which counts as shown unless forget removes it.
func (s *shown) note(id strictjson.Value) {
	if id.Kind() != strictjson.String || len(s.ids) >= maxSeen || s.contains(id) {
		return
	}
	if s.ids == nil {
		s.ids = make(map[uint64]struct{})
	}
	key := maphash.Bytes(seed, id.Text())
	s.ids[key] = struct{}{}
	s.noted = append(s.noted, key)
}

// noteMessage records the ids of a message and of its calls.
func (s *shown) noteMessage(v strictjson.Value) {
	s.note(v.Get("id"))
	for c := range callsOf(v) {
		s.note(c.Get("id"))
	}
}

// knowsHistory reports whether a message that was not shown is of the run itself, instead of an earlier one.
func (s *shown) knowsHistory() bool {
	return s.isWhole && s.missed == missedNothing && len(s.ids) < maxSeen
}

// mark returns the place of the next id in noted.
func (s *shown) mark() int { return len(s.noted) }

// forget removes the ids from a place on: what had them does not leave.
func (s *shown) forget(from int) {
	for _, key := range s.noted[from:] {
		delete(s.ids, key)
	}
	s.noted = s.noted[:from]
}

// contains reports whether an id was shown, or noted before.
func (s *shown) contains(id strictjson.Value) bool {
	return id.Kind() == strictjson.String && s.containsText(id.Text())
}

func (s *shown) containsText(id []byte) bool {
	_, is := s.ids[maphash.Bytes(seed, id)]
	return is
}

// responseTypes are the types of the messages that models and tools make, and their roles.
var responseTypes = []string{
	"ai", "assistant", "AIMessage", "AIMessageChunk", "tool", "ToolMessage", "ToolMessageChunk", "function", "FunctionMessage", "FunctionMessageChunk",
	"chat", "ChatMessage", "ChatMessageChunk",
}

// isFromMissed reports whether a message may be from an unreadable frame, or the result of a call in it. A
// result needs the request: the metadata of a result is that of the node that runs the tool.
func (s *shown) isFromMissed(v strictjson.Value, isResponse, isResult bool) bool {
	switch {
	case s.missed == missedNothing || !isResponse && !isResult || s.contains(v.Get("id")):
		return false
	case isResult || lenient.MatchesAny(v.First("type", "role").Text(), resultTypes):
		return !s.contains(v.Get("tool_call_id"))
	}
	return !slices.Contains(s.vouched, v)
}

// resultTypes are those of the responseTypes that are results of tools.
var resultTypes = []string{"tool", "ToolMessage", "ToolMessageChunk", "function", "FunctionMessage", "FunctionMessageChunk"}
