package agui

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

type decoder struct {
	run, session  string
	ownName       string // name of the run's own agent: the configured one until a transfer
	configured    string
	wholeCalls    bool              // a call is reported with its arguments, when they are whole
	shared        bool              // another stream may bring the same runs
	ended         bool              // the run has ended; only an error may follow
	failed        bool              // it has ended with an error; LangGraph's adapter then ends it again, with LangGraph's ID
	filtered      bool              // the filter withholds the current frame because of a name or a mark in it
	markedState   bool              // something in the state is, or may be, marked as a thought
	authors       wire.Authors[key] // of the messages and thoughts of all runs, by messageKey, and of each owner's phase of reasoning
	cutActivities wire.Set[string]  // ids of activities of which the client lacks a message
	thoughts      wire.Set[string]  // ids of messages that are thoughts and of activities with thoughts, in all runs; a snapshot may repeat their text without a mark
	withheld      wire.Set[key]     // entities with an ID of which a frame was withheld, in all runs
	left          wire.Set[key]     // messages, calls and the like that left, in all runs
	missedStart   bool              // an unreadable frame may have begun an entity
	runWithheld   bool              // the start of the run, or of the last one, was withheld
	outer         *outerRun         // the run around it, or nil
	staleState    bool              // a frame of the state was withheld, and no snapshot of it has left since
	runState

	names wire.NameCache
}

// runState is the state of the current run.
type runState struct {
	agents             agents
	steps              steps
	messages           messages
	calls              calls
	turn               turn
	answeredBySnapshot map[string]bool // ids of calls whose results were read from a snapshot
	nestedRuns         []string        // ids of the open runs within the run
	interrupted        bool            // an on_interrupt event was seen, which predates the protocol's interrupts
	interruptPrompt    string          // of that event
	chunkTargets       chunkTargets
	transferredBy      string        // name of the run's own agent before the last transfer
	hasTransferred     bool          // the run's own agent has transferred control
	seen               wire.Set[key] // entities with a beginning that left
	nameless           wire.Set[key] // entities without a unique ID of which a frame was withheld, until they end
}

func (d *decoder) reset() {
	d.ended, d.failed, d.runState, d.ownName = false, false, runState{}, d.configured
}

func (d *decoder) Decode(f dialect.Frame, b *event.Batch) {
	d.decode(f, b)
	if d.shared && b.Run != "" {
		b.ContentHash = wire.ContentHash(f)
		k := kindOf(f.JSON)
		b.Piece = k != nil && k.piece
	}
}

func (d *decoder) decode(f dialect.Frame, b *event.Batch) {
	v := f.JSON
	named := v.Get("type")
	b.Run, b.Session = d.run, d.session
	k := kindOf(v)
	switch {
	case !v.Exists():
		b.Rejected = f.Malformed
		d.missStart(f, b)
		d.staleState = d.staleState || isBroken(f.Data, "STATE_")
		if isBroken(f.Data, typeRunError) {
			b.Add(event.KindError).Error = event.AgentError
		}
		return
	case isBareError(v):
		b.Type = typeError
		d.runError(v, b)
		return
	case named.Kind() != strictjson.String, k != nil && misspellsLink(k, v):
		b.Rejected = event.ReasonShape
		d.missStart(f, b)
		return
	}
	b.Time = eventTime(v.Get("timestamp"))
	if k == nil {
		d.missStart(f, b)
		b.UnknownKind = dialect.UnknownKind(named.Text())
		b.Add(event.KindOther)
		return
	}
	if b.Type = k.name; k.name == typeCustom && v.Get("name").Is(manualState) {
		b.Type = typeStateCopy
	}
	b.Internal = lenient.CheckNames(b, prefilter) == event.NamesInternal || isMarkedInternal(v) || encodesInternal(b.Type, v)
	d.filtered = wire.IsFiltered(b, prefilter) || b.Internal
	d.decodeKind(k, v, b)
}

// decodeKind decodes a frame of a known type.
func (d *decoder) decodeKind(k *kind, v strictjson.Value, b *event.Batch) {
	defer d.endsRun(k, v, b)()
	b.HasThoughts = d.isMarkedWork(k, v) || statesThought(v) || hasEncrypted(v)
	d.speaker(v).apply(b)
	if k.endsChunks {
		d.messages.closeChunked(d.owner(v), k.endsAllChunks)
	}
	if k.idMember != "" || k.endsChunks {
		d.chunkTargets.note(k, d.name(v.Get(k.idMember)), d.owner(v))
	}
	d.noteTurn(k, v)
	d.learnTargets(v)
	this := d.keyOf(k, v)
	verdict := d.check(k, this, v)
	b.Internal = b.Internal || verdict == verdictInternal || instructs(k, v)
	if k.decode(d, v, b); verdict == verdictOrphan {
		b.Type = typeOrphan
	}
	d.setAuthors(k, v, b)
	d.cutResult(k, v, b)
	if k.state && d.isStale(k, b) {
		b.Type = typeOrphan
	}
	d.note(k, this, v, b)
	if !b.Partial {
		d.reportClosed(b)
	}
	if len(b.Events) == 0 {
		b.Add(event.KindOther)
	}
	if k.name == typeRaw {
		d.startLearned(b)
	}
}

