package agui

import (
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

type decoder struct {
	run, session    string
	ownName         string // name of the run's own agent: the configured one until a transfer
	configured      string
	wholeCalls      bool               // a call is reported with its arguments, when they are whole
	shared          bool               // another stream may bring the same runs
	ended           bool               // the run has ended; only an error may follow
	failed          bool               // it has ended with an error; LangGraph's adapter then ends it again, with LangGraph's ID
	runWithheld     bool               // the start of the run, or of the last one, was withheld
	workLeft        bool               // when the last run ended, something internal may have gone on
	missedStart     bool               // a withheld or unreadable frame may have started an entity
	isMarked        bool               // the current frame has a mark of internal frames that the filter does not read
	filtered        bool               // the filter withholds the current frame because of a name or a mark in it
	startWithheld   bool               // the current frame is withheld and may start an entity
	isInternalEvent bool               // LangChain's event in the current frame is of an internal agent or node
	values          wire.WithheldTexts // of withheld states, questions and descriptions
	texts           wire.WithheldTexts
	copies          copies
	answers         copies // of internal delegates
	asked           askedCalls
	unread          unread      // what unreadable frames may have started
	withheld        withheldSet // of all runs of the stream
	staleState      bool        // the client may lack the current state: a frame of the state was withheld, or may have been, and no snapshot of it has left since
	stateShapes     shapes
	activityShapes  shapes // of all activities; the first token of a path is the activity's ID
	activityData    activityData
	pieces          pieces
	wholeTexts      wholeTexts
	markedState     bool              // something in the state is, or may be, marked as a thought
	authors         wire.Authors[key] // of the messages and thoughts of all runs, by messageKey, and of each owner's phase of reasoning
	shownMessages   wire.Set[string]  // ids of messages of which text left, in all runs
	knownToClient   wire.Set[string]  // ids of messages that left, or that the client sent, in all runs
	cutActivities   wire.Set[string]  // ids of activities of which the client lacks a message
	thoughts        wire.Set[string]  // ids of messages that are thoughts and of activities with thoughts, in all runs; a snapshot may repeat their text without a mark
	runState

	names wire.NameCache
}

// runState is the state of the current run.
type runState struct {
	agents             agents
	steps              steps
	messages           messages
	calls              calls
	listed             listedCalls
	turn               turn
	missedTransfer     bool            // a transfer is not in calls
	missedDelegation   bool            // a call that delegates is not in calls, or a run not in memberRuns
	answeredBySnapshot map[string]bool // ids of calls whose results were read from a snapshot
	memberRuns         []memberRun     // open runs of internal members
	nestedRuns         []string        // ids of the open runs within the run
	interrupted        bool            // an on_interrupt event was seen, which predates the protocol's interrupts
	interruptPrompt    string          // of that event
	starts             starts
	chunkTargets       chunkTargets
	questions          questionPlaces
	secondStarts       secondStarts
	unanswered         wire.Set[string] // calls of withheld messages of lists that have no result
	answered           wire.Set[string] // calls that have one
	withheldListed     wire.Set[key]    // messages of snapshots that are withheld, and their calls
}

func (d *decoder) reset() {
	d.ended, d.failed, d.runState, d.ownName = false, false, runState{}, d.configured
}

func (d *decoder) Decode(f dialect.Frame, b *event.Batch) {
	d.decode(f, b)
	if d.shared && b.Run != "" {
		b.ContentHash = wire.ContentHash(f)
		k := kinds[string(f.JSON.Get("type").Text())]
		b.Piece = k != nil && k.piece
	}
}

func (d *decoder) decode(f dialect.Frame, b *event.Batch) {
	v := f.JSON
	named := v.Get("type")
	b.Run, b.Session = d.run, d.session
	switch {
	case !v.Exists():
		b.Rejected = f.Malformed
		d.withholdUnknown(v, b)
		d.addUnread(f)
		if isBrokenError(f.Data) {
			b.Add(event.KindError).Error = event.AgentError
		}
		return
	case isBareError(v):
		b.Type, b.PublicForm = typeError, d.runWithheld || d.mayFailInternally(v) || d.mayQuote(v)
		d.runError(v, b)
		return
	case named.Kind() != strictjson.String:
		b.Rejected = event.ReasonShape
		d.withholdUnknown(v, b)
		d.addUnread(f)
		return
	}
	b.Time = wire.NumberTime(v.Get("timestamp")) // the protocol specifies milliseconds; some producers send seconds
	switch k := kinds[string(named.Text())]; {
	case k == nil:
		d.withholdUnknown(v, b)
		b.UnknownKind = dialect.UnknownKind(named.Text())
		b.Add(event.KindOther)
	case misspellsLink(k, v):
		b.Rejected = event.ReasonShape
		d.withholdUnknown(v, b)
		d.addUnread(f)
	default:
		b.Type = k.name
		d.isMarked = isMarkedInternal(v) || encodesInternal(k, v) || isOfInternalAgent(k, v)
		d.filtered = wire.IsFiltered(b, prefilter) || d.isMarked
		d.decodeKind(k, f, b)
	}
}

// decodeKind decodes a frame of a known type.
func (d *decoder) decodeKind(k *kind, f dialect.Frame, b *event.Batch) {
	v := f.JSON
	b.HasThoughts = d.isMarkedWork(k, v) || statesThought(v) || hasEncrypted(v)
	d.speaker(v).apply(b)
	if k.endsChunks {
		d.unread.endChunks(d.owner(v))
		d.messages.closeChunked(d.owner(v), k.endsAllChunks)
	}
	if k.idMember != "" || k.endsChunks {
		d.chunkTargets.note(k, d.name(v.Get(k.idMember)), d.owner(v))
	}
	d.noteTurn(k, v)
	d.readWork(v)
	if isOfAgno(k, v) {
		d.noteMember(v.Get("event"))
	}
	if !k.isWork() && k.entity != entityStep && k.name != typeRaw {
		d.hideNamedDelegates(v)
	}
	if k.name == typeToolResult {
		d.hideAnswerOfUnknown(v)
	}
	verdict := d.checkStart(k, f)
	isPiece := verdict == verdictPass && k.name != typeToolResult && (d.isInternalPiece(k, v) || d.isOfSecondStart(k, v))
	if d.addPiece(k, v, isPiece); isPiece {
		d.withholdPiece(k, v, b)
		return
	}
	d.startWithheld = verdict == verdictInternal || k.name == typeRunStarted && d.filtered
	b.PublicForm = d.quotesWithheld(k, v, b)
	switch k.decode(d, v, b); verdict {
	case verdictInternal:
		b.Internal = true
	case verdictOrphan:
		b.Type = typeOrphan
	}
	if k.name == typeToolResult {
		d.listed.know(d.name(v.Get("toolCallId")))
	} else if !k.isWork() && k.name != typeRaw {
		d.noteListedCalls(v)
	}
	d.setAuthors(k, v, b)
	d.withholdAtEnd(k, v, b)
	b.Internal = b.Internal || d.isMarked
	if k.state && d.withholdsState(k, f, b) {
		b.Type = typeOrphan
	}
	isWithheld := b.Internal || b.Type == typeOrphan || d.filtered || b.PublicForm
	d.addResultCopy(k, v, isWithheld)
	if k.entity == entityActivity {
		d.activityData.note(v, isWithheld)
	}
	if isWithheld || len(b.Cuts) > 0 || b.Type != k.name {
		d.rememberNested(k, v, b)
	}
	if isWithheld {
		d.rememberWithheld(k, v)
		d.noteInternalWork(k)
		d.addWithheldTexts(k, v, b)
		d.addWithheldValues(v, b)
	} else {
		d.addLeft(k, v)
	}
	d.addCutValues(k, v, b)
	if !b.Partial {
		d.reportClosed(b)
	}
	if len(b.Events) == 0 {
		b.Add(event.KindOther)
	}
}

// runStarted starts a run. A run that the current run started on the same stream is an agent of the
// current run.
func (d *decoder) runStarted(v strictjson.Value, b *event.Batch) {
	run, parent, nested := d.nestedRun(v)
	if !nested && (d.ended || d.run != "" && run != d.run) {
		d.reset()
		d.runWithheld, d.workLeft = false, false
		d.ownAgent().apply(b)
	}
	d.runWithheld = d.runWithheld && (nested || d.run != "") // else the start of the run before was unreadable
	if d.hasWithheldInput(v, b) {
		b.Type = typeRunWithInput
	}
	d.starts.named.Add(key{entity: entitySubagent, id: run})
	if nested {
		d.startNested(run, parent, b)
		return
	}
	if d.startWithheld {
		d.runWithheld = true
		d.withhold(key{entity: entitySubagent, id: run})
	}
	d.run, d.session = run, d.name(v.Get("threadId"))
	d.asked.again.SetScopes(d.session)
	b.Run, b.Session = d.run, d.session
	b.Add(event.KindRunStarted)
}

// runFinished ends a run with its outcome. A run with an unknown outcome stays incomplete.
func (d *decoder) runFinished(v strictjson.Value, b *event.Batch) {
	if d.cutQuestionsOf(v, b) || isInstruction(v) {
		b.Type = typeRunWithQuestion
	}
	current, legacy := questionLists(v)
	hideArguments(current, b)
	hideArguments(legacy, b)
	if d.endNested(v, b) {
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

// stop forgets the run. It remembers that internal work was open, which must not leave later either.
func (d *decoder) stop() {
	d.workLeft = d.workLeft || d.isInternalWorkOpen()
	d.reset()
	d.ended = true
}

// runError ends the run with an error.
func (d *decoder) runError(v strictjson.Value, b *event.Batch) {
	d.reportLastClosed(false, b)
	d.reportAllUnended(b)
	e := b.Add(event.KindError)
	e.Error, e.Code = event.AgentError, errorCode(v)
	d.end(event.AgentError, e.Code, v, b)
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
		d.stateShapes = shapes{isWhole: true}
		d.stateShapes.add(snapshot, nil, nil, anywhere)
		d.cutInternal(snapshot, b)
		if len(b.Cuts) > 0 || d.withheld.keys.Len() > 0 {
			d.rememberIn(snapshot, anywhere, b)
		}
		isInOne := d.cutNamed("", snapshot, b)
		for answer := range d.answersIn(snapshot) {
			b.Cut(answer)
		}
		d.cutQuestions(snapshot, false, b.Cut)
		_, isCut := b.Cuts[snapshot]
		b.Internal = isInOne || isCut || d.withheld.keys.IsFull()
		b.Add(event.KindState).SetState(wire.StateOf(snapshot))
	}
}

func (d *decoder) stateDelta(v strictjson.Value, b *event.Batch) {
	patch := v.Get("delta")
	b.Internal = d.namesWithheld(patch) || d.hasAnswer(patch) || d.hasQuestion(patch) || d.patchRepeatsText(patch) || d.stateShapes.makesInternal(patch, d.withholdListed) || d.withheld.keys.IsFull()
	b.Add(event.KindState).SetState(readPatch(patch))
}

// activitySnapshot reports an activity as an artifact that contains data.
func (d *decoder) activitySnapshot(v strictjson.Value, b *event.Batch) {
	size := event.Count{}
	content := v.Get("content")
	if content.Exists() {
		size = event.Count{N: int64(len(content.Raw())), Known: true}
	}
	b.Internal = d.cutNested(v, "messageId", b)
	root := []string{d.name(v.Get("messageId"))}
	d.activityShapes.add(content, root, root, anywhere)
	d.addActivity(v, event.Artifact{Bytes: size}, event.Piece{Kind: event.PieceData, Value: content}, b)
}

// activityDelta reports a change to an activity. Its size is unknown, because the patch does not say how large the
// activity becomes.
func (d *decoder) activityDelta(v strictjson.Value, b *event.Batch) {
	patch := event.Piece{Kind: event.PiecePatch}
	if said := v.Get("patch"); said.Kind() == strictjson.Array {
		patch.Value = said
	}
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
func (d *decoder) raw(_ strictjson.Value, b *event.Batch) { b.Internal = true }

func (d *decoder) other(strictjson.Value, *event.Batch) {}

// thought reports a piece of a thought. No frame repeats the whole thought.
func (d *decoder) thought(v strictjson.Value, b *event.Batch) {
	b.AddText(event.KindThought, v.Get("delta"))
	b.NameTexts(d.name(v.Get("messageId")))
}

// name returns a string of the wire, cut to dialect.MaxName.
func (d *decoder) name(v strictjson.Value) string { return d.names.Name(v) }
