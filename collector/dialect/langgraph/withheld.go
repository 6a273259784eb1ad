package langgraph

import (
	"cmp"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// mayName reports whether an id is or may be in the set. Other modes repeat messages and calls, often without the name or
// the mark that says what they are, so the id must tell.
func mayName(set *wire.SharedSet, id strictjson.Value) bool {
	return !set.IsEmpty() && id.Kind() == strictjson.String && set.MayContain(dialect.Name(string(id.Text())))
}

// check decides whether a frame is internal, which parts of it are cut, and whether it has thoughts. It runs
// before the rest of the decoder, because the rest adds the frame's messages to the set of seen ones.
func (d *decoder) check(name []byte, mode string, v strictjson.Value, b *event.Batch) {
	_, namespace := splitEvent(name)
	d.messages = d.messages[:0]
	d.notePlaces(namespace, mode, v)
	d.withheldCalls.setPlace(d, name, mode, v)
	d.pieces.setSource(mode, v)
	d.beginEvent(mode, v)
	d.trackLostSteps(namespace, mode, v)
	isInternalGraph := anySegment(name, isInternalNode)
	d.shown.begin(mode, v, !d.unnamed.IsEmpty())
	d.doubtRepeats(namespace, mode, v)
	d.withholdUnseen(name, mode, v)
	mayReturnInternal := d.mayReturnInternal(name, mode, v) // before examine notes the frame's own messages
	d.beginExamination(mode, v)
	d.withholdBesideResults(mode, v)
	d.cutLoadedQuestions(namespace, mode, v)
	found := d.examine(v, places[mode], 0)
	d.checkReferences(&found)
	found.internal = found.internal || mode == modeUpdates && (d.lostPart && d.keptParts == 0 || hasOnly(v, d.isWithheldResult)) // nothing else is left
	switch mode {
	case modeValues:
		d.endPassedCalls(v)
	case modeCheckpoints:
		d.endPassedCalls(v.Get("values"))
	}
	inDoubt, instructs := found.doubtful, found.instructs || showsPrompt(mode, v, found)
	isNamed := d.namesInternal(mode, v)
	isPlaced := isInternalGraph || d.isPlacedInAgent(namespace, mode, v) || d.isWithinWithheldCall(name, mode, v)
	if mode == modeMessagesMetadata && !isPlaced && !found.internal {
		found.internal = d.noteUnnamed(v)
	}
	isOfInternal := isNamed || isPlaced || mayReturnInternal
	isInternal := found.internal || isOfInternal
	repeatsFailure := d.repeatsFailure(namespace, mode, v)
	inDoubt = inDoubt || mode == modeCustom && (d.mayBeOf(d.working, namespace) || d.mayBeOf(d.lagging, namespace) || d.mayBeOf(d.lagged, namespace)) // an internal task may have written it
	task := taskIn(mode, v)
	d.placeQuestions(namespace, task, isPlaced)
	if isOfInternal || len(d.working) > 0 || !d.doubted.IsEmpty() || !d.internalWork.IsEmpty() || d.withheldCalls.mayBeOpen() {
		questions := d.withholdQuestions(v, d.newAsker(namespace), isPlaced || isNamed && !isCheckpoint(mode, v), 0)
		isInternal, inDoubt = isInternal || questions.internal, inDoubt || questions.doubtful
	}
	d.trackTask(namespace, task, isPlaced)
	if !d.isRepeated(namespace, mode) {
		d.endShown(namespace, mode, v)
	}
	if mode == modeCheckpoints {
		d.trackCheckpoint(namespace, v)
	}
	inDoubt = inDoubt || d.mayHaveMemory(mode, v)
	isOfFailed, makesInternal := isOfInternal || repeatsFailure, isOfInternal || mode != modeEvents || d.hasOutput
	if mode == modeEvents {
		isWithheld, mayBeWithheld := d.checkTool(v)
		if isWithheld || mayBeWithheld {
			d.doubtTask(v.Get("metadata"))
		}
		d.noteRun(v, isOfInternal || isWithheld, mayBeWithheld)
		d.trackRun(v, isOfInternal || isWithheld || mayBeWithheld)
		inDoubt, isOfFailed = inDoubt || mayBeWithheld, isOfFailed || isWithheld || mayBeWithheld
		makesInternal = makesInternal || isWithheld || mayBeWithheld
	}
	if isOfFailed {
		d.noteFailure(mode, v)
	}
	b.PublicForm = repeatsFailure && mode == modeError
	inDoubt = inDoubt || repeatsFailure && mode != modeError
	b.HasThoughts, b.Internal = found.hasThought, isInternal || inDoubt || instructs
	if b.Internal {
		d.shown.forget(0)
	}
	if isInternal && makesInternal { // instructions do not make their neighbors internal
		d.withholdFrame(mode, v, isPlaced)
		d.withholdOutputs(mode, v, isPlaced || isOfInternal && mode != modeCheckpoints, (isPlaced || isNamed) && slices.Contains(returnModes, mode))
	}
	d.noteRead(mode, v)
	if isState := mode == modeValues || mode == modeCheckpoints; !isState {
		d.hasSpoken = d.hasSpoken || isInternal
	} else if len(name) == len(mode) {
		d.hasSpoken = false
	}
	if b.Internal {
		leaves, inPublicForm := d.keepEnd(mode, namespace, v)
		b.Internal, b.PublicForm = !leaves, b.PublicForm || inPublicForm
	}
	for _, part := range d.cuts {
		b.Cut(part)
	}
	for _, calls := range d.emptied { // the end of the response leaves, even if the message has nothing else
		b.Substitute(calls, "[]")
	}
	d.hideFailures(b)
	if mode == modeValues && len(name) == len(modeValues) && !b.Internal {
		d.shown.endHistory()
	}
	d.noteOpenWork()
	d.forgetNamed()
	d.listResults(b)
	d.listThoughts(mode, v, b)
}

// returnModes have what nodes return.
var returnModes = []string{modeUpdates, modeTasks, modeDebug}

// taskIn returns the task whose beginning or end a frame shows, or nothing.
func taskIn(mode string, v strictjson.Value) (task strictjson.Value) {
	switch mode {
	case modeTasks:
		return v
	case modeDebug:
		return v.Get("payload")
	}
	return task
}

// listResults lists the messages of a frame that are results of tools but do not have the type of roleKinds.
func (d *decoder) listResults(b *event.Batch) {
	for _, m := range d.messages {
		isResult := isToolResult(m) || m.Get("tool_call_id").Exists() && !m.First("type", "role").Exists()
		if isResult && !m.Get("type").Is("tool") {
			b.SetTextKind(m, event.KindToolEnded)
		}
	}
}

// listThoughts lists the messages of a frame in which every text is a thought, as stated by the message, by its metadata or
// by another frame.
func (d *decoder) listThoughts(mode string, v strictjson.Value, b *event.Batch) {
	if message, metadata := tuple(v); mode == modeMessages && marksThought(metadata) {
		d.marked = append(d.marked, message)
		b.HasThoughts = true
	}
	for _, message := range d.marked {
		b.SetTextKind(message, event.KindThought)
	}
	d.marked = d.marked[:0]
}

// withholdFrame records the new messages of an internal frame. Most are withheld on this stream only, because they may be
// of earlier runs, or of nodes that are not internal.
func (d *decoder) withholdFrame(mode string, v strictjson.Value, isPlaced bool) {
	switch {
	case isCheckpoint(mode, v) && !isPlaced:
		d.withholdCheckpoint(cmp.Or(v.Get("payload"), v))
	case mode == modeMessagesMetadata:
		for id := range v.Members() {
			d.withholdID(id, true)
		}
	case mode == modeEvents: // the input of a model has messages of others
		d.withholdNew(v.Get("data").Get("chunk"), 0)
		d.withholdNew(v.Get("data").Get("output"), 0)
	default:
		d.withholdNew(v, 0)
	}
}

// withholdCheckpoint is withholdFrame for a saved state. LangGraph.js sends it with the results that its tasks have when the frame is written, and
// only those of internal tasks are withheld.
func (d *decoder) withholdCheckpoint(v strictjson.Value) {
	for name, member := range v.Members() {
		if !name.Is("tasks") {
			d.withholdNew(member, 1)
		}
	}
	for task := range v.Get("tasks").Elements() {
		if d.isInternalWork(task, "id") {
			d.withholdNew(task, 1)
		}
	}
}

// withholdNew records the messages of models and tools in an internal frame, except those that left before.
func (d *decoder) withholdNew(v strictjson.Value, depth int) {
	if depth > maxScan {
		return
	}
	if (mayBeMessage(v) || isInterface(v)) && !v.Get("type").Is("human") {
		if !d.shown.contains(v.Get("id")) || d.shown.replaces(v) {
			d.withholdMessage(v, false)
		}
		return
	}
	for _, member := range v.Members() {
		d.withholdNew(member, depth+1)
	}
	for element := range v.Elements() {
		d.withholdNew(element, depth+1)
	}
}

// withholdParts records the messages of models and tools in a part that is in doubt, for other streams too.
func (d *decoder) withholdParts(v strictjson.Value) {
	for _, m := range messagesIn(v, true, 0) {
		if isOfUser(m) || d.shown.contains(m.Get("id")) {
			continue
		}
		d.withholdMessages([]strictjson.Value{m})
	}
}

func mayBeMessage(v strictjson.Value) bool { return v.Get("content").Exists() && v.Get("id").Exists() }

func (d *decoder) withholdID(id strictjson.Value, shared bool) { add(&d.withheld, d.name(id), shared) }

// add adds a name to a set, for other streams too if it is shared.
func add(set *wire.SharedSet, name string, shared bool) {
	switch {
	case name == "":
	case shared:
		set.Add(name)
	default:
		set.AddOwn(name)
	}
}

// withholdMessage records a message that is withheld, and the calls in it.
func (d *decoder) withholdMessage(v strictjson.Value, shared bool) {
	d.reuseCalls(v)
	d.withholdID(v.Get("id"), shared)
	d.withheldCalls.unnamed.Remove(d.name(v.Get("id")))
	d.shown.remove(v.Get("id").String())
	d.withheldCalls.begin(d, v)
	d.withheldCalls.end(d, v)
	for _, c := range callsOf(v) {
		d.withholdID(c.Get("id"), shared)
		add(&d.withheldTools, d.name(toolOf(c)), shared)
	}
	for _, name := range savedMembers {
		if saved := v.Get(name); saved.Kind() == strictjson.Object {
			d.withholdMessage(saved, shared)
		}
	}
}

// namesInternal reports whether a frame names an internal node, or has an internal event of the
// application.
func (d *decoder) namesInternal(mode string, v strictjson.Value) bool {
	switch mode {
	case modeUpdates, modeStateUpdate:
		return hasInternalMember(v) || d.mayHandleInternal(v)
	case modeTasks:
		d.noteTask(v)
		return d.isInternalWork(v, "id") || d.mayHandleInternal(v)
	case modeEvents:
		return d.isWithinInternalRun(v) || isCustomEvent(v) && isInternalCustom(v.Get("data")) || isToolEvent(v) && (namesInternalSubagent(v.Get("data").Get("input")) || printsInternalQuestion(v.Get("data").Get("error")))
	case modeDebug:
		payload := v.Get("payload")
		d.noteTask(payload)
		return d.isInternalWork(payload, "id") || d.mayHandleInternal(payload) || d.isInternalCheckpoint(payload)
	case modeCheckpoints:
		return d.isInternalCheckpoint(v)
	case modeCustom:
		return isInternalCustom(v)
	case modeError:
		return lenient.HasInternalDiscriminator(&errorNames, v)
	}
	return false
}

// errorNames are the members that name the type of an error.
var errorNames = event.Table{Discriminators: []string{"type", "kind"}}

// isWithinInternalRun reports whether an event is of an internal run or of a run within one. The run's name or its place
// in the graph may be internal.
func (d *decoder) isWithinInternalRun(v strictjson.Value) bool {
	if d.isInternalWork(v, "run_id") || namesScope(v.Get("metadata"), scopeMembers) {
		return true
	}
	return d.isWithinInternal(v.Get("parent_ids"))
}

// isWithinInternal reports whether one of the runs around an event is or may be internal.
func (d *decoder) isWithinInternal(parents strictjson.Value) bool {
	return slices.ContainsFunc(elementsOf(parents), func(above strictjson.Value) bool {
		return mayName(&d.internalWork, above) || d.internalWork.Contains(doubtful+d.name(above))
	})
}

// noteRun records the run of an event that is or may be internal, because its other events, and those of runs within it,
// may not show that. An event of the application names the run that sends it. That run need not be internal.
func (d *decoder) noteRun(v strictjson.Value, isInternal, isDoubtful bool) {
	switch run := d.name(v.Get("run_id")); {
	case run == "" || isCustomEvent(v):
	case isInternal:
		d.internalWork.Add(run)
	case isDoubtful:
		d.internalWork.Add(doubtful + run)
	}
}

func isCustomEvent(v strictjson.Value) bool {
	return lenient.HasPrefix(v.Get("event").Text(), "on_custom_event")
}

// isInternalWork reports whether a run or a task is internal: it has an internal name, or it had one in an earlier frame.
func (d *decoder) isInternalWork(v strictjson.Value, idMember string) bool {
	id := v.Get(idMember)
	if hasInternalName(v) {
		if !isCustomEvent(v) {
			add(&d.internalWork, d.name(id), true)
		}
		return true
	}
	return mayName(&d.internalWork, id)
}

// hasInternalName reports whether a task, a run or the node in metadata has an internal name.
func hasInternalName(v strictjson.Value) bool {
	for name, value := range v.Members() {
		if lenient.MatchesAny(name.Text(), nameMembers) && (lenient.ContainsInternal(value) || isInternalNode(value.Text())) {
			return true
		}
	}
	return false
}

// customNames are the members that name an event of the application, at any depth.
var customNames = event.Table{Discriminators: []string{"type", "kind"}, NameMembers: []string{"event"}, DeepEnvelopes: true}

func isInternalCustom(v strictjson.Value) bool {
	return lenient.HasInternalDiscriminator(&customNames, v)
}

func elementsOf(v strictjson.Value) []strictjson.Value { return slices.Collect(v.Elements()) }

// isCheckpoint reports whether a frame has a saved state, which may have questions of several tasks.
func isCheckpoint(mode string, v strictjson.Value) bool {
	return mode == modeCheckpoints || mode == modeDebug && v.Get("type").Is("checkpoint")
}

// isInternalCheckpoint reports whether an internal node wrote to a saved state, or is to run next.
func (d *decoder) isInternalCheckpoint(v strictjson.Value) bool {
	if hasInternalMember(v.Get("metadata").Get("writes")) || isInternalScope(v.Get("next")) {
		return true
	}
	return slices.ContainsFunc(elementsOf(v.Get("tasks")), func(task strictjson.Value) bool { return d.isInternalWork(task, "id") })
}

func hasInternalMember(v strictjson.Value) bool {
	for name := range v.Members() {
		if isInternalNode(name.Text()) {
			return true
		}
	}
	return false
}