// eventTime returns the time of an event. The protocol specifies milliseconds. Some producers send seconds: as whole numbers, they do not
// show how long anything took.
func eventTime(timestamp strictjson.Value) time.Time {
	at := wire.NumberTime(timestamp)
	if n, isWhole := timestamp.Int(); isWhole && n == at.Unix() {
		return time.Time{}
	}
	return at
}

// instructs reports whether a frame is withheld because it has a role of instructions for models. The start and the end of a run leave in
// part.
func instructs(k *kind, v strictjson.Value) bool {
	return k.name != typeRunStarted && k.name != typeRunFinished && isInstruction(v)
}

// isBroken reports whether unreadable data looks like an event with a type that begins so, such as a RUN_ERROR with a message that was not
// escaped.
func isBroken(data []byte, typeStart string) bool {
	const head = 256
	_, value, _ := bytes.Cut(data[:min(len(data), head)], []byte(`"type"`))
	return bytes.HasPrefix(data, []byte("{")) && bytes.HasPrefix(bytes.TrimLeft(value, ": \t\r\n"), []byte(`"`+typeStart))
}

// runStarted starts a run. A run that the current run started on the same stream is an agent of the
// current run.
func (d *decoder) runStarted(v strictjson.Value, b *event.Batch) {
	run, parent, nested := d.nestedRun(v)
	if !nested {
		d.withholdRun(run)
	} else if d.filtered {
		d.withhold(key{entity: entitySubagent, id: run})
	}
	b.Internal = b.Internal || d.runWithheld || nested && d.isWithheldID(entitySubagent, run)
	if !nested && (d.ended || d.run != "" && run != d.run) {
		d.reset()
		d.ownAgent().apply(b)
	}
	if d.hasWithheldInput(v) {
		b.Type = typeRunWithInput
	} else if !b.Internal && !d.filtered {
		d.noteListed(v, true)
	}
	if nested {
		d.startNested(run, parent, b)
		return
	}
	d.run, d.session = run, d.name(v.Get("threadId"))
	b.Run, b.Session = d.run, d.session
	b.Add(event.KindRunStarted)
}

// withholdRun notes whether a run that starts is withheld. If it is, and does not name the open run as its parent, the open run goes on
// after it.
func (d *decoder) withholdRun(run string) {
	hasLeft := !d.runWithheld
	d.runWithheld = d.filtered || d.runWithheld && run == d.run && !d.ended
	switch {
	case !d.runWithheld:
		d.outer = nil
	case hasLeft && d.run != "" && run != d.run && !d.ended:
		d.outer = &outerRun{d.run, d.session, d.ownName, run, d.runState}
	}
}

// runFinished ends a run with its outcome. A run with an unknown outcome stays incomplete.
func (d *decoder) runFinished(v strictjson.Value, b *event.Batch) {
	if d.cutQuestions(v, b) || isInstruction(v) {
		b.Type = typeRunWithQuestion
	}
	current, legacy := questionLists(v)
	hideArguments(current, b)
	hideArguments(legacy, b)
	if d.endNested(v, b) || d.endsWithheldRun(v) {
		return
	}
	if run := d.memberOf(v, runIDs); !d.failed && (d.run == "" || d.ended && run != d.run) {
		d.run, d.session, d.ended = run, d.name(v.Get("threadId")), false // the start was not seen
		b.Run, b.Session = d.run, d.session
	}
	outcome := outcomeOf(v)
	d.reportLastClosed(outcome == outcomeSucceeded || outcome == outcomeUnknown, b)
	d.reportAllUnended(b)
	switch outcome {
	case outcomeInterrupted:
		d.requestInputs(v, b)
	case outcomeSucceeded, outcomeUnknown:
		d.requestLegacyInput(b)
		d.reportPendingCalls(v.Get("outcome").Get("pendingToolCallIds"), b)
	default:
		b.Add(event.KindError).Error = outcome.failure()
	}
	if outcome == outcomeUnknown {
		d.addUsage(v.Get("usage"), b)
		d.stop()
		return
	}
	d.end(outcome.failure(), "", v, b)
}

// end ends the run. Only a late error or another run can follow.
func (d *decoder) end(failure event.Failure, code string, v strictjson.Value, b *event.Batch) {
	d.addUsage(v.Get("usage"), b)
	if !d.ended || failure != event.NoFailure {
		e := b.Add(event.KindRunEnded)
		e.Error, e.Code = failure, code
		e.AwaitsOutcome = failure == event.NoFailure // RUN_ERROR may follow
	}
	failed := d.failed || failure != event.NoFailure
	d.stop()
	d.failed = failed
}

// stop forgets the run.
func (d *decoder) stop() {
	d.reset()
	d.ended = true
}

