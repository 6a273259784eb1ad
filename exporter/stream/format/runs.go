package format

import (
	"cmp"
	"slices"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// maxRuns bounds the runs that are tracked. A removed run that continues counts as a new one.
const maxRuns = 128

// status is the status of a run, with the names of package tracker.
type status string

const (
	running     status = "running"
	completed   status = "completed"
	failed      status = "failed"
	canceled    status = "canceled"
	interrupted status = "interrupted"
	incomplete  status = "incomplete"
)

// run is the state of one run.
type run struct {
	key         runKey
	id, session string           // as shown to the reader
	streams     []*replay.Stream // that have brought frames of it and have not ended, at most maxRunStreams

	statusTracker
	ended      bool
	outcome    status   // of an ended run
	finalState a2aState // of an ended run
	texts      texts
	steps      []step
	usage      map[string]event.Usage
	models     []string
	calls      []call // open calls without an id on the wire
	renamed    []renamedCall
	revisables []revisable
	announced  bool // announced to the reader on this connection
	hasFacts   bool // see statesFact
}

// runKey identifies a run. Without an id on the wire, a stream has one run at a time. Runs in the responses to two run requests
// differ, whatever their ids: some servers give all runs the same id.
type runKey struct {
	source, session, run string
	stream               *replay.Stream // the response to the run's request, or the stream of a run without an id; nil for other runs
}

func keyOfRun(f replay.Frame, b *event.Batch) runKey {
	switch {
	case b.Run == "":
		return runKey{source: f.Source, stream: f.Stream}
	case f.Stream.SingleRun:
		return runKey{f.Source, b.Session, b.Run, f.Stream}
	}
	return runKey{source: f.Source, session: b.Session, run: b.Run}
}

// runs holds the most recent runs.
type runs struct {
	settings *Settings
	out      *output
	byKey    *simplelru.LRU[runKey, *run]
}

func newRuns(s *Settings, out *output) runs {
	known, _ := simplelru.NewLRU[runKey, *run](maxRuns, nil) // the only error is a size below one
	return runs{settings: s, out: out, byKey: known}
}

// runOf returns the run of a frame, and begins one if none is known. It also begins one if the known run has ended, and the
// frame is from another stream or starts a run.
func (r *runs) runOf(f replay.Frame, b *event.Batch) *run {
	key := keyOfRun(f, b)
	known := r.find(key)
	if known == nil || known.ended && (!slices.Contains(known.streams, f.Stream) || b.Has(event.KindRunStarted)) {
		if known = r.identifyOpenRun(key, f.Stream); known == nil {
			known = r.begin(key, b.Session)
		}
	}
	known.joinedBy(f.Stream)
	known.hasFacts = known.hasFacts || statesFact(b)
	return known
}

// find returns the run with a key, or nil. A run may be open both on the stream that answers its request and on a
// stream that listens to it. The keys of the two differ, and either may bring the first frame.
func (r *runs) find(key runKey) *run {
	if known, ok := r.byKey.Get(key); ok {
		return known
	}
	for _, open := range slices.Backward(r.byKey.Values()) {
		same := open.key.source == key.source && open.key.session == key.session && open.key.run == key.run
		if key.run == "" || open.ended || !same || key.stream != nil && open.key.stream != nil {
			continue
		}
		if key.stream != nil { // the answer to the run's request
			r.setKey(open, key)
		}
		return open
	}
	return nil
}

// setKey changes the key of a run.
func (r *runs) setKey(open *run, key runKey) {
	r.byKey.Remove(open.key)
	open.key = key
	r.byKey.Add(key, open)
}

// identifyOpenRun gives the stream's open run without an ID the key with the ID that the stream has now stated. It returns the
// run, or nil if there is none to keep. The frames before a stream's first run ID belong to the run with that ID. If they stated a fact, readers know the run by a
// derived ID, which it keeps. If not, the run is removed, and the caller begins one with the stated ID.
func (r *runs) identifyOpenRun(key runKey, stream *replay.Stream) *run {
	open := r.openRuns(stream)
	if key.run == "" || len(open) != 1 || open[0].key.run != "" {
		return nil
	}
	if !open[0].hasFacts {
		r.byKey.Remove(open[0].key)
		return nil
	}
	r.setKey(open[0], key)
	return open[0]
}

// statesFact reports whether a frame has an event other than KindOther.
func statesFact(b *event.Batch) bool {
	for i := range b.Events {
		if b.Events[i].Kind != event.KindOther {
			return true
		}
	}
	return false
}

// begin adds a run. Ids that the wire does not state are derived from the run's first frame. If an open run has the same id, the
// id of the first frame is appended.
func (r *runs) begin(key runKey, session string) *run {
	id := cmp.Or(key.run, r.out.frameID())
	if slices.ContainsFunc(r.byKey.Values(), func(other *run) bool { return other.id == id && !other.ended && other.key != key }) {
		id += "." + r.out.frameID()
	}
	begun := &run{key: key, id: id, session: cmp.Or(session, r.settings.Session, id)}
	r.makeRoom()
	r.byKey.Add(key, begun)
	return begun
}

// makeRoom removes a run if there is no room for another one: an ended one, else an open one. The reader then misses the end of that run,
// and a gap says so. Of several, it removes the one that was silent longest.
func (r *runs) makeRoom() {
	if r.byKey.Len() < maxRuns {
		return
	}
	for _, known := range r.byKey.Values() {
		if known.ended {
			r.byKey.Remove(known.key)
			return
		}
	}
	r.byKey.RemoveOldest()
	if r.out.untoldGap == nil { // another gap says more
		r.out.noteGap(&replay.Gap{Reason: replay.GapEvicted, Oldest: r.out.frameID(), Head: r.out.frameID()})
	}
}

// adopt removes a run that turns out to be part of another.
func (r *runs) adopt(id string, parent *run) {
	for _, key := range r.byKey.Keys() {
		if key.run == id && key.source == parent.key.source && key != parent.key {
			r.byKey.Remove(key)
		}
	}
}

// maxRunStreams bounds the streams of a run that are known. A forgotten one does not keep the run open.
const maxRunStreams = 16

// joinedBy records that a stream brings frames of the run.
func (r *run) joinedBy(stream *replay.Stream) {
	if slices.Contains(r.streams, stream) {
		return
	}
	if len(r.streams) == maxRunStreams {
		r.streams = slices.Delete(r.streams, 0, 1)
	}
	r.streams = append(r.streams, stream)
}

// openRuns returns the runs of a stream that have not ended.
func (r *runs) openRuns(stream *replay.Stream) (open []*run) {
	for _, known := range r.byKey.Values() {
		if !known.ended && slices.Contains(known.streams, stream) {
			open = append(open, known)
		}
	}
	return open
}

// endsRun reports whether an event ends its run at once. In the response to a run request, the protocol may state the end of
// the run after each model response. Such a run ends with its stream, or when another run begins; see runsEndedBefore.
func endsRun(f replay.Frame, e *event.Event) bool {
	return e.Kind == event.KindRunEnded && !f.Stream.SingleRun
}

// runsEndedBefore returns the runs that end because a frame begins another run on their stream, or a run with their ID in the response
// to another request. The protocol has stated their end, but they are still open; see endsRun.
func (r *runs) runsEndedBefore(f replay.Frame, b *event.Batch) (ended []*run) {
	key := keyOfRun(f, b)
	if r.byKey.Contains(key) {
		return nil
	}
	for _, known := range r.byKey.Values() {
		follows := b.Has(event.KindRunStarted) && slices.Contains(known.streams, f.Stream)
		repeats := key.stream != nil && known.key.source == key.source && known.key.run == key.run && key.run != ""
		if known.endFrame > 0 && !known.ended && (follows || repeats) {
			ended = append(ended, known)
		}
	}
	return ended
}

// runsEndedBy records that a stream has ended, and returns the runs that end with it. These are runs without another stream, and runs
// whose end the protocol has stated.
func (r *runs) runsEndedBy(stream *replay.Stream) (ended []*run) {
	for _, known := range r.openRuns(stream) {
		if known.streams = slices.DeleteFunc(known.streams, func(s *replay.Stream) bool { return s == stream }); len(known.streams) == 0 || known.endFrame > 0 {
			ended = append(ended, known)
		}
	}
	return ended
}

// observe records what an event says about the run.
func (r *run) observe(b *event.Batch, e *event.Event) {
	r.statusTracker.observe(b, e)
	if e.Kind == event.KindModelEnded || e.Kind == event.KindUsage {
		r.addUsage(e)
	}
}

// maxModels bounds the models of a run whose tokens are counted.
const maxModels = 32

func (r *run) addUsage(e *event.Event) {
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

// revisable is an object that may be written more than once: a plan or an artifact.
type revisable struct {
	kind        event.Kind
	name, id    string
	contentSent bool // the reader has content that the next event may append to
}

// maxRevisables bounds the revisable objects of a run. A forgotten one counts as new.
const maxRevisables = 256

// revisableOf returns the object that an event writes, with a stable id.
func (r *run) revisableOf(e *event.Event, newID func() string) *revisable {
	name := cmp.Or(e.ID, e.Name)
	for i := range r.revisables {
		if known := &r.revisables[i]; known.kind == e.Kind && known.name == name {
			return known
		}
	}
	if len(r.revisables) == maxRevisables {
		r.revisables = slices.Delete(r.revisables, 0, 1)
	}
	r.revisables = append(r.revisables, revisable{kind: e.Kind, name: name, id: newID()})
	return &r.revisables[len(r.revisables)-1]
}

// step is an agent at work in a run, or a step of that agent if the protocol names it.
type step struct {
	worker, branch, name string // worker: the name of the agent or of its step; name: the one for readers
	shown                bool   // started for the reader, and not yet finished
}

// maxSteps bounds the steps that are open at once. Further ones are not written.
const maxSteps = 256

// beginStep starts a step, named after its worker, or after its branch if a step of that name is
// open. It returns false if both names are taken.
func (r *run) beginStep(worker, branch string, shown bool) (step, bool) {
	for _, name := range []string{worker, branch} {
		isTaken := slices.ContainsFunc(r.steps, func(open step) bool { return open.name == name })
		if name != "" && len(r.steps) < maxSteps && !isTaken {
			begun := step{worker, branch, name, shown}
			r.steps = append(r.steps, begun)
			return begun, true
		}
	}
	return step{}, false
}

// endStep removes a step. It returns false if the step is not open.
func (r *run) endStep(worker, branch string) (step, bool) {
	i := slices.IndexFunc(r.steps, func(open step) bool { return open.worker == worker && open.branch == branch })
	if i < 0 {
		return step{}, false
	}
	ended := r.steps[i]
	r.steps = slices.Delete(r.steps, i, i+1)
	return ended, true
}

// failsLate reports whether a frame says that a run has failed after it had ended otherwise.
func (r *run) failsLate(b *event.Batch) bool {
	return r.ended && r.outcome != failed && b.EndsInFailure()
}

// allowedAfterEnd reports whether an event may follow the end of a run. Other events say that
// something starts, continues or ends.
func allowedAfterEnd(e *event.Event) bool {
	switch e.Kind {
	case event.KindText, event.KindArtifact, event.KindConfidence, event.KindCitation, event.KindReasoning:
		return true
	}
	return false
}

// dropDetails releases what an ended run no longer needs. It keeps the class of a failure and the hashes of the last
// texts, which the protocol may repeat.
func (r *run) dropDetails() {
	r.texts = texts{answer: r.texts.answer, lacksMessage: r.texts.lacksMessage, lastWhole: r.texts.lastWhole, lastMessage: r.texts.lastMessage}
	r.steps, r.usage, r.models, r.calls, r.renamed = nil, nil, nil, nil, nil
	r.statusTracker = statusTracker{failure: r.failure}
}
