package langgraph

import (
	"hash/maphash"
	"maps"

	"github.com/delegraph/delegraph/collector/event"
)

// knowledge is what a decoder knows about a thread. It passes to the streams of the thread that begin after the decoder's
// has ended.
type knowledge struct {
	run      string   // uuidKey of the last run
	state    runState // of that run; empty if another stream has continued it
	secrecy  secrecy
	reported reportedMessages
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

// resumption is the state that connects a decoder with other streams of its thread.
type resumption struct {
	states    *event.States // nil if the stream has no thread
	thread    string        // the key in states
	joined    string        // uuidKey of the run that the request joins, or ""
	begun     bool          // a frame was decoded
	mayRepeat bool          // the frames so far repeat those of the stream that is continued
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
		if d.reported = maps.Clone(k.reported); k.run == d.joined && d.joined != "" {
			d.secrecy.takeOver(&k.secrecy)
			d.runState, d.mayRepeat = k.state, true
			d.started = false // the new stream reports a start of its own
			k.run, k.state, k.secrecy = "", runState{}, secrecy{}
		} else {
			d.shown.continueThread(&k.secrecy.shown)
		}
		return k
	})
	if !d.mayRepeat {
		d.joinOpenWork()
	}
}

// Close keeps what the decoder knows for later streams of the thread.
func (d *decoder) Close() {
	if !d.begun {
		return
	}
	d.states.Update(d.thread, func(kept event.KeptState) event.KeptState {
		next := &knowledge{reported: d.reported}
		if k, is := kept.(*knowledge); is { // of a stream that ended after this one began
			next.reported.merge(k.reported)
		}
		if state, known, isKept := d.kept(); isKept {
			next.run, next.state, next.secrecy = uuidKey(d.run), state, known
		} else {
			next.secrecy.shown.missed = d.shown.missed
		}
		return next
	})
	d.states, d.reported, d.runState, d.secrecy = nil, nil, runState{}, secrecy{}
}

// Size returns the approximate size in bytes.
func (k *knowledge) Size() int {
	const ofReported = 40
	return k.state.size() + k.secrecy.size() + ofReported*len(k.reported)
}

// maxStateSize limits what is kept of a run to report nothing twice, in bytes.
const maxStateSize = 128 << 10

// size returns the approximate size of a run's state, in bytes.
func (s *runState) size() int {
	const ofID, ofEntry = 16, 512
	n := ofID*len(s.seen) + ofEntry*(len(s.open)+len(s.announced)+len(s.unmetered)+len(s.calls)+len(s.leftCalls)+len(s.taskCall)+len(s.resumedCalls)+len(s.origins)+len(s.offers)+len(s.running)+len(s.tasks)+len(s.idle)+s.shownWork.Len()) + s.internalState.size() + s.invoked.size()
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