// runError ends the run with an error. If the error says that the target of a transfer does not exist, the agent that transferred control
// has failed.
func (d *decoder) runError(v strictjson.Value, b *event.Batch) {
	failure, missing := event.AgentError, d.missingTarget(v)
	if slices.ContainsFunc(stopCodes, v.Get("code").Is) {
		failure = event.FailureCanceled
	}
	if missing != "" {
		d.ownName = d.transferredBy
		d.ownAgent().apply(b)
	}
	d.reportLastClosed(false, b)
	d.reportAllUnended(b)
	e := b.Add(event.KindError)
	e.Error, e.Code, e.Name = failure, errorCode(v), missing
	d.end(failure, e.Code, v, b)
}

// stopCodes are the codes with which CopilotKit's runtime, and the protocol's client in it, say that a user has stopped the run.
//
// Source: packages/runtime/src/v2/runtime/handlers/handle-stop.ts of CopilotKit 1.75; transform/http.ts of @ag-ui/client 1.0.
var stopCodes = []string{"STOPPED", "abort"}

// missingTarget returns the target of the last transfer, if an error says that ADK does not find it.
//
// Source: google/adk/workflow/_dynamic_node_scheduler.py and flows/llm_flows/core/_function_call_postprocessor.py of google-adk 2.13.
func (d *decoder) missingTarget(v strictjson.Value) string {
	message := v.Get("message").String()
	if target := d.ownName; d.hasTransferred && (strings.Contains(message, " '"+target+"' not found") || strings.Contains(message, "Agent "+target+" not found")) {
		return target
	}
	return ""
}

// errorCode returns the code of an error event, or "".
func errorCode(v strictjson.Value) string {
	return wire.MostSpecific(wire.Code(v.Get("code")), wire.ErrorCode(v.First("message", "error")))
}

// maxModels limits the models whose tokens are reported per run.
const maxModels = 32

// addUsage reports the usage per model of a run, unless the run has ended: a second end or a late error states the same total. The
// protocol has no usage per response.
func (d *decoder) addUsage(usage strictjson.Value, b *event.Batch) {
	if d.ended {
		return
	}
	n := 0
	for entry := range usage.Elements() {
		used := readUsage(entry)
		if used == (event.Usage{}) || n == maxModels {
			continue
		}
		n++
		e := b.Add(event.KindUsage)
		e.Model, e.Usage = d.name(entry.Get("model")), used
	}
}

func (d *decoder) stateSnapshot(v strictjson.Value, b *event.Batch) {
	if snapshot := v.Get("snapshot"); snapshot.Exists() {
		b.Add(event.KindState).SetState(wire.StateOf(snapshot))
	}
}

func (d *decoder) stateDelta(v strictjson.Value, b *event.Batch) {
	b.Add(event.KindState).SetState(readPatch(v.Get("delta")))
}

// isStale reports whether a frame changes a state that the client does not have. All runs and agents of a stream share the state.
func (d *decoder) isStale(k *kind, b *event.Batch) bool {
	isStale := k.name == typeStateDelta && d.staleState
	d.staleState = isStale || b.Internal || d.filtered
	return isStale
}

// activitySnapshot reports an activity as an artifact that contains data.
func (d *decoder) activitySnapshot(v strictjson.Value, b *event.Batch) {
	size := event.Count{}
	content := v.Get("content")
	if content.Exists() {
		size = event.Count{N: int64(len(content.Raw())), Known: true}
	}
	b.Internal = d.cutNested(v, "messageId", b) || b.Internal
	d.addActivity(v, event.Artifact{Bytes: size}, event.Piece{Kind: event.PieceData, Value: content}, b)
}

// activityDelta reports a change to an activity. Its size is unknown, because the patch does not say how large the
// activity becomes.
func (d *decoder) activityDelta(v strictjson.Value, b *event.Batch) {
	patch := event.Piece{Kind: event.PiecePatch}
	if said := v.Get("patch"); said.Kind() == strictjson.Array {
		patch.Value = said
	}
	b.Internal = b.Internal || d.cutActivities.MayContain(d.name(v.Get("messageId"))) || addsWithheld(v.Get("patch"))
	d.addActivity(v, event.Artifact{Append: true}, patch, b)
}

// addActivity reports a write to an activity. It leaves out empty content, which may be a placeholder for content that
// was removed.
func (d *decoder) addActivity(v strictjson.Value, a event.Artifact, piece event.Piece, b *event.Batch) {
	e := b.Add(event.KindArtifact)
	e.ID, e.Name = d.name(v.Get("messageId")), d.name(v.Get("activityType"))
	a.Kind = event.ArtifactData
	e.Artifact = a
	if piece.Value.Len() > 0 {
		e.AddPiece(piece)
	}
}

// raw marks a RAW event internal: it is an event of the agent's framework and was never reviewed for
// clients.
func (d *decoder) raw(v strictjson.Value, b *event.Batch) {
	b.Internal = true
	d.noteTask(v, b)
}

func (d *decoder) other(strictjson.Value, *event.Batch) {}

// thought reports a piece of a thought. No frame repeats the whole thought.
func (d *decoder) thought(v strictjson.Value, b *event.Batch) {
	b.AddText(event.KindThought, v.Get("delta"))
	b.NameTexts(d.name(v.Get("messageId")))
}

// name returns a string of the wire, cut to dialect.MaxName.
func (d *decoder) name(v strictjson.Value) string { return d.names.Name(v) }
