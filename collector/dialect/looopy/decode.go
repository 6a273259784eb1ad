package looopy

import (
	"hash/maphash"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
)

// Limits on the memory of a stream. The most recently used tasks, questions and artifacts are kept. One
// that was dropped counts as new when it appears again.
const (
	maxTasks     = 512
	maxCalls     = 32 // open calls of one task
	maxQuestions = 512
	maxArtifacts = 512
)

type decoder struct {
	singleRun bool // the stream answers one run request, so none of its runs is part of another
	listens   bool // the request only listens to a session, so other streams may have the same runs
	session   string
	tasks     *simplelru.LRU[string, *task]
	last      *task
	questions *simplelru.LRU[string, question] // by the id of the call that waits
	encodings *simplelru.LRU[string, encoding] // by artifact
	names     wire.NameCache
}

// newCache returns a cache for the limit most recently used values.
func newCache[K comparable, V any](limit int) *simplelru.LRU[K, V] {
	cache, _ := simplelru.NewLRU[K, V](limit, nil) // the only error is a size below one
	return cache
}

// kind describes a kind of public event.
type kind struct {
	name           string
	decode         func(*decoder, *task, frame, *event.Batch) // adds the event's facts to the batch
	writesArtifact bool
	speaks         bool // its text is a model's, or of the model's history
}

const (
	kindTaskCreated  = "task-created"
	kindTaskComplete = "task-complete"
	kindMessage      = "message"
	kindError        = "error" // sent by no server; the design document leaves open whether one may
)

// kinds are the 17 of the design document, and the later tool-call, tool-input-required, llm-usage
// and message. The internal kinds (3 in the document, 6 today) are not among them. Any other kind is
// withheld.
var kinds = wire.IndexByName(func(k *kind) string { return k.name },
	kind{name: kindTaskCreated, decode: (*decoder).taskCreated},
	kind{name: "task-status", decode: (*decoder).taskStatus},
	kind{name: kindTaskComplete, decode: (*decoder).taskComplete, speaks: true},
	kind{name: "content-delta", decode: (*decoder).contentDelta, speaks: true},
	kind{name: "content-complete", decode: (*decoder).contentComplete, speaks: true},
	kind{name: "tool-call", decode: (*decoder).toolCall},
	kind{name: "tool-start", decode: (*decoder).toolStart},
	kind{name: "tool-progress", decode: (*decoder).toolProgress},
	kind{name: "tool-complete", decode: (*decoder).toolComplete},
	kind{name: "tool-input-required", decode: (*decoder).toolInputRequired},
	kind{name: "input-required", decode: (*decoder).inputRequired},
	kind{name: "input-received", decode: (*decoder).inputReceived},
	kind{name: "auth-required", decode: (*decoder).authRequired},
	kind{name: "auth-completed", decode: (*decoder).authCompleted},
	kind{name: "file-write", decode: (*decoder).fileWrite, writesArtifact: true},
	kind{name: "data-write", decode: (*decoder).dataWrite, writesArtifact: true},
	kind{name: "dataset-write", decode: (*decoder).datasetWrite, writesArtifact: true},
	kind{name: "subtask-created", decode: (*decoder).subtaskCreated},
	kind{name: "thought-stream", decode: (*decoder).thoughtStream, speaks: true},
	kind{name: "llm-usage", decode: (*decoder).llmUsage},
	kind{name: kindMessage, decode: (*decoder).message, speaks: true},
)

func (d *decoder) Decode(f dialect.Frame, b *event.Batch) {
	fr := readFrame(f)
	b.Type, b.Internal = fr.kind, fr.internal
	switch {
	case !f.JSON.Exists():
		b.Rejected = f.Malformed
		return
	case !fr.isEvent():
		b.Rejected = event.ReasonShape
		return
	}
	b.Time = dialect.TextTime(fr.timestamp)
	d.setSession(fr)
	t := d.findTask(fr, b)
	d.setRun(t, b)
	if d.listens && b.Run != "" {
		b.ContentHash = wire.ContentHash(f)
	}
	switch k := kinds[fr.kind]; {
	case fr.internal:
		d.addIteration(fr, b)
	case k != nil:
		b.Internal = k.speaks && isInstruction(fr.data)
		k.decode(d, t, fr, b)
	case fr.kind == kindError:
		e := b.Add(event.KindError)
		e.Error, e.Code = event.AgentError, fr.errorCode()
	default:
		b.UnknownKind = dialect.UnknownKind([]byte(fr.kind))
	}
	if len(b.Events) == 0 {
		b.Add(event.KindOther)
	}
}

