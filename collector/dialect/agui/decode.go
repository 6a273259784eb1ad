package agui

import (
	"bytes"
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

type decoder struct {
	run, session string
	self         string // the name of the run's own agent: the configured one, until control is handed over
	configured   string
	over         bool // nothing but an error may follow
	blind        bool // something stayed in that may have begun anything
	held         bool // so does the beginning at hand
	kept         kept
	work

	names wire.Names
}

// work is what is known of the run at hand.
type work struct {
	agents   agents
	steps    steps
	messages messages
	calls    calls
	answered map[string]bool // calls whose results a snapshot held, by their ids
	nested   []string        // runs within the run that are open, by their ids
	asked    bool            // by an event from before the protocol had interrupts
	prompt   string          // of that
	guard    guard
	inner    map[which]bool // messages of snapshots that stay in, and their calls
}

func (d *decoder) reset() {
	d.over, d.work, d.self = false, work{}, d.configured
}

func (d *decoder) Decode(f dialect.Frame, b *event.Batch) {
	v := f.JSON
	named := v.Get("type")
	b.Run, b.Session = d.run, d.session
	switch {
	case !v.Exists():
		b.Rejected = f.Malformed
		d.unseen(v)
		if isBrokenError(f.Data) {
			b.Add(event.KindError).Error = event.AgentError
		}
		return
	case isBareError(v):
		b.Type = typeError
		d.fail(v, b)
		return
	case named.Kind() != strictjson.String:
		b.Rejected = event.ReasonShape
		d.unseen(v)
		return
	}
	b.Time = wire.NumberTime(v.Get("timestamp")) // the protocol says milliseconds; some producers send seconds
	k := kinds[string(named.Text())]
	if k == nil {
		d.unseen(v)
		b.Unknown = dialect.UnknownKind(named.Text())
		b.Add(event.KindOther)
		return
	}
	b.Type = k.name
	d.speaker(v).put(b)
	if k.lane {
		d.messages.close(d.owner(v), k.run)
	}
	verdict := d.judge(k, f)
	d.held = verdict == internal || k.name == typeRunStarted && filtered(f)
	switch k.state(d, v, b); verdict {
	case internal:
		b.Internal = true
	case stray:
		b.Type = typeStray
	}
	if b.Internal || b.Type == typeStray || filtered(f) {
		d.repeatNot(k, v)
	}
	if !b.Partial {
		d.tell(b)
	}
	if len(b.Events) == 0 {
		b.Add(event.KindOther)
	}
}

// isBrokenError knows a run's error whose text was pasted in without escaping.
func isBrokenError(data []byte) bool {
	const head = 256
	data = data[:min(len(data), head)]
	return bytes.HasPrefix(data, []byte("{")) && bytes.Contains(data, []byte(`"RUN_ERROR"`))
}

// runStarted begins a run; one that the run at hand has started on the same stream is an agent of it.
func (d *decoder) runStarted(v strictjson.Value, b *event.Batch) {
	run, parent, nested := d.nests(v)
	if nested {
		if d.prompted(v) {
			b.Type = typePrompted
		}
		d.beginNested(run, parent, b)
		return
	}
	if again := run == d.run && !d.over; !again && (d.run != "" || d.over) {
		d.reset()
		d.own().put(b)
	}
	if d.prompted(v) {
		b.Type = typePrompted
	}
	if d.held {
		d.hold(which{of: aRun})
	}
	d.run, d.session = run, d.name(v.Get("threadId"))
	b.Run, b.Session = d.run, d.session
	b.Add(event.KindRunStarted)
}

// nests returns the run that a frame begins and the one that started it, and whether that is on the same stream and goes on.
func (d *decoder) nests(v strictjson.Value) (run, parent string, nested bool) {
	run, parent = d.name(v.Get("runId")), d.name(v.Get("parentRunId"))
	going := d.run != "" && !d.over && run != d.run
	return run, parent, going && parent != "" && run != "" && (parent == d.run || d.agents.known(parent))
}

func (d *decoder) beginNested(run, parent string, b *event.Batch) {
	begun := agent{name: subAgent, branch: run}
	if parent != d.run {
		begun.parent = parent
	}
	d.agents.add(run, begun)
	if len(d.nested) < maxOpen {
		d.nested = append(d.nested, run)
	}
	begun.put(b)
	b.Add(event.KindAgentStarted)
}

// runFinished ends a run as its outcome says; without one it went well.
func (d *decoder) runFinished(v strictjson.Value, b *event.Batch) {
	if d.endNested(v, b) {
		return
	}
	if run := d.name(v.Get("runId")); d.run == "" || d.over && run != d.run {
		d.run, d.session, d.over = run, d.name(v.Get("threadId")), false // its beginning was not seen
		b.Run, b.Session = d.run, d.session
	}
	outcome := v.Get("outcome")
	failure := event.NoFailure
	switch {
	case outcome.Get("type").Is("cancelled"):
		failure = event.FailureCanceled
		b.Add(event.KindError).Error = failure
	case outcome.Get("type").Is("interrupt"):
		d.ask(outcome.Get("interrupts"), b)
	default:
		d.tellLast(b)
		d.askAsBefore(b)
		d.leave(outcome.Get("pendingToolCallIds"), b)
	}
	d.end(failure, "", v, b)
}

// endNested ends a run that is an agent of the one at hand. What it has used is not in what that one has.
func (d *decoder) endNested(v strictjson.Value, b *event.Batch) bool {
	run := d.name(v.Get("runId"))
	i := slices.Index(d.nested, run)
	if i < 0 {
		return false
	}
	d.nested = slices.Delete(d.nested, i, i+1)
	d.agents.of(run).put(b)
	d.meter(v.Get("usage"), b)
	b.Add(event.KindAgentEnded)
	return true
}

// end ends the run. What follows is only an error that came too late, or another run.
func (d *decoder) end(failure event.Failure, code string, v strictjson.Value, b *event.Batch) {
	d.meter(v.Get("usage"), b)
	if !d.over {
		e := b.Add(event.KindRunEnded)
		e.Error, e.Code = failure, code
	}
	d.reset()
	d.over = true
}

func (d *decoder) runError(v strictjson.Value, b *event.Batch) { d.fail(v, b) }

func (d *decoder) fail(v strictjson.Value, b *event.Batch) {
	e := b.Add(event.KindError)
	e.Error, e.Code = event.AgentError, errorCode(v)
	d.end(event.AgentError, e.Code, v, b)
}

// errorCode returns the code of an error event, or "".
func errorCode(v strictjson.Value) string {
	return wire.Specific(wire.Code(v.Get("code")), wire.ErrorCode(v.First("message", "error")))
}

// maxModels bounds the models of which a run counts tokens.
const maxModels = 32

// meter states what each model of a run has used; of no response the protocol tells so.
func (d *decoder) meter(usage strictjson.Value, b *event.Batch) {
	n := 0
	for entry := range usage.Elements() {
		used := readUsage(entry)
		if used == (event.Usage{}) || n == maxModels {
			continue
		}
		n++
		e := b.Add(event.KindUsage)
		e.Model, e.Usage = d.name(entry.Get("model")), used
	}
}

func (d *decoder) stateSnapshot(v strictjson.Value, b *event.Batch) {
	if snapshot := v.Get("snapshot"); snapshot.Exists() {
		b.Add(event.KindState).SetState(readState(snapshot))
	}
}

func (d *decoder) stateDelta(v strictjson.Value, b *event.Batch) {
	b.Add(event.KindState).SetState(readPatch(v.Get("delta")))
}

// activitySnapshot takes an activity for a piece of data that the run writes.
func (d *decoder) activitySnapshot(v strictjson.Value, b *event.Batch) {
	size := event.Count{}
	content := v.Get("content")
	if content.Exists() {
		size = event.Count{N: int64(len(content.Raw())), Known: true}
	}
	d.write(v, event.Artifact{Bytes: size}, event.Piece{Kind: event.PieceData, Value: content}, b)
}

// activityDelta changes an activity; how large it is then the patch does not say.
func (d *decoder) activityDelta(v strictjson.Value, b *event.Batch) {
	patch := event.Piece{Kind: event.PiecePatch}
	if said := v.Get("patch"); said.Kind() == strictjson.Array {
		patch.Value = said
	}
	d.write(v, event.Artifact{Append: true}, patch, b)
}

// write states that an activity was written, with what is in it: what is empty may stand in for what has been taken away.
func (d *decoder) write(v strictjson.Value, a event.Artifact, piece event.Piece, b *event.Batch) {
	e := b.Add(event.KindArtifact)
	e.ID, e.Name = d.name(v.Get("messageId")), d.name(v.Get("activityType"))
	a.Kind = event.ArtifactData
	e.Artifact = a
	if piece.Value.Len() > 0 {
		e.AddPiece(piece)
	}
}

// raw is what the agent's framework says, before anybody has chosen what of it a client is to see.
func (d *decoder) raw(_ strictjson.Value, b *event.Batch) { b.Internal = true }

func (d *decoder) other(strictjson.Value, *event.Batch) {}

// thought takes a piece of one. No frame repeats it.
func (d *decoder) thought(v strictjson.Value, b *event.Batch) {
	b.AddText(event.KindThought, v.Get("delta"))
}

// name returns a string of the wire, cut.
func (d *decoder) name(v strictjson.Value) string { return d.names.Of(v) }
