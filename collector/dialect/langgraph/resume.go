package langgraph

import (
	"cmp"
	"hash/maphash"
	"maps"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
)

// knowledge is what decoders know about a thread. It passes to the streams of the thread that begin after theirs have ended.
type knowledge struct {
	runs     []keptRun // the last ones, newest first; at most maxKeptRuns
	reported reportedMessages
	withheld []withheldRun // the last ones, newest first; at most maxWithheldRuns
}

// withheldRun is what the streams of a run have withheld.
type withheldRun struct {
	run   string // uuidKey
	items *withheldItems
}

// maxWithheldRuns limits the runs of a thread for which a knowledge has withheld items.
const maxWithheldRuns = 4

// withheldOf returns what the streams of a run have withheld, or nil if it has nothing of the run. Without a run ID, it returns those of the
// thread's last run.
func (k *knowledge) withheldOf(run string) *withheldItems {
	if i := slices.IndexFunc(k.withheld, func(one withheldRun) bool { return one.run == run || run == "" }); i >= 0 {
		return k.withheld[i].items
	}
	return nil
}

// keptRun is what a decoder knows about a run that no other stream has continued.
type keptRun struct {
	run      string // uuidKey
	state    runState
	sent     sentFrames
	thoughts wire.Set[string] // see examination
}

// maxKeptRuns limits the runs of a thread that are kept. Their streams may end in another order than the runs.
const maxKeptRuns = 2

// take removes what is known of a run.
func (k *knowledge) take(run string) (known keptRun, isKept bool) {
	i := slices.IndexFunc(k.runs, func(one keptRun) bool { return one.run == run })
	if i < 0 || run == "" {
		return known, false
	}
	known = k.runs[i]
	k.runs = slices.Delete(k.runs, i, i+1)
	return known, true
}

// add adds a run, in place of what another stream knew about it.
func (k *knowledge) add(known keptRun) {
	k.take(known.run)
	if known.run == "" || known.size() > maxStateSize {
		return
	}
	k.runs = slices.Insert(k.runs, 0, known)
	k.runs = k.runs[:min(len(k.runs), maxKeptRuns)]
}

// reportedMessages maps hashes of the ids of models' messages and of results to those of the runs in which they were reported. A
// later run may repeat them. For example, the run that resumes after a question starts with what ended beside the question.
type reportedMessages map[uint64]uint64

// maxReported limits a reportedMessages. When it is full, it forgets all messages.
const maxReported = 1024

func (r *reportedMessages) add(id, run string) {
	if id == "" || run == "" {
		return
	}
	if *r == nil || len(*r) >= maxReported {
		*r = make(reportedMessages)
	}
	(*r)[maphash.String(seed, id)] = maphash.String(seed, uuidKey(run))
}

// merge adds the messages of another map while there is room.
func (r *reportedMessages) merge(other reportedMessages) {
	if *r == nil {
		*r = make(reportedMessages)
	}
	for id, run := range other {
		if _, known := (*r)[id]; !known && len(*r) < maxReported {
			(*r)[id] = run
		}
	}
}

// isEarlier reports whether a run other than the given one has reported a message.
func (r reportedMessages) isEarlier(id, run string) bool {
	by, is := r[maphash.String(seed, id)]
	return is && run != "" && by != maphash.String(seed, uuidKey(run))
}

// sentFrames holds hashes of the last frames with an ID, at most 2*maxFrames. A client that reconnects may ask for frames that it did not
// get. To a stream that joins a run, the server may send the last frames twice, with their IDs: what the run sent while the server was sending
// what it had stored.
//
// Source: langgraph_runtime_inmem/ops.py, Runs.Stream.join.
type sentFrames struct{ recent, older map[uint64]struct{} }

const maxFrames = 1024

// add adds a frame, and reports whether it was new.
func (s *sentFrames) add(hash uint64) bool {
	_, isRecent := s.recent[hash]
	if _, isOlder := s.older[hash]; isRecent || isOlder {
		return false
	}
	if s.recent == nil || len(s.recent) >= maxFrames {
		s.recent, s.older = make(map[uint64]struct{}), s.recent
	}
	s.recent[hash] = struct{}{}
	return true
}

// isRepeated reports whether this stream, or the one that it continues, already contained a frame.
func (d *decoder) isRepeated(f dialect.Frame, contentHash uint64) bool {
	if len(f.ID) == 0 {
		return false
	}
	isNew := d.sent.add(maphash.Bytes(seed, f.ID) ^ contentHash)
	d.mayRepeat = d.mayRepeat && !isNew
	return !isNew
}