// setSession sets the session to the context that the data names or, if it names none, the frame's id.
func (d *decoder) setSession(fr frame) {
	named := fr.context.Text()
	if len(named) == 0 {
		named = contextOfID(fr.id)
	}
	if len(named) > 0 && d.session != string(named) {
		d.session = dialect.Name(string(named))
	}
}

func (d *decoder) taskCreated(t *task, _ frame, b *event.Batch) {
	switch {
	case t.started:
		b.Add(event.KindOther)
	case t.isRun():
		b.Add(event.KindRunStarted)
	default:
		b.Add(event.KindAgentStarted)
	}
	t.started = true
}

func (d *decoder) taskStatus(t *task, fr frame, b *event.Batch) {
	switch status := fr.data.Get("status"); {
	case status.Is("completed"):
		d.end(t, fr, event.NoFailure, b)
	case status.Is("failed"):
		d.end(t, fr, event.AgentError, b)
	case status.Is("canceled"):
		d.end(t, fr, event.FailureCanceled, b)
	default:
		d.pause(t, status.Is("waiting-input") || status.Is("waiting-auth"))
		b.Add(event.KindOther)
	}
}

func (d *decoder) taskComplete(t *task, fr frame, b *event.Batch) { d.end(t, fr, event.NoFailure, b) }

// end ends a task. Servers of 2025 may send the end twice, as a status and as task-complete, in
// either order; the first one counts.
func (d *decoder) end(t *task, fr frame, failure event.Failure, b *event.Batch) {
	if t.ended {
		d.addOutcome(t, fr, b)
		return
	}
	t.ended = true
	code := ""
	if failure == event.AgentError {
		code = fr.errorCode()
	}
	if t.stage == responding {
		responseFailure := failure
		if responseFailure == event.AgentError {
			responseFailure = event.ModelError
		}
		t.closeResponse(wire.FinishReason(fr.metadata.Get("finishReason")), responseFailure, code, b)
	}
	t.addAnswer(fr, b)
	d.conclude(t, failure, code)
	if failure == event.NoFailure && !t.answerReported {
		b.Add(event.KindFinal)
	}
	kind := event.KindAgentEnded
	if t.isRun() {
		kind = event.KindRunEnded
		if failure != event.NoFailure {
			e := b.Add(event.KindError)
			e.Error, e.Code = failure, code
		}
	}
	e := b.Add(kind)
	e.Error, e.Code, e.Duration, e.Iterations = failure, code, fr.duration(), fr.iterations()
	t.sawTaskComplete = fr.kind == kindTaskComplete
	e.AwaitsOutcome = !t.sawTaskComplete
}

// addOutcome reports what a second end of a task adds to the first: the text of its answer, and the
// numbers of the first task-complete.
func (d *decoder) addOutcome(t *task, fr frame, b *event.Batch) {
	if t.addAnswer(fr, b); fr.kind == kindTaskComplete && !t.sawTaskComplete {
		t.sawTaskComplete = true
		e := b.Add(event.KindOutcome)
		e.Duration, e.Iterations = fr.duration(), fr.iterations()
	}
}

// addAnswer reports the text of a task's answer, which content-complete may have reported.
func (t *task) addAnswer(fr frame, b *event.Batch) {
	if e := b.AddText(event.KindText, fr.data.Get("content")); e != nil {
		b.Repeats = !t.isNewText(e.Text())
		b.Partial = b.Repeats
	}
}

// seed is the seed of all hashes, which are only compared within the process.
var seed = maphash.MakeSeed()

// isNewText reports whether a text differs from the task's last whole text, and remembers it.
func (t *task) isNewText(text []byte) bool {
	sum := maphash.Bytes(seed, text)
	isNew := sum != t.lastText
	t.lastText = sum
	return isNew
}

// name returns a string of the wire, cut to dialect.MaxName.
func (d *decoder) name(text []byte) string { return d.names.Truncate(text, dialect.MaxName) }

func (d *decoder) member(fr frame, name string) string { return d.name(fr.data.Get(name).Text()) }
