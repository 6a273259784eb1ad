package langgraph

import (
	"regexp"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

type decoder struct {
	run, session string
	configured   string // name of the run's own agent in the configuration, or ""
	resumes      bool   // the request resumes the thread's interrupted run
	mayContinue  bool   // the run may continue an earlier one, so tasks of its first step may have results from before
	joins        bool   // the request joined a run or a thread
	names        wire.NameCache
	authors      wire.Authors[string] // of messages, by id
	sent         sentFrames
	examination
	resumption
	runState
}

// runState is the state of the current run.
type runState struct {
	started bool
	// showsReturns says that the stream shows each return of a node. It is false after the first attempt, because the nodes
	// that a failed attempt was running never return.
	showsReturns bool
	hasMissed    bool // a frame that may have shown the return of a node was unreadable

	repeatsModel bool   // the update being read has responses of an earlier run
	node         string // the node whose update is being read, or its task as in a namespace; "" if unknown
	hasSilent    bool   // a graph within a task has sent only its first state before the state being read
	isCached     bool   // the update being read is from LangGraph's cache: no model or tool has run

	attempt      float64           // the number of the last attempt, from 1; 0 if none was stated
	scopes       map[string]*scope // by namespace
	seen         seenSet
	open         map[string]*message     // messages that arrive in pieces, by id
	announced    map[string]announcement // of messages that follow, by id
	unmetered    map[string]speaker      // of responses that ended without their usage, by id
	calls        calls
	taskCall     map[string]string // the call that a task executes, by the task's id
	resumedCalls map[string]*call  // calls of earlier runs that tasks may execute, by the task's id
	origins      map[uint64]origin // of exceptions, by exceptionKey; at most maxOpen
	plan         event.Plan
	handoffState
	workLeft
	taskTimes
	invoked invocations
}

// returnModes are the modes that show what nodes return.
var returnModes = []string{modeUpdates, modeTasks, modeDebug}

// kind describes the frames of a stream mode.
type kind struct {
	shape strictjson.Kind // the kind of JSON of their data; 0 for any
	read  func(*decoder, *scope, strictjson.Value, *event.Batch)
}

var kinds map[string]kind

// init fills the table. Its functions refer to it, so a variable initializer would be a cycle.
func init() {
	kinds = map[string]kind{
		modeMetadata:         {strictjson.Object, (*decoder).readMetadata},
		modeValues:           {0, (*decoder).readValues},
		modeUpdates:          {0, (*decoder).readUpdates},
		modeMessages:         {strictjson.Array, (*decoder).readTuple},
		modeMessagesPartial:  {strictjson.Array, (*decoder).readPartial},
		modeMessagesComplete: {strictjson.Array, (*decoder).readComplete},
		modeMessagesMetadata: {strictjson.Object, (*decoder).readMessagesMetadata},
		modeEvents:           {strictjson.Object, (*decoder).readEvent},
		modeTasks:            {strictjson.Object, (*decoder).readTask},
		modeCheckpoints:      {0, (*decoder).readCheckpoint},
		modeDebug:            {strictjson.Object, (*decoder).readDebug},
		modeCustom:           {0, (*decoder).readOther},
		modeFeedback:         {0, (*decoder).readOther},
		modeStateUpdate:      {0, (*decoder).readOther},
		modeError:            {0, (*decoder).readError},
		modeEnd:              {0, (*decoder).readEnd},
	}
}

func (d *decoder) Decode(f dialect.Frame, b *event.Batch) {
	v := f.JSON
	d.takeOver()
	b.Run, b.Session = d.run, d.session
	hash := wire.ContentHash(f)
	defer func() {
		b.WorkLeft = d.hasWorkLeft()
		if b.Run != "" {
			b.ContentHash = hash
		}
	}()
	mode, namespace := d.splitName(f.Event, v)
	k, known := kinds[mode]
	if !v.Exists() {
		b.Rejected = f.Malformed
		if d.hasMissed = d.hasMissed || slices.Contains(returnModes, mode); mode == modeError {
			d.fail(event.AgentError, "", b)
		}
		return
	}
	repeated := d.isRepeated(f, hash)
	d.check(mode, namespace, v, b)
	switch {
	case len(f.Event) == 0, known && k.shape != 0 && k.shape != v.Kind():
		b.Rejected = event.ReasonShape
		return
	case !known, isProtocolEvent(v), mode == modeEvents && !isKnownEvent(v.Get("event")):
		b.UnknownKind = dialect.UnknownKind([]byte(mode))
		if known && mode == modeEvents {
			b.UnknownKind = dialect.UnknownKind(v.Get("event").Text())
		}
		b.Add(event.KindOther)
		return
	}
	b.Type = mode
	if isCheckpointID(mode, v) {
		mode, k.read = modeCheckpoint, (*decoder).readOther
	}
	if repeated && !d.mayRepeat { // this stream has reported its facts
		b.Add(event.KindOther)
		b.InputAuthors = []string{wire.UnknownAuthor}
		return
	}
	d.readStart(mode, v, b)
	if repeated { // it has the same events again, but does not change the state
		kept := d.runState
		defer func() { d.runState = kept }()
		d.runState = runState{started: true}
	}
	d.invoked.trackOpen(namespace, taskIn(mode, v))
	sc := d.graphAt(namespace)
	sc.isShown = true
	delete(d.idle, sc.namespace)
	sc.noteMode(mode)
	d.showsReturns = d.attempt <= 1 && (d.showsReturns || slices.Contains(returnModes, mode))
	k.read(d, sc, v, b)
	sc.noteWork(mode, b)
	b.EndTurns()
	d.setAuthors(mode, sc, v, b)
	d.noteSteps(mode, sc, v, b)
	b.Run, b.Session = d.run, d.session
	if ended := d.name(v.Get("run_id")); mode == modeMetadata && ended != "" && uuidKey(ended) != uuidKey(d.run) {
		b.Run = ended
	}
	if len(b.Events) == 0 {
		b.Add(event.KindOther)
	}
}

// isCheckpointID reports whether a frame of the mode checkpoints has only the ID of a checkpoint, and not the state. LangGraph.js sends one before
// each frame of the mode values, also if the request does not name the mode checkpoints.
//
// Source: langgraph/src/stream/convert.ts.
func isCheckpointID(mode string, v strictjson.Value) bool {
	return mode == modeCheckpoints && v.Get("step").Exists() && !v.First("values", "next", "tasks").Exists()
}

// knownEvent matches the kinds of LangChain's events.
//
// Source: langchain_core/tracers/event_stream.py; langchain_core/runnables (run_type).
var knownEvent = regexp.MustCompile(`^on_(custom_event|(chain|chat_model|llm|tool|retriever|prompt|parser|embedding)_(start|stream|end|error))$`)

func isKnownEvent(kind strictjson.Value) bool { return knownEvent.Match(kind.Text()) }

// readStart starts a run with its first frame on the stream. The server does not report success, so a run
// counts as complete unless an error follows.
func (d *decoder) readStart(mode string, v strictjson.Value, b *event.Batch) {
	if mode == modeMetadata {
		if run := d.name(v.Get("run_id")); run != "" && uuidKey(run) != uuidKey(d.run) && !(d.started && isRunDone(v)) {
			d.run, d.runState, d.sent = run, runState{}, sentFrames{}
		}
	}
	if d.started {
		return
	}
	d.started = true
	e := b.Add(event.KindRunStarted)
	e.Resumes, e.Name, e.Asked = d.resumes, d.configured, timeOf(d.run)
	b.Add(event.KindFinal)
}

// readMetadata reads the start of a run, or of another attempt. On the stream of a thread it also
// reports the run's end.
func (d *decoder) readMetadata(_ *scope, v strictjson.Value, b *event.Batch) {
	d.beginAttempt(v)
	if isRunDone(v) {
		b.Add(event.KindRunEnded)
	}
}

// isRunDone reports whether metadata says that a run has ended. That of a canceled run may come after the next run has begun.
func isRunDone(metadata strictjson.Value) bool { return metadata.Get("status").Is("run_done") }

func (d *decoder) readEnd(_ *scope, _ strictjson.Value, b *event.Batch) { b.Add(event.KindRunEnded) }

func (d *decoder) readOther(*scope, strictjson.Value, *event.Batch) {}

// Classes of errors with a special meaning: another request canceled the run, or the graph took too many steps. TimeoutError has none:
// it is an exception of the graph. If the server ends a run for its duration, it sends no error.
//
// Source: langgraph_api/worker.py, UserTimeout.
const (
	userInterrupt  = "UserInterrupt"
	userRollback   = "UserRollback"
	recursionError = "GraphRecursionError"
)

var knownErrors = []string{userInterrupt, userRollback, recursionError}

// readError reads the error of a run, which has the class of the exception.
//
// Source: langgraph_api/serde.py, default.
func (d *decoder) readError(_ *scope, v strictjson.Value, b *event.Batch) {
	class := wire.Code(v.Get("error"))
	failure, elsewhere, beside := event.AgentError, false, false
	switch class {
	case userInterrupt, userRollback: // langgraph_api/errors.py
		failure, class = event.FailureCanceled, ""
	default:
		elsewhere, beside = d.failOpen(v, class, b)
	}
	e := d.fail(failure, class, b)
	e.Elsewhere, e.Beside = elsewhere, beside
}

// fail reports the failure of the run, and returns the event of the error.
func (d *decoder) fail(failure event.Failure, code string, b *event.Batch) *event.Event {
	for _, kind := range []event.Kind{event.KindError, event.KindRunEnded} {
		e := b.Add(kind)
		e.Error, e.Code = failure, code
	}
	return &b.Events[len(b.Events)-2]
}

// name returns a string of the wire, cut to dialect.MaxName.
func (d *decoder) name(v strictjson.Value) string { return d.names.Name(v) }
