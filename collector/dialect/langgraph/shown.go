package langgraph

import (
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// shownSet holds the messages and calls that were read and not withheld. After an unreadable frame, any other
// message or call may be from that frame, so it counts as internal unless the server's metadata comes with it.
type shownSet struct {
	ids      map[uint64]uint64  // by the hash of an id: the last fingerprint of its message, or 0 if it is unknown; at most maxSeen
	noted    []notedID          // what the current frame has changed in ids
	vouched  []strictjson.Value // messages of the current frame that cannot be from an unreadable one
	missed   missedContent
	isWhole  bool // the whole state of the run's own graph was shown, so a message that was not in it is new
	isPieces bool // the current frame has pieces of messages
}

// notedID holds the value that an entry of shownSet.ids had before the current frame.
type notedID struct {
	key, before uint64
	wasShown    bool
}

// missedContent says what the unreadable frames so far may contain.
type missedContent uint8

const (
	missedNothing missedContent = iota
	missedHistory               // messages of earlier runs
	missedUpdates               // only updates of the run's own graph
	missedAnything
)

// noteUnreadable records an unreadable frame, and what its name says.
func (d *decoder) noteUnreadable(f dialect.Frame, mode string, namespace []byte) {
	if len(namespace) > 0 && kinds[mode].read != nil {
		d.notePlaces(namespace, mode, f.JSON)
		d.graphAt(namespace)
	}
	d.beginLost(f, mode, namespace)
	d.noteOpenWork()
	if f.MayContainObject() {
		isInternal := anySegment(namespace, isInternalNode) || d.isPlacedInAgent(namespace, mode, f.JSON) || d.isGraphOfWithheldCall(namespace, "")
		d.shown.addUnreadable(mode, namespace, isInternal)
	}
}

// addUnreadable records an unreadable frame. isInternal says that its name shows internal work.
func (s *shownSet) addUnreadable(mode string, namespace []byte, isInternal bool) {
	switch {
	case mode == modeMetadata, mode == modeError, mode == modeEnd, mode == modeFeedback: // without messages
	case mode == modeValues && !isInternal: // the next state has the same messages again, with their IDs and names
	case mode == modeUpdates && len(namespace) == 0:
		s.missed = max(s.missed, missedUpdates)
	default:
		s.missed = missedAnything
	}
}

// continueThread takes over what earlier runs of the thread have shown if a frame of them was unreadable. What else their history has may be
// from that frame.
func (s *shownSet) continueThread(history *shownSet) {
	if history.missed != missedNothing {
		s.ids, s.missed = maps.Clone(history.ids), missedHistory
	}
}

// addShown adds what another stream has shown and missed.
func (s *shownSet) addShown(other *shownSet) {
	s.missed, s.isWhole = max(s.missed, other.missed), s.isWhole || other.isWhole
	if s.ids == nil && len(other.ids) > 0 {
		s.ids = make(map[uint64]uint64)
	}
	for id, fingerprint := range other.ids {
		if _, is := s.ids[id]; !is && !s.isFull() {
			s.ids[id] = fingerprint
		}
	}
}

// size returns the approximate size in bytes.
func (s *shownSet) size() int {
	const ofID = 32
	return ofID * len(s.ids)
}

// begin starts a frame. If something is in doubt, it finds the messages that come with the server's metadata.
func (s *shownSet) begin(mode string, v strictjson.Value, inDoubt bool) {
	s.noted, s.vouched = s.noted[:0], s.vouched[:0]
	s.isPieces = mode == modeMessages || mode == modeMessagesPartial || mode == modeEvents && lenient.HasSuffix(v.Get("event").Text(), "stream")
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
				s.note(id, 0)
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

// doubtRepeats accepts only models' messages of a node that runs a graph. The others may be messages of that graph, which the node repeats when
// it ends.
func (d *decoder) doubtRepeats(namespace []byte, mode string, v strictjson.Value) {
	var places []string
	switch {
	case len(d.shown.vouched) == 0:
	case mode == modeMessages:
		_, metadata := tuple(v)
		places = append(places, string(d.placeIn(metadata)))
	case mode == modeUpdates:
		for node := range v.Members() {
			places = append(places, strings.TrimPrefix(string(namespace)+"|"+node.String(), "|"))
		}
	}
	if slices.ContainsFunc(places, d.runsGraph) {
		d.shown.vouched = slices.DeleteFunc(d.shown.vouched, func(m strictjson.Value) bool {
			return !isFromModel(m) && !lenient.HasSuffix(m.Get("type").Text(), "chunk")
		})
	}
}

// runsGraph reports whether a task, or a node, has shown a graph within it.
func (d *decoder) runsGraph(place string) bool {
	for namespace := range d.scopes {
		if rest, is := strings.CutPrefix(namespace, place); is && place != "" && (rest == "" || strings.ContainsRune(":|", rune(rest[0]))) {
			return true
		}
	}
	return false
}

// note records an id and the fingerprint of its message, if that is known. The id counts as shown unless forget removes it.
func (s *shownSet) note(id strictjson.Value, fingerprint uint64) {
	if id.Kind() != strictjson.String {
		return
	}
	key := maphash.Bytes(seed, id.Text())
	before, wasShown := s.ids[key]
	if wasShown && (fingerprint == 0 || fingerprint == before) || !wasShown && s.isFull() {
		return
	}
	if s.ids == nil {
		s.ids = make(map[uint64]uint64)
	}
	s.ids[key] = fingerprint
	s.noted = append(s.noted, notedID{key, before, wasShown})
}

// noteMessage records the ids of a message and of its calls.
func (s *shownSet) noteMessage(v strictjson.Value) {
	var content uint64
	if !s.isPieces && !lenient.HasSuffix(v.Get("type").Text(), "chunk") {
		content = fingerprint(v)
	}
	s.note(v.Get("id"), content)
	for _, c := range callsOf(v) {
		s.note(c.Get("id"), 0)
	}
}

// fingerprint returns a hash of what a message says. It is never 0.
func fingerprint(message strictjson.Value) uint64 {
	hash := wire.ExactHash(message.Get("content"))
	for i, name := range []string{"tool_calls", "additional_kwargs", "artifact"} {
		if member := message.Get(name); member.Len() > 0 || len(member.Text()) > 0 {
			hash += uint64(2*i+3) * wire.ExactHash(member)
		}
	}
	return hash | 1
}

// repeats reports whether a message was shown before with the same content.
func (s *shownSet) repeats(v strictjson.Value) bool {
	return s.contains(v.Get("id")) && s.ids[maphash.Bytes(seed, v.Get("id").Text())] == fingerprint(v)
}

// replaces reports whether the message that was last shown with the same id had another content, or may have had one.
func (s *shownSet) replaces(v strictjson.Value) bool {
	if !s.contains(v.Get("id")) {
		return s.isFull()
	}
	return !slices.Contains([]uint64{0, fingerprint(v)}, s.ids[maphash.Bytes(seed, v.Get("id").Text())])
}

// hasOnlyPieces reports whether only pieces of a message were shown, or may have been, so that it is unknown whether another version has
// the same content.
func (s *shownSet) hasOnlyPieces(id strictjson.Value) bool {
	if !s.contains(id) {
		return s.isFull()
	}
	return s.ids[maphash.Bytes(seed, id.Text())] == 0
}

// endHistory records that a whole state of the run's own graph was judged. All its messages are known from then on.
func (s *shownSet) endHistory() {
	s.isWhole = true
	if s.missed == missedHistory {
		s.missed = missedNothing
	}
}

// isFull reports whether there may be messages that were shown but are not in the set.
func (s *shownSet) isFull() bool { return len(s.ids) >= maxSeen }

// knowsHistory reports whether all messages of earlier runs were shown. Any other message is of the current run, or one of those that did
// not fit into the set.
func (s *shownSet) knowsHistory() bool { return s.isWhole && s.missed == missedNothing }

// forget removes the ids from an index of noted on, because their messages do not leave.
func (s *shownSet) forget(from int) {
	for _, n := range slices.Backward(s.noted[from:]) {
		if n.wasShown {
			s.ids[n.key] = n.before
		} else {
			delete(s.ids, n.key)
		}
	}
	s.noted = s.noted[:from]
}

// remove makes an id count as not shown, because what it names does not leave.
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