// resumption is the state that connects a decoder with other streams of its thread.
type resumption struct {
	states    *event.States // nil if the stream has no thread
	thread    string        // the key in states
	joined    string        // uuidKey of the run that the request joins, or ""
	begun     bool          // a frame was decoded
	mayRepeat bool          // the frames so far repeat those of the stream that is continued
	shared    string        // the run with which the withheld items are shared
	reported  reportedMessages
}

func newResumption(s *event.Stream) resumption {
	if s.Session == "" {
		return resumption{}
	}
	return resumption{states: s.States, thread: s.Source + " " + uuidKey(s.Session), joined: uuidKey(s.JoinedRun)}
}

// takeOver loads what earlier streams of the thread knew. It does so once, before the first frame. The state of a run goes to
// the stream that joins the run.
func (d *decoder) takeOver() {
	if d.begun {
		return
	}
	d.begun = true
	d.states.Update(d.thread, func(kept event.KeptState) event.KeptState {
		k, _ := kept.(*knowledge)
		if k == nil {
			return nil
		}
		d.reported = maps.Clone(k.reported)
		if known, isKept := k.take(d.joined); isKept {
			d.runState, d.sent, d.thoughts, d.mayRepeat = known.state, known.sent, known.thoughts, true
			d.started = false // the new stream reports a start of its own
		}
		return k
	})
}

// shareWithheld makes the decoder use the withheld items of its run, once the run is known.
func (d *decoder) shareWithheld() {
	if d.states == nil || d.ofRun != nil && d.shared == d.run || d.lastRun != nil && d.run == "" {
		return
	}
	isFirst := d.shared == ""
	d.ofRun, d.lastRun, d.shared = nil, nil, d.run
	if d.keepWithheld(); isFirst {
		d.ofRun.addAll(&d.withheld)
	}
}

// keepWithheld connects the decoder with the withheld items of its run. The thread may have lost them, or have other ones since it lost them.
func (d *decoder) keepWithheld() {
	d.states.Update(d.thread, func(kept event.KeptState) event.KeptState {
		k, _ := kept.(*knowledge)
		if k == nil {
			k = new(knowledge)
		}
		known := k.withheldOf(uuidKey(d.shared))
		switch {
		case d.shared == "":
			d.lastRun = cmp.Or(known, new(withheldItems))
		case known == nil:
			d.ofRun = cmp.Or(d.ofRun, new(withheldItems))
			k.withheld = slices.Insert(k.withheld, 0, withheldRun{uuidKey(d.shared), d.ofRun})
			k.withheld = k.withheld[:min(len(k.withheld), maxWithheldRuns)]
		case known != d.ofRun:
			if d.ofRun != nil {
				lost := d.ofRun.copy()
				known.addAll(&lost)
			}
			d.ofRun = known
		}
		return k
	})
}

// Close keeps what the decoder knows for later streams of the thread.
func (d *decoder) Close() {
	if !d.begun {
		return
	}
	if d.shareWithheld(); d.ofRun.len() > 0 {
		d.keepWithheld()
	}
	d.states.Update(d.thread, func(kept event.KeptState) event.KeptState {
		k, _ := kept.(*knowledge)
		if k == nil {
			k = new(knowledge)
		}
		d.reported.merge(k.reported)
		k.reported = d.reported
		k.add(keptRun{uuidKey(d.run), d.runState, d.sent, d.thoughts})
		return k
	})
	d.states, d.reported, d.runState, d.sent, d.thoughts = nil, nil, runState{}, sentFrames{}, wire.Set[string]{}
}

// Size returns the approximate size in bytes.
func (k *knowledge) Size() int {
	const ofReported = 40
	n := ofReported * len(k.reported)
	for i := range k.runs {
		n += k.runs[i].size()
	}
	const ofWithheld = 64
	for _, one := range k.withheld {
		n += ofWithheld * (1 + one.items.len())
	}
	return n
}

// maxStateSize limits what is kept of a run, in bytes.
const maxStateSize = 128 << 10

// size returns the approximate size in bytes.
func (r *keptRun) size() int {
	const ofFrame, ofThought = 16, 64
	return r.state.size() + ofFrame*(len(r.sent.recent)+len(r.sent.older)) + ofThought*r.thoughts.Len()
}

// size returns the approximate size of a run's state, in bytes.
func (s *runState) size() int {
	const ofID, ofEntry = 16, 512
	n := ofID*len(s.seen) + ofEntry*(len(s.open)+len(s.announced)+len(s.unmetered)+len(s.calls)+len(s.taskCall)+len(s.resumedCalls)+len(s.origins)+len(s.offers)+len(s.running)+len(s.tasks)+len(s.idle)) + s.invoked.size()
	for namespace, sc := range s.scopes {
		n += len(namespace) + ofEntry*(1+len(sc.returned))
	}
	for _, m := range s.open {
		n += m.text.Len()
		for _, c := range m.calls {
			n += ofEntry + len(c.args)
		}
	}
	return n
}
