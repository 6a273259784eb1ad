package a2a

import (
	"cmp"
	"iter"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// itemKey identifies a message, an artifact of a task, or a call of an ADK agent.
type itemKey struct {
	kind itemKind
	task string // of an artifact
	id   string
}

type itemKind uint8

const (
	itemMessage itemKind = iota
	itemArtifact
	itemCall
)

// items says which items of a stream were withheld.
type items struct {
	withheld     map[itemKey]bool    // at most wire.MaxSet; the value is false if other pieces of the item may leave
	isFull       bool                // more were withheld
	events       wire.Recent[string] // withheld events of ADK agents
	tasks        wire.Set[string]    // tasks that are marked themselves
	begun        wire.Set[itemKey]   // artifacts of which the beginning left
	begunCalls   wire.Set[itemKey]
	leftMessages wire.Recent[itemKey]
	unread       bool // a frame was unreadable, so it may have begun any item
}

// withhold remembers an item, except for a message without an ID.
func (s *items) withhold(key itemKey, whole bool) {
	if key == (itemKey{}) {
		return
	}
	if _, known := s.withheld[key]; !known && len(s.withheld) >= wire.MaxSet {
		s.isFull = true
		return
	}
	if s.withheld == nil {
		s.withheld = make(map[itemKey]bool)
	}
	s.withheld[key] = s.withheld[key] || whole
}

var prefilter = lenient.NewPrefilter(&table)

// checkInternal marks a frame internal if it continues an item of a withheld frame. It remembers the items of the frame. begins says that it is
// the first snapshot of a new task. Only in that one, all marks are the task's own: later snapshots have the metadata of statuses too.
func (d *decoder) checkInternal(f dialect.Frame, u update, contents []content, begins bool, b *event.Batch) {
	if b.Rejected != "" {
		d.items.unread = d.items.unread || f.MayContainObject()
	}
	switch b.Internal = b.Internal || u.internalBeside || hasInternalHistory(f.JSON, u); {
	case !u.body.Exists(), b.Internal, wire.IsFiltered(b, prefilter):
		if begins && isMarkedOutside(f, u) {
			d.items.tasks.Add(d.taskID(u.body))
		}
		d.items.addWithheld(u, contents, u.shape != shapeTask || marksAll(f, u, contents), d.eventID(u))
	case !d.items.areContinuedBy(u, contents, d.eventID(u)) && !d.items.tasks.MayContain(d.taskID(u.body)):
		d.items.addReleased(contents, u.appends() && d.mayHaveBegunBefore(u))
	default:
		d.items.addWithheld(u, contents, u.shape != shapeTask, d.eventID(u))
		if b.Internal = !u.stops(); !b.Internal {
			cutToState(f.JSON, b)
		}
	}
}

// taskID returns the ID of the task that an update is about, or "".
func (d *decoder) taskID(body strictjson.Value) string {
	return cmp.Or(d.idOf(body, taskIDs), d.name(body.Get("id")))
}

// eventID returns the ID of the ADK event in an update, or "".
func (d *decoder) eventID(u update) string {
	return d.name(readADKMetadata(u.body.Get("metadata"), u.body.Get("artifact").Get("metadata"), u.body.Get("status").Get("message").Get("metadata")).event)
}

var histories = []string{"history"}

// hasInternalHistory reports whether a history has a message that is marked as internal. The marks in a message of the user are those of the
// caller, which servers repeat.
func hasInternalHistory(frame strictjson.Value, u update) bool {
	for _, around := range []strictjson.Value{frame, frame.Get("result"), u.body} {
		for name, value := range around.Members() {
			if !lenient.MatchesAny(name.Text(), histories) {
				continue
			}
			if value.Kind() == strictjson.Object && lenient.HasInternalDiscriminator(&table, value) {
				return true
			}
			for message := range value.Elements() {
				if !isOfUser(message) && lenient.HasInternalDiscriminator(&table, message) {
					return true
				}
			}
		}
	}
	return false
}

// isOfUser reports whether a message is certainly from the user.
func isOfUser(message strictjson.Value) bool {
	role := message.Get("role")
	return role.Is("user") || role.Is("ROLE_USER")
}

// outerTable is for checking an object without the messages and artifacts in it.
var outerTable = event.Table{
	Discriminators: table.Discriminators, NameMembers: table.NameMembers,
	DeepMembers: table.DeepMembers, DeepStrings: table.DeepStrings, OpaqueMembers: table.OpaqueMembers,
	EncodedMembers: table.EncodedMembers, EntryKeys: table.EntryKeys,
	Envelopes: slices.Concat(wire.ADKCustom, relayEnvelopes),
}

// marksAll reports whether a withheld snapshot is internal itself, and not only some of its messages and artifacts.
func marksAll(f dialect.Frame, u update, contents []content) bool {
	return isMarkedOutside(f, u) || isMarkedAround(u.body.Get("status")) || !slices.ContainsFunc(contents, content.isMarked)
}

// isMarkedOutside reports whether an update is marked as internal outside of its messages, artifacts and status.
func isMarkedOutside(f dialect.Frame, u update) bool {
	return u.internalBeside || lenient.IsInternal(f.Event) ||
		slices.ContainsFunc([]strictjson.Value{f.JSON, f.JSON.Get("result"), u.body}, isMarkedAround)
}

// isMarkedAround reports whether an object is marked as internal outside of the messages and artifacts in it.
func isMarkedAround(v strictjson.Value) bool {
	return lenient.HasInternalDiscriminator(&outerTable, v)
}

// isMarked reports whether a message or an artifact is marked as internal.
func (c content) isMarked() bool { return lenient.HasInternalDiscriminator(&table, c.object()) }

// calls yields the calls that a message or an artifact names, and whether they begin there. A request to confirm a call names that call too.
func (c content) calls() iter.Seq2[itemKey, bool] {
	return func(yield func(itemKey, bool) bool) {
		for v := range c.parts.list.Elements() {
			p := readData(v, v.Get("data"), v.Get("metadata"))
			begins := p.kind == partCall || p.kind == partCode
			if !begins && p.kind != partResponse && p.kind != partCodeResult {
				continue
			}
			ids := []strictjson.Value{p.data.Get("id")}
			if args := p.data.Get("args"); p.kind == partCall && wire.PausesCall(p.data.Get("name").String()) {
				ids = append(ids, args.First("originalFunctionCall", "original_function_call").Get("id"), args.First("functionCallId", "function_call_id"))
			}
			for i, id := range ids {
				if name := dialect.Name(id.String()); name != "" && !yield(itemKey{kind: itemCall, id: name}, begins && i == 0) {
					return
				}
			}
		}
	}
}

// appends reports whether an update adds to an artifact.
func (u update) appends() bool { return wire.MayBeTrue(u.body.Get("append")) }

// addWithheld remembers the items of a withheld frame, and the ADK event in it. Unless all is set, it remembers only those that are marked.
// The rest of an artifact may leave if it has begun and the frame is a snapshot that does not mark the artifact, or a piece by an ADK agent,
// which marks each of an artifact's events.
func (s *items) addWithheld(u update, contents []content, all bool, eventID string) {
	if all && eventID != "" {
		s.events.Add(eventID)
	}
	isPart := u.shape == shapeTask || u.appends() && readADKMetadata(u.body.Get("metadata"), u.body.Get("artifact").Get("metadata")).isEvent
	for _, c := range contents {
		isMarked := u.shape == shapeTask && c.isMarked()
		if !all && !isMarked {
			continue
		}
		s.withhold(c.id, isMarked || !isPart || !s.begun.Contains(c.id))
		for call, begins := range c.calls() {
			if begins && !s.begunCalls.Contains(call) {
				s.withhold(call, true)
			}
		}
	}
}

// addReleased remembers the messages, artifacts and calls of a frame that leaves. arePieces says that the artifacts may have begun before the stream.
func (s *items) addReleased(contents []content, arePieces bool) {
	for _, c := range contents {
		switch {
		case c.id.kind == itemMessage && c.id.id != "":
			s.leftMessages.Add(c.id)
		case c.id.kind == itemArtifact && !arePieces:
			s.begun.Add(c.id)
		}
		for call, begins := range c.calls() {
			if begins {
				s.begunCalls.Add(call)
			}
		}
	}
}

// areContinuedBy reports whether an update repeats or continues an item that was withheld, or may. The ending status of Python's servers has
// the ID of the last event, but may repeat an earlier message.
//
// Source: google/adk/a2a/executor/a2a_agent_executor.py of google-adk 2.13, final_metadata.
func (s *items) areContinuedBy(u update, contents []content, eventID string) bool {
	if s.events.Contains(eventID) && !(u.shape == shapeStatus && len(contents) == 1 && s.leftMessages.Contains(contents[0].id)) {
		return true
	}
	if len(s.withheld) == 0 && !s.unread {
		return false
	}
	isSnapshot := u.shape == shapeTask
	for _, c := range contents {
		isPiece := c.id.kind == itemArtifact && u.appends()
		whole, known := s.withheld[c.id]
		isNew := !known && !s.begun.Contains(c.id)
		if known && (whole || !isPiece) || isNew && (isPiece && (s.unread || s.isFull) || isSnapshot && s.isFull) {
			return true
		}
		for call, begins := range c.calls() {
			if _, known := s.withheld[call]; known || s.isFull && !begins && !s.begunCalls.Contains(call) {
				return true
			}
		}
	}
	return false
}

// stops reports whether an update states that its task has ended or waits. A reader that missed that would wait for more.
func (u update) stops() bool {
	s := states[u.body.Get("status").Get("state").String()]
	return (s.isFinal() || s.isWaiting()) && !u.misplaced
}

var (
	// stateMembers are the members of an update that state what its task does, and stateEnvelopes the objects in which they are.
	stateMembers   = []string{"jsonrpc", "id", "kind", "taskId", "contextId", "final", "state", "timestamp"}
	stateEnvelopes = []string{"result", "task", "statusUpdate", "status"}
)

// cutToState withholds all of an update except the state of its task.
func cutToState(v strictjson.Value, b *event.Batch) {
	for name, value := range v.Members() {
		switch text := string(name.Text()); {
		case slices.Contains(stateEnvelopes, text) && value.Kind() == strictjson.Object:
			cutToState(value, b)
		case !slices.Contains(stateMembers, text) || !isScalar(value):
			b.Cut(value)
		}
	}
}
