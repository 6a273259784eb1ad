package looopy

import (
	"hash/maphash"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
)

// What a stream can make the decoder remember: the tasks, questions and artifacts heard of last. One that is forgotten and comes
// again is taken for new.
const (
	maxTasks     = 512
	maxCalls     = 32 // open at once in one task, that agents are found in
	maxQuestions = 512
	maxArtifacts = 512
)

type decoder struct {
	answer    bool // the stream answers one run request: no run of it is part of another
	session   string
	tasks     *simplelru.LRU[string, *task]
	last      *task
	asked     *simplelru.LRU[string, question] // by the call that waits
	encodings *simplelru.LRU[string, encoding] // by artifact
	names     wire.Names
}

func remember[V any](most int) *simplelru.LRU[string, V] {
	known, _ := simplelru.NewLRU[string, V](most, nil) // the only error is a size below one
	return known
}

// kind is one of the events for readers outside.
type kind struct {
	name     string
	state    func(*decoder, *task, frame, *event.Batch) // states its facts
	artifact event.ArtifactKind                         // that it writes
}

const (
	kindTaskCreated  = "task-created"
	kindTaskComplete = "task-complete"
	kindMessage      = "message"
	kindError        = "error" // no server sends it; the design document leaves open whether one may
)

// kinds are the 17 of the design document, and those that came later: tool-call, tool-input-required, llm-usage, message. The
// internal ones, 3 then and 6 today, are none of them; a kind that is neither stays in.
var kinds = byName(
	kind{name: kindTaskCreated, state: (*decoder).taskCreated},
	kind{name: "task-status", state: (*decoder).taskStatus},
	kind{name: kindTaskComplete, state: (*decoder).taskComplete},
	kind{name: "content-delta", state: (*decoder).contentDelta},
	kind{name: "content-complete", state: (*decoder).contentComplete},
	kind{name: "tool-call", state: (*decoder).toolCall},
	kind{name: "tool-start", state: (*decoder).toolStart},
	kind{name: "tool-progress", state: (*decoder).toolProgress},
	kind{name: "tool-complete", state: (*decoder).toolComplete},
	kind{name: "tool-input-required", state: (*decoder).toolInputRequired},
	kind{name: "input-required", state: (*decoder).inputRequired},
	kind{name: "input-received", state: (*decoder).inputReceived},
	kind{name: "auth-required", state: (*decoder).authRequired},
	kind{name: "auth-completed", state: (*decoder).authCompleted},
	kind{name: "file-write", state: (*decoder).fileWrite, artifact: event.ArtifactFile},
	kind{name: "data-write", state: (*decoder).dataWrite, artifact: event.ArtifactData},
	kind{name: "dataset-write", state: (*decoder).datasetWrite, artifact: event.ArtifactDataset},
	kind{name: "subtask-created", state: (*decoder).subtaskCreated},
	kind{name: "thought-stream", state: (*decoder).thoughtStream},
	kind{name: "llm-usage", state: (*decoder).llmUsage},
	kind{name: kindMessage, state: (*decoder).other}, // of the model's history
)

func byName(all ...kind) map[string]*kind {
	named := make(map[string]*kind, len(all))
	for i := range all {
		named[all[i].name] = &all[i]
	}
	return named
}

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
	d.hearContext(fr)
	t := d.hear(fr, b)
	d.place(t, b)
	switch k := kinds[fr.kind]; {
	case fr.internal:
		d.loop(fr, b)
	case k != nil:
		k.state(d, t, fr, b)
	case fr.kind == kindError:
		e := b.Add(event.KindError)
		e.Error, e.Code = event.AgentError, fr.errorCode()
	default:
		b.Add(event.KindOther)
	}
}

// hearContext follows the conversation, which the data names, or the id, or the request.
func (d *decoder) hearContext(fr frame) {
	named := fr.context.Text()
	if len(named) == 0 {
		named = contextOfID(fr.id)
	}
	if len(named) > 0 && d.session != string(named) {
		d.session = dialect.Name(string(named))
	}
}

func (d *decoder) other(_ *task, _ frame, b *event.Batch) { b.Add(event.KindOther) }

func (d *decoder) taskCreated(t *task, _ frame, b *event.Batch) {
	switch {
	case t.begun:
		b.Add(event.KindOther)
	case t.isRun():
		b.Add(event.KindRunStarted)
	default:
		b.Add(event.KindAgentStarted)
	}
	t.begun = true
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

// end takes the protocol's word that a task is over. Servers of 2025 may say it twice, by a status and by task-complete, in either
// order: the first word counts.
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
	if t.stage == open {
		broken := failure
		if broken == event.AgentError {
			broken = event.ModelError
		}
		t.closeResponse(fr.metadata.Get("finishReason"), broken, code, b)
	}
	t.addAnswer(fr, b)
	d.conclude(t, failure, code)
	if failure == event.NoFailure && !t.final {
		b.Add(event.KindFinal)
	}
	over := event.KindAgentEnded
	if t.isRun() {
		over = event.KindRunEnded
		if failure != event.NoFailure {
			e := b.Add(event.KindError)
			e.Error, e.Code = failure, code
		}
	}
	e := b.Add(over)
	e.Error, e.Code, e.Took, e.Iterations = failure, code, fr.took(), fr.iterations()
	t.complete = fr.kind == kindTaskComplete
	e.AwaitsOutcome = !t.complete
}

// addOutcome states what a second word about a task's end adds to the first. Only the first task-complete adds anything.
func (d *decoder) addOutcome(t *task, fr frame, b *event.Batch) {
	if t.addAnswer(fr, b); fr.kind == kindTaskComplete && !t.complete {
		t.complete = true
		e := b.Add(event.KindOutcome)
		e.Took, e.Iterations = fr.took(), fr.iterations()
	}
	if len(b.Events) == 0 {
		b.Add(event.KindOther)
	}
}

// addAnswer states the text of a task's answer. It is partial where content-complete has brought it.
func (t *task) addAnswer(fr frame, b *event.Batch) {
	if e := b.AddText(event.KindText, fr.data.Get("content")); e != nil {
		b.Partial = !t.isNews(e.Text())
	}
}

// seed is that of the hashes by which texts are compared.
var seed = maphash.MakeSeed()

// isNews says whether a text is another than the task's last whole one.
func (t *task) isNews(text []byte) bool {
	sum := maphash.Bytes(seed, text)
	news := sum != t.said
	t.said = sum
	return news
}

// name returns a text of the wire as a name.
func (d *decoder) name(text []byte) string { return d.names.Cut(text, dialect.MaxName) }

func (d *decoder) member(fr frame, name string) string { return d.name(fr.data.Get(name).Text()) }
