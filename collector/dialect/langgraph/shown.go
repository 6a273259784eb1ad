package langgraph

import (
	"hash/maphash"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// shownSet holds the messages and calls that were read and not withheld. After an unreadable frame, any other
// message or call may be from that frame, so it counts as internal unless the server's metadata comes with it.
type shownSet struct {
	ids     map[uint64]struct{} // hashes of the ids of messages and calls, at most maxSeen
	noted   []uint64            // hashes that the current frame has added to ids
	vouched []strictjson.Value  // messages of the current frame that cannot be from an unreadable one
	missed  missedContent
	isWhole bool // the whole state of the run's own graph was shown, so a message that was not in it is new
}

// missedContent says what the unreadable frames so far may contain.
type missedContent uint8

const (
	missedNothing missedContent = iota
	missedUpdates               // only updates of the run's own graph
	missedAnything
)

// addUnreadable records an unreadable frame.
func (s *shownSet) addUnreadable(f dialect.Frame) {
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

// begin starts a frame. If something is in doubt, it finds the messages that come with the server's metadata.
func (s *shownSet) begin(mode string, v strictjson.Value, inDoubt bool) {
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

// isServerMetadata reports whether metadata has the place in the graph where its message was made. The server
// sends the same metadata with each piece of a message.
func isServerMetadata(v strictjson.Value) bool {
	return len(v.Get("langgraph_node").Text()) > 0 && len(v.Get("langgraph_checkpoint_ns").Text()) > 0
}

// vouchForUpdates accepts the only message of a node's update. A node that repeats other messages usually sends
// several. It may also repeat only the last message of a subgraph, so vouchForUpdates accepts nothing if a
// frame that may be a subgraph's was unreadable.
func (s *shownSet) vouchForUpdates(v strictjson.Value) {
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
func (s *shownSet) note(id strictjson.Value) {
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
func (s *shownSet) noteMessage(v strictjson.Value) {
	s.note(v.Get("id"))
	for c := range callsOf(v) {
		s.note(c.Get("id"))
	}
}

// knowsHistory reports whether all messages of earlier runs were shown, so that any other message is of the current run.
func (s *shownSet) knowsHistory() bool {
	return s.isWhole && s.missed == missedNothing && len(s.ids) < maxSeen
}

// forget removes the ids from an index of noted on, because their messages do not leave.
func (s *shownSet) forget(from int) {
	for _, key := range s.noted[from:] {
		delete(s.ids, key)
	}
	s.noted = s.noted[:from]
}

// remove removes an id, because what it names does not leave.
func (s *shownSet) remove(id string) { delete(s.ids, maphash.String(seed, id)) }

// contains reports whether an id was shown, or noted before.
func (s *shownSet) contains(id strictjson.Value) bool {
	return id.Kind() == strictjson.String && s.containsText(id.Text())
}

func (s *shownSet) containsText(id []byte) bool {
	_, is := s.ids[maphash.Bytes(seed, id)]
	return is
}

// responseTypes are the types and roles of the messages that models and tools write.
var responseTypes = []string{
	"ai", "assistant", "AIMessage", "AIMessageChunk", "tool", "ToolMessage", "ToolMessageChunk", "function", "FunctionMessage", "FunctionMessageChunk",
	"chat", "ChatMessage", "ChatMessageChunk",
}

// isFromMissed reports whether a message may be from an unreadable frame, or the result of a call in one. For a
// result, only the call decides: the server's metadata is that of the node that executes the tool.
func (s *shownSet) isFromMissed(v strictjson.Value, isResponse, isResult bool) bool {
	switch {
	case s.missed == missedNothing || !isResponse && !isResult || s.contains(v.Get("id")):
		return false
	case isResult || isToolResult(v):
		return !s.contains(v.Get("tool_call_id"))
	}
	return !slices.Contains(s.vouched, v)
}

// resultTypes are those of the responseTypes that are results of tools.
var resultTypes = []string{"tool", "ToolMessage", "ToolMessageChunk", "function", "FunctionMessage", "FunctionMessageChunk"}

func isToolResult(message strictjson.Value) bool {
	return lenient.MatchesAny(message.First("type", "role").Text(), resultTypes)
}
