package langgraph

import (
	"bytes"
	"hash/maphash"
	"regexp"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
)

// secrecy is what a stream knows about what must not leave. It passes to a stream that joins the run.
type secrecy struct {
	withheld      wire.SharedSet // messages that were withheld, and their calls; interrupts of internal nodes
	reused        wire.SharedSet // IDs that a withheld call had before another call; see reuseCalls
	withheldTools wire.SharedSet // the tools of calls in withheld messages
	unnamed       wire.SharedSet // hashes of the contents of withheld messages without an ID, until a state gives them one
	internalWork  wire.SharedSet // LangChain's runs and LangGraph's tasks that are internal, or may be
	doubted       wire.SharedSet // questions that were withheld because they may be of internal work
	thoughts      wire.SharedSet // messages that are thoughts as a whole
	shown         shownSet
	withheldCalls withheldCalls
	pieces        callPieces
	frames        judgedFrames
	toldOpen      string // the ID that noteOpenWork has added to internalWork, or ""
}

func (s *secrecy) sets() []*wire.SharedSet {
	return []*wire.SharedSet{&s.withheld, &s.reused, &s.withheldTools, &s.unnamed, &s.internalWork, &s.doubted, &s.thoughts}
}

// takeOver continues what an earlier stream of the run knew.
func (s *secrecy) takeOver(earlier *secrecy) {
	for i, set := range s.sets() {
		set.TakeOver(earlier.sets()[i])
	}
	shared := s.withheldCalls.shared
	s.shown, s.withheldCalls, s.pieces, s.frames, s.toldOpen = earlier.shown, earlier.withheldCalls, earlier.pieces, earlier.frames, earlier.toldOpen
	s.withheldCalls.shared, s.withheldCalls.continues = shared, true
	s.withheldCalls.forgetIndex()
	s.frames.newest = nil
}

// size returns the approximate size in bytes.
func (s *secrecy) size() int {
	const ofID, ofPart = 64, 32
	n := s.shown.size() + s.pieces.size() + ofPart*(s.frames.parts+len(s.frames.list))
	for _, set := range s.sets() {
		n += ofID * set.Len()
	}
	h := &s.withheldCalls
	for message, graph := range h.graphs {
		n += ofID + len(message) + len(graph)
	}
	return n + h.withoutID.size() + ofID*(len(h.begun)+len(h.messages)+h.ended.Len()+h.returned.Len()+h.listed.Len()+h.asked.Len()+h.unnamed.Len()+s.pieces.internal.Len()+s.pieces.answered.Len()+s.pieces.answeredBefore.Len())
}

// kept returns what is kept of the run: without what only tells what was reported, if that is too large.
func (d *decoder) kept() keptRun {
	known := keptRun{uuidKey(d.run), d.runState, d.secrecy}
	known.secrecy.shown.noted, known.secrecy.shown.vouched, known.secrecy.pieces.whole = nil, nil, nil // they refer to the last frame
	known.secrecy.withheldCalls.forgetIndex()
	if known.state.size() > maxStateSize {
		known.state = runState{attempt: d.attempt, leftCalls: d.leftCalls, shownWork: d.shownWork, internalState: d.internalState, invoked: d.invoked}
	}
	return known
}

// maxSecrecySize limits what is kept of a run to know what must not leave, in bytes.
const maxSecrecySize = 2 << 20

// openWork is the prefix in internalWork of runs in which internal work has not ended. A stream that joins such a run without knowing what
// works there withholds what the run's own graph returns, up to the next state of that graph; see withholdUnknown for that state.
const openWork = "open "

// noteOpenWork tells other streams whether internal work has not ended.
func (d *decoder) noteOpenWork() {
	switch isOpen := len(d.working) > 0; {
	case isOpen == (d.toldOpen != ""):
	case isOpen:
		d.toldOpen = openWork + uuidKey(d.run)
		d.internalWork.Add(d.toldOpen)
	default:
		d.endOpenWork()
	}
}

