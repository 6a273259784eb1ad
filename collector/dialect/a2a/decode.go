package a2a

import (
	"hash/maphash"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

type decoder struct {
	tasks     *simplelru.LRU[string, *task]
	last      *task
	names     wire.NameCache
	places    wire.Places
	items     items
	thoughts  wire.Set[itemKey] // artifacts and messages that are thoughts as a whole
	summaries wire.Set[itemKey] // artifacts with summaries
	authors   wire.Authors[itemKey]
	request   strictjson.Value // id of the JSON-RPC request that the current frame answers
	answer    bool             // the stream is the answer to one request
	joined    bool             // the request subscribed to a task
	resumed   bool             // the stream may begin in the middle of a task
	isNew     bool             // the request started the stream's task

	thoughtEnds    wire.Set[itemKey]               // artifacts with a last snapshot that ends in a thought, until their next piece
	thoughtBeside  bool                            // the current frame's envelope is marked as a thought
	relayed        wire.RelayedThoughts            // of the current frame
	remote         wire.RemoteAnswer               // of the current frame
	remoteErrors   wire.Set[uint64]                // hashes of the texts of remote agents' errors
	hasRemoteError bool                            // the current frame repeats the text of a remote agent's error
	textKinds      map[strictjson.Value]event.Kind // of the current frame
	contents       []content                       // scratch of readContents
	answers        []string                        // calls answered by a request that named no session; kept until the stream names it
}

// maxScratch bounds the capacity of the slice contents that the decoder keeps for the next frame.
const maxScratch = 64

func (d *decoder) Decode(f dialect.Frame, b *event.Batch) {
	u := readKnown(f)
	d.request = f.JSON.Get("id")
	b.Snapshot, b.StreamError = u.shape == shapeTask && d.last == nil, u.shape == shapeFailure
	d.thoughtBeside = wire.IsMarkedThought(f.JSON) || wire.IsMarkedThought(f.JSON.Get("result"))
	d.readRelayed(u, b)
	contents := d.readContents(f.JSON, u)
	d.findTextKinds(f.JSON, u, contents, b)
	begins := d.begins(u)
	d.decode(f, u, b)
	d.checkInternal(f, u, contents, begins, b)
	if b.Run != "" {
		b.ContentHash = contentHash(f, u)
	}
}

// contentHash hashes the part of a frame that is the same for every subscriber of its task:
// everything except the envelope, which contains the request's id. It never returns 0.
func contentHash(f dialect.Frame, u update) uint64 {
	if u.shape == shapeNone || u.shape == shapeOther {
		return maphash.Bytes(seed, f.Data) | 1
	}
	return maphash.Bytes(seed, u.body.Raw()) | 1
}

func (d *decoder) decode(f dialect.Frame, u update, b *event.Batch) {
	if !f.JSON.Exists() {
		b.Rejected = f.Malformed
		if string(f.Event) == typeError {
			b.Add(event.KindError).Error = event.AgentError
		}
		d.assignToLast(b)
		return
	}
	switch u.shape {
	case shapeTask:
		d.readTask(u.body, b)
	case shapeStatus:
		d.readStatus(u.body, b)
	case shapeArtifact:
		if d.isSummary(u) {
			d.readSummary(u, b)
		} else {
			d.readArtifact(u, b)
		}
	case shapeMessage:
		d.readMessage(u.body, b)
	case shapeFailure:
		d.readFailure(u.body, b)
	case shapeOther:
		b.Type, b.UnknownKind = u.kind, dialect.UnknownKind([]byte(u.kind))
		d.assignToLast(b)
	default:
		b.Rejected = event.ReasonShape
		return
	}
	if u.misplaced {
		b.Type = typeWorking
	}
	if b.Type == typeWorking && (u.shape == shapeArtifact || u.shape == shapeMessage) {
		b.Type = typeAside
	}
	addThought(f.JSON, b)
	if len(b.Events) == 0 {
		b.Add(event.KindOther)
	}
}

// assignToLast assigns a frame that does not name a task to the most recent one.
func (d *decoder) assignToLast(b *event.Batch) {
	if d.last != nil {
		b.Run, b.Session = d.last.run(), d.last.session
	}
}

// setRun sets the run and the session of the batch. With the first frame that names the session, it also reports the
// answers in the request. A request need not name the session, because the server knows it from the task.
func (d *decoder) setRun(t *task, b *event.Batch) {
	if b.Run, b.Session = t.run(), t.session; b.Session == "" {
		return
	}
	for _, id := range d.answers {
		b.Add(event.KindInputAnswered).CallID = id
	}
	d.answers = nil
}

// readFailure treats an error as the end of the stream's task: no frame follows an error.
func (d *decoder) readFailure(v strictjson.Value, b *event.Batch) {
	b.Type = typeError
	t := d.last
	if t == nil {
		t = &task{}
	}
	d.setRun(t, b)
	code := wire.MostSpecific(t.code, wire.ErrorCode(v))
	if t.ended {
		e := b.Add(event.KindError)
		e.Error, e.Code = event.AgentError, code
		return
	}
	t.finish(event.AgentError, code, b)
}

// readTask reads a snapshot. If the task is over, the snapshot is the whole answer. If not, a client that subscribes late gets in its first
// snapshot the artifacts that were sent before. They are not reported. If the request started the task, they are new.
func (d *decoder) readTask(v strictjson.Value, b *event.Batch) {
	t, st := d.task(v.Get("id"), v.Get("contextId")), readStatus(v)
	isFirst := !t.seen && !st.isFinal()
	st.parts = d.markMessage(st.message, st.parts)
	b.HasThoughts = b.HasThoughts || st.parts.thought
	for message := range v.Get("history").Elements() {
		b.HasThoughts = b.HasThoughts || d.thoughts.Len() > 0 && d.thoughts.MayContain(d.messageKey(message))
	}
	d.enterTask(t, st, b)
	t.beganHere = t.beganHere || isFirst && st.state == submitted && v.Get("artifacts").Len() == 0
	d.setSpeaker(t, readADKMetadata(v.Get("metadata"), st.message.Get("metadata")), b)
	b.Type = st.typeOf(typeTask)
	inThought, areThoughts, haveThoughts := wire.IsMarkedThought(v), false, false
	for artifact := range v.Get("artifacts").Elements() {
		id, key := d.name(artifact.Get("artifactId")), d.artifactKey(t, artifact)
		known, parts := t.artifact(id), d.markArtifact(key, extentSnapshot, false, partsOfArtifact(artifact, inThought))
		areThoughts, haveThoughts = areThoughts || parts.thought, haveThoughts || hasMarkedThought(parts)
		switch {
		case isFirst && d.isNew:
			d.addWrite(artifact, parts, event.Artifact{}, b)
			d.collectText(t, id, parts, event.Artifact{}, b)
		case isFirst:
			a := t.openArtifact(id)
			a.appendText(parts)
			a.hash(parts, event.Artifact{})
			if d.joined {
				d.addWrite(artifact, parts, event.Artifact{}, b)
			}
		case !t.ended && known.isIncomplete() && (!known.ofEvents || !st.isFinal()):
			d.catchUp(known, t, st, artifact, parts, b)
		case !t.ended && !t.hasArtifact(id):
			t.openArtifact(id).ofEvents = false
			d.addWrite(artifact, parts, event.Artifact{Complete: true}, b)
			if t.isNewText(parts) {
				addTexts(parts, b)
				t.openArtifact(id).nameTexts(b)
			}
			t.addAnswer(wholeArtifact(parts))
		}
	}
	if v.Get("artifacts").Len() > 0 {
		b.Type, b.HasThoughts = st.withArtifacts(b.Type, areThoughts, haveThoughts), b.HasThoughts || areThoughts
	}
	d.applyStatus(t, st, adkMetadata{}, b)
}

// catchUp reads an artifact in a snapshot if earlier frames had pieces of the artifact. A client that lost its connection
// subscribes again, and the snapshot has what was sent in the meantime. reportAnswer reports the text of a completed task.
func (d *decoder) catchUp(a *artifact, t *task, st status, snapshot strictjson.Value, parts parts, b *event.Batch) {
	write := event.Artifact{Complete: st.state == completed}
	switch {
	case !a.ofEvents && a.holds(parts):
	case write.Complete:
		a.restart()
		a.appendText(parts)
		a.incomplete = true
		d.addWrite(snapshot, parts, write, b)
	case a.ofEvents || a.text.IsTruncated() || parts.contain(func(p part) bool { return p.kind == partThought }):
		a.missingStart = true // nothing shows which part is new, so no whole text is reported
	default:
		d.addWrite(snapshot, parts, write, b)
		d.collectText(t, a.id, parts, write, b)
	}
}

func (d *decoder) readStatus(v strictjson.Value, b *event.Batch) {
	t, st := d.task(v.Get("taskId"), v.Get("contextId")), readStatus(v)
	st.parts = d.markMessage(st.message, st.parts)
	b.HasThoughts = b.HasThoughts || st.parts.thought
	d.enterTask(t, st, b)
	m := readADKMetadata(v.Get("metadata"), st.message.Get("metadata"))
	m.errorMessage = wire.ErrorMessage(st.message)
	m.isEmpty = st.state == working && st.parts.len() == 0 && !wire.IsFailureCode(m.code)
	d.setSpeaker(t, m, b)
	b.Type = st.typeOf(typeStatus)
	if isDelegationEnd(v.Get("metadata")) {
		t.endTexts()
	}
	d.applyStatus(t, st, m, b)
	if n := len(b.Events); n > 0 && b.Events[n-1].Kind == event.KindRunEnded {
		b.Events[n-1].AwaitsOutcome = true // some agents send the artifact after the final status
	}
}

// isDelegationEnd reports whether Agno's metadata of a status says that a member of a team has finished its task.
func isDelegationEnd(metadata strictjson.Value) bool {
	return metadata.Get("agno_event_type").Is("tool_call_completed") && metadata.Get("tool_name").Is("delegate_task_to_member")
}

// enterTask sets the run, the session and the time of the batch and starts the task if it was
// submitted. A task that is over stays over, unless it is submitted again.
func (d *decoder) enterTask(t *task, st status, b *event.Batch) {
	if t.begins(st.state) {
		t.continuedRun = ""
	}
	d.setRun(t, b)
	b.Time, b.StateHash, b.AwaitsInput = st.time, st.hash(), st.isWaiting()
	t.begin(st.state, d.joined && b.Snapshot, b)
}

// applyStatus reports that a task works, waits for input, or has ended, with the texts and calls that the
// status contains.
func (d *decoder) applyStatus(t *task, st status, m adkMetadata, b *event.Batch) {
	switch {
	case t.ended:
	case st.isWaiting():
		for p := range st.parts.all() {
			if p.kind == partCall { // responses in this message only acknowledge that the calls wait
				d.addCall(t, adkMetadata{}, p, b)
			}
		}
		d.endPieces(t, "", b)
		t.requestInput(st, b)
	case !st.isFinal():
		t.resume(b)
		d.readComment(t, st, m, b)
	case st.state == completed:
		d.reportAnswer(t, st, b)
		t.finish(event.NoFailure, "", b)
	case st.state == canceled:
		t.finish(event.FailureCanceled, "", b)
	default:
		d.reportLastFailure(t, m, st.parts, b)
		isBeside := t.hasAnswer && b.Agent == "" && wire.IsModelError(m.code, []byte(st.parts.joinedText()))
		t.finish(event.AgentError, wire.MostSpecific(wire.Code(m.code), st.parts.code(), t.code), b)
		b.Events[len(b.Events)-2].Beside = isBeside // the model of an agent that has not spoken
	}
}

// readComment reads the message of a working status. The message of an ADK agent is an event of the run. The message of
// another agent only describes the work, so only its thoughts are reported.
func (d *decoder) readComment(t *task, st status, m adkMetadata, b *event.Batch) {
	switch {
	case fromUser(st.message):
		for p := range st.parts.all() {
			if p.kind == partResponse {
				d.addResponse(t, m, p, b)
			}
		}
	case m.isEvent:
		b.Partial, t.hasAnswer = m.partial, false
		d.readEvent(t, m, st.parts, b)
	default:
		for p := range st.parts.all() {
			if p.kind == partThought {
				addText(p, b)
			}
		}
	}
}

// reportAnswer reports the final text of a task, and the texts of artifacts whose last piece was
// not marked as the last.
func (d *decoder) reportAnswer(t *task, st status, b *event.Batch) {
	reported := false
	d.endPieces(t, "", b)
	for _, a := range t.artifacts {
		if a.incomplete && t.reportText(a, b) {
			reported = true
			a.nameTexts(b)
		}
	}
	if !fromUser(st.message) && st.parts.len() > 0 {
		if isNew := t.isNewText(st.parts) && !t.isAnswer(st.parts); isNew || !reported {
			b.Repeats = !isNew
			b.Partial = b.Repeats
			addTexts(st.parts, b)
		}
	}
}

// name returns a string of the wire, cut to dialect.MaxName.
func (d *decoder) name(v strictjson.Value) string { return d.names.Name(v) }
