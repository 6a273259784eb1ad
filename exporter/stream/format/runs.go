package format

import (
	"cmp"
	"slices"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// maxRuns bounds the runs that are known at once. One that is forgotten and goes on is taken for new.
const maxRuns = 64

// status is how a run stands, in the words of every other account of ours.
type status string

const (
	running     status = "running"
	completed   status = "completed"
	failed      status = "failed"
	canceled    status = "canceled"
	interrupted status = "interrupted"
	incomplete  status = "incomplete"
)

// run is what is known of one.
type run struct {
	key         runKey
	id, session string // as the reader is told them
	stream      *replay.Stream

	verdict
	over    bool
	outcome status   // of a run that is over
	last    a2aState // likewise
	texts   texts
	steps   []step
	usage   map[string]event.Usage
	models  []string
	calls   []call // without ids of the wire's
	things  []thing
	known   bool // the reader has been told of it, on this connection
}

// runKey tells runs apart. Where the wire has no id, a stream holds one run at a time.
type runKey struct {
	source, session, run string
	stream               *replay.Stream
}

// runs are those heard of last.
type runs struct {
	settings *Settings
	out      *output
	known    *simplelru.LRU[runKey, *run]
}

func newRuns(s *Settings, out *output) runs {
	known, _ := simplelru.NewLRU[runKey, *run](maxRuns, nil) // the only error is a size below one
	return runs{settings: s, out: out, known: known}
}

// of is the run that a frame is of.
func (r *runs) of(f replay.Frame, b *event.Batch) *run {
	key := runKey{source: f.Source, session: b.Session, run: b.Run}
	if b.Run == "" {
		key = runKey{source: f.Source, stream: f.Stream}
	}
	known, ok := r.known.Get(key)
	if !ok || known.over && (known.stream != f.Stream || begins(b)) {
		known = r.begin(key, b.Session)
	}
	known.stream = f.Stream
	return known
}

func begins(b *event.Batch) bool {
	for i := range b.Events {
		if b.Events[i].Kind == event.KindRunStarted {
			return true
		}
	}
	return false
}

// begin makes a run. Ids that the wire does not have are those of the place where it was first heard of.
func (r *runs) begin(key runKey, session string) *run {
	begun := &run{key: key, id: key.run, session: session}
	if begun.session == "" {
		begun.session = r.settings.Session
	}
	if begun.id == "" {
		begun.id = r.out.place()
	}
	if begun.session == "" {
		begun.session = begun.id
	}
	r.known.Add(key, begun)
	return begun
}

// adopt forgets a run that turns out to be part of another.
func (r *runs) adopt(id string, by *run) {
	for _, key := range r.known.Keys() {
		if key.run == id && key.source == by.key.source && key != by.key {
			r.known.Remove(key)
		}
	}
}

// on are the runs that a stream holds and that nobody has said to be over.
func (r *runs) on(stream *replay.Stream) (open []*run) {
	for _, known := range r.known.Values() {
		if known.stream == stream && !known.over {
			open = append(open, known)
		}
	}
	return open
}

// take notes what a fact says of the run.
func (r *run) take(b *event.Batch, e *event.Event) {
	r.verdict.take(b, e)
	if e.Kind == event.KindModelEnded || e.Kind == event.KindUsage {
		r.meter(e)
	}
}

// maxModels bounds the models of which a run counts tokens.
const maxModels = 32

func (r *run) meter(e *event.Event) {
	if e.Usage == (event.Usage{}) {
		return
	}
	if r.usage == nil {
		r.usage = make(map[string]event.Usage)
	}
	used, known := r.usage[e.Model]
	if !known && len(r.models) == maxModels {
		return
	}
	if !known {
		r.models = append(r.models, e.Model)
	}
	r.usage[e.Model] = used.Add(e.Usage)
}

// call is one of a tool for which the wire has no id.
type call struct{ id, tool string }

// maxCalls bounds the calls of a run that are open without an id of the wire's.
const maxCalls = 256

// callID is the id of a call that begins, and endedID that of one that ends: of those without ids, the oldest of the tool.
func (r *run) callID(e *event.Event, id func() string) string {
	if e.CallID != "" {
		return e.CallID
	}
	begun := call{id(), e.Name}
	if len(r.calls) < maxCalls {
		r.calls = append(r.calls, begun)
	}
	return begun.id
}

func (r *run) endedID(e *event.Event, id func() string) string {
	if e.CallID != "" {
		return e.CallID
	}
	for i, open := range r.calls {
		if open.tool == e.Name {
			r.calls = append(r.calls[:i], r.calls[i+1:]...)
			return open.id
		}
	}
	return id()
}

// thing is what is written more than once: the plan, an artifact.
type thing struct {
	kind     event.Kind
	name, id string
	begun    bool // the reader has what the next write may go on with
}

// maxThings bounds those of a run that are known. One that is forgotten is taken for another.
const maxThings = 256

// thing is what a fact writes. Its id is the same each time.
func (r *run) thing(e *event.Event, id func() string) *thing {
	name := cmp.Or(e.ID, e.Name)
	for i := range r.things {
		if known := &r.things[i]; known.kind == e.Kind && known.name == name {
			return known
		}
	}
	if len(r.things) == maxThings {
		r.things = slices.Delete(r.things, 0, 1)
	}
	r.things = append(r.things, thing{kind: e.Kind, name: name, id: id()})
	return &r.things[len(r.things)-1]
}

// step is an agent that works within a run.
type step struct {
	agent, branch, name string
	shown               bool // to the reader, who does not know yet that it is over
}

// maxSteps bounds those that are open at once. Of a further one nothing is said.
const maxSteps = 256

// beginStep names the step of an agent that begins: by the agent, or, where another of that name is at work, by its place. It
// says no where both are taken.
func (r *run) beginStep(agent, branch string, shown bool) (step, bool) {
	for _, name := range []string{agent, branch} {
		if name != "" && len(r.steps) < maxSteps && !r.stepNamed(name) {
			begun := step{agent, branch, name, shown}
			r.steps = append(r.steps, begun)
			return begun, true
		}
	}
	return step{}, false
}

func (r *run) stepNamed(name string) bool {
	for _, open := range r.steps {
		if open.name == name {
			return true
		}
	}
	return false
}

func (r *run) endStep(agent, branch string) (step, bool) {
	for i, open := range r.steps {
		if open.agent == agent && open.branch == branch {
			r.steps = append(r.steps[:i], r.steps[i+1:]...)
			return open, true
		}
	}
	return step{}, false
}

// completes reports whether a fact can be told of a run after its end. The others say that something begins, goes on or ends.
func completes(e *event.Event) bool {
	switch e.Kind {
	case event.KindText, event.KindArtifact, event.KindConfidence, event.KindCitation, event.KindReasoning:
		return true
	}
	return false
}

// forget lets go of what is of no use once a run is over. The last texts are kept as hashes: its protocol may repeat them.
func (r *run) forget() {
	r.texts = texts{all: r.texts.all, last: r.texts.last}
	r.steps, r.usage, r.models, r.calls = nil, nil, nil, nil
	r.verdict = verdict{failure: r.failure}
}