func (d *decoder) endOpenWork() {
	d.internalWork.Remove(d.toldOpen)
	d.toldOpen = ""
}

// joinOpenWork begins work at an unknown place if another stream has recorded such work.
func (d *decoder) joinOpenWork() {
	if shared := openWork + d.joined; d.joined != "" && shared != d.toldOpen && d.internalWork.Contains(shared) {
		d.beginWork(openWork, work{kind: workOfNode})
	}
}

// mayRepeatOpenWork reports whether a task of a graph may return what work at an unknown place wrote.
func (d *decoder) mayRepeatOpenWork(graph []byte) bool {
	_, is := d.working[openWork]
	return is && len(graph) == 0
}

// judgedFrames holds the judgments of the last frames with an ID. A client that reconnects may ask for frames that it did not get. The
// server sends them in order and with their IDs. To a stream that joins a run, it may send the last of them twice: what the run sent while
// the server was sending what it had stored.
//
// Source: langgraph_runtime_inmem/ops.py, Runs.Stream.join.
type judgedFrames struct {
	list   []judgedFrame // at most maxFrames
	parts  int           // of all judgments, at most maxJudgedParts
	newest []byte        // the newest ID of this stream
}

type judgedFrame struct {
	hash     uint64
	judgment event.Judgment
}

// Limits of a judgedFrames.
const (
	maxFrames      = 1024
	maxJudgedParts = 16 << 10
)

// forgotten is the judgment of a frame that comes again after it was removed from the list.
var forgotten = (&event.Batch{Internal: true}).Judgment(0)

// repeatedFrame returns the judgment of a frame that this stream, or the one that it continues, already contained, or nil.
func (d *decoder) repeatedFrame(f dialect.Frame, contentHash uint64) *event.Judgment {
	if len(f.ID) == 0 {
		return nil
	}
	if d.mayRepeat || !isBefore(d.frames.newest, f.ID) {
		hash := frameHash(f, contentHash)
		if i := slices.IndexFunc(d.frames.list, func(known judgedFrame) bool { return known.hash == hash }); i >= 0 {
			return &d.frames.list[i].judgment
		}
	}
	d.mayRepeat = false
	if isBefore(f.ID, d.frames.newest) {
		return &forgotten
	}
	d.frames.newest = slices.Clone(f.ID[:min(len(f.ID), dialect.MaxName)])
	return nil
}

// frameID matches the IDs of frames: the time in milliseconds and a number.
//
// Source: langgraph_runtime_inmem/inmem_stream.py, _generate_ms_seq_id.
var frameID = regexp.MustCompile(`^[0-9]{13}-[0-9]+$`)

// isBefore reports whether the ID of a frame is of an earlier millisecond than another one.
func isBefore(id, other []byte) bool {
	return frameID.Match(id) && frameID.Match(other) && bytes.Compare(id[:13], other[:13]) < 0
}

func frameHash(f dialect.Frame, contentHash uint64) uint64 {
	return maphash.Bytes(seed, f.ID) ^ contentHash
}

// noteFrame gives a repeated frame the judgment that it had before, and records the judgment of another one.
func (d *decoder) noteFrame(f dialect.Frame, contentHash uint64, repeated *event.Judgment, b *event.Batch) {
	switch {
	case repeated != nil:
		b.Judge(repeated)
	case len(f.ID) > 0:
		if len(d.frames.list) >= maxFrames {
			for _, old := range d.frames.list[:maxFrames/2] {
				d.frames.parts -= old.judgment.Parts()
			}
			d.frames.list = slices.Delete(d.frames.list, 0, maxFrames/2)
		}
		judgment := b.Judgment(maxJudgedParts - d.frames.parts)
		d.frames.parts += judgment.Parts()
		d.frames.list = append(d.frames.list, judgedFrame{frameHash(f, contentHash), judgment})
	}
}
