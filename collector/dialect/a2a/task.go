package a2a

import (
	"hash/maphash"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// What a stream can make the decoder remember: the tasks heard of last, and of each the last artifacts, questions, calls and
// speakers. One that is forgotten and comes again is taken for new. The texts of artifacts (dialect.MaxPieces) are most of it: 8 MiB.
const (
	maxTasks     = 4 // a stream is about one; a capture may hold several
	maxArtifacts = 16
	maxWaiting   = 32
	maxCalls     = 512
	maxSpeakers  = 128
)

// task is what a run is here, or, for a message that no task is made of, the message.
type task struct {
	id, session string

	heard bool // something of it was decoded
	over  bool // by the protocol's word

	artifacts []*artifact // in the order in which they were heard of last
	waiting   []string    // calls whose answers come from outside
	asked     []string    // what the task waits for by its state
	said      uint64      // of the last whole text
	code      string      // of the last event of an ADK agent, if that was an error: the task that then fails has none

	calls    map[string]call
	speakers map[speaker]*response
}

// artifact is one whose text may come in pieces.
type artifact struct {
	id       string
	text     dialect.Pieces
	growing  bool // pieces came that no whole text repeats
	headless bool // its beginning was not heard
}

// call is a tool's, of an ADK agent.
type call struct {
	target   string // of a transfer
	long     bool
	answered bool
}

func (d *decoder) task(id, session strictjson.Value) *task {
	name := d.name(id)
	t, known := d.tasks.Get(name)
	if !known {
		t = &task{id: name, calls: make(map[string]call), speakers: make(map[speaker]*response)}
		d.tasks.Add(name, t)
	}
	if len(session.Text()) > 0 {
		t.session = d.name(session)
	}
	d.last = t
	return t
}

// begin notes that a task was heard of. One that is submitted begins.
func (t *task) begin(s state, b *event.Batch) {
	if s == submitted && (!t.heard || t.over) {
		*t = task{id: t.id, session: t.session, calls: make(map[string]call), speakers: make(map[speaker]*response)}
		b.Add(event.KindRunStarted)
	}
	t.heard = true
}

// finish ends a task, once.
func (t *task) finish(failure event.Failure, code string, b *event.Batch) {
	t.over, t.artifacts, t.asked, t.waiting = true, nil, nil, nil
	if failure == event.NoFailure {
		b.Add(event.KindFinal)
	} else {
		e := b.Add(event.KindError)
		e.Error, e.Code = failure, code
	}
	e := b.Add(event.KindRunEnded)
	e.Error, e.Code = failure, code
}

// ask takes the word of a task that it waits. What it waits for is the calls that wait, else itself.
func (t *task) ask(st status, b *event.Batch) {
	if len(t.asked) > 0 {
		return
	}
	if t.asked = append(t.asked, t.waiting...); len(t.asked) > 0 {
		return
	}
	t.asked = append(t.asked, t.id)
	e := b.Add(event.KindInputRequested)
	if e.CallID, e.Input = t.id, event.InputClarification; st.state == authRequired {
		e.Input = event.InputCredential
	}
	if !fromUser(st.message) {
		e.SetQuestion(event.Question{Prompt: st.parts.words()})
	}
}

// goOn takes work for a sign that what a task waited for has come.
func (t *task) goOn(b *event.Batch) {
	for _, id := range t.asked {
		b.Add(event.KindInputAnswered).CallID = id
		t.answer(id)
	}
	t.asked = t.asked[:0]
}

func (t *task) wait(id string) {
	if id != "" && len(t.waiting) < maxWaiting {
		t.waiting = append(t.waiting, id)
	}
}

func (t *task) answer(id string) {
	for i := range t.waiting {
		if t.waiting[i] == id {
			t.waiting = append(t.waiting[:i], t.waiting[i+1:]...)
			return
		}
	}
}

// artifact returns one that is known, or nil.
func (t *task) artifact(id string) *artifact {
	for _, a := range t.artifacts {
		if a.id == id {
			return a
		}
	}
	return nil
}

// open returns an artifact that is known, or begins one: in the place of the first whose text is whole, or else of the first.
func (t *task) open(id string) *artifact {
	if a := t.artifact(id); a != nil {
		return a
	}
	if len(t.artifacts) == maxArtifacts {
		oldest := 0
		for i, a := range t.artifacts {
			if !a.growing {
				oldest = i
				break
			}
		}
		t.artifacts = append(t.artifacts[:oldest], t.artifacts[oldest+1:]...)
	}
	a := &artifact{id: id}
	t.artifacts = append(t.artifacts, a)
	return a
}

// seed is that of the hashes by which texts are compared.
var seed = maphash.MakeSeed()

// isNews says whether the text of parts is another than the task's last whole one.
func (t *task) isNews(parts parts) bool {
	sum := sumOf(parts)
	news := sum != t.said
	t.said = sum
	return news
}

func sumOf(parts parts) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	hashTexts(&h, parts)
	return h.Sum64()
}

func hashTexts(h *maphash.Hash, parts parts) {
	for p := range parts.all() {
		if p.kind == partText || p.kind == partThought {
			_, _ = h.Write(p.text.Text()) // it never fails
		}
	}
}
