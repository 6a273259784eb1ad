package a2a

import (
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

func (d *decoder) readArtifact(u update, b *event.Batch) {
	v := u.body
	t, artifact := d.task(v.Get("taskId"), v.Get("contextId")), v.Get("artifact")
	d.setRun(t, b)
	t.seen = true
	m := readADKMetadata(v.Get("metadata"), artifact.Get("metadata"))
	m.inArtifact = true
	isRepeat := d.repeatsCalls(t, m, artifact)
	if !isRepeat {
		d.setSpeaker(t, m, b)
	}
	key, write := d.artifactKey(t, artifact), event.Artifact{Append: u.appends(), Complete: is(v, "lastChunk")}
	parts := d.withFrame(partsOfArtifact(artifact, wire.IsMarkedThought(v)))
	m.isEvent = m.isEvent || write.Complete && !write.Append && t.isLastEvent(parts)
	parts = d.markArtifact(key, u.extent(), m.isEvent, parts) // ADK agents mark each part
	b.HasThoughts = b.HasThoughts || parts.thought
	b.Type = typeOf(typeArtifact, parts)
	if write.Append && d.mayHaveBegunBefore(u) && !d.items.begun.Contains(key) { // an earlier piece may have said that the artifact is a thought
		b.Type, b.MissedStart, b.HasThoughts = typeAside, true, b.HasThoughts || !m.isEvent
	}
	t.resume(b)
	if isRepeat {
		return
	}
	t.hasAnswer = m.isEvent && write.Complete && !m.partial && b.Branch == "" && parts.len() > 0 && textOnly(parts) && !wire.IsFailureCode(m.code)
	id := d.name(artifact.Get("artifactId"))
	piece := m.isEvent && !m.hasPartial && mayBePiece(parts) && (!write.Complete || write.Append && t.artifact(id).isIncomplete())
	if b.Partial = m.partial || piece && !write.Complete; !b.Partial {
		d.addWrite(artifact, parts, write, b)
	}
	switch {
	case piece:
		t.addUnmarkedPiece(m, id, b)
		d.collectText(t, id, parts, write, b)
		t.openArtifact(id).ofEvents = true
	case m.isEvent:
		if d.readEvent(t, m, parts, b); !m.partial {
			t.openArtifact(id).restart()
			t.openArtifact(id).ofEvents = true
		}
	case !m.hasPartial: // otherwise ADK for Go may be emptying an artifact whose whole text it has sent
		d.collectText(t, id, parts, write, b)
	}
	if write.Complete && !m.hasPartial {
		d.endPieces(t, id, b)
	}
}

// isLastEvent reports whether parts are the text of the last ADK event, which was in a status. kagent repeats it without metadata.
func (t *task) isLastEvent(parts parts) bool {
	return len(t.speakers) > 0 && !t.lastInArtifact && parts.len() > 0 && textOnly(parts) && textHash(parts) == t.lastText
}

// mayBePiece reports whether the parts of an ADK agent's update may be a piece of an event. An update with
// something other than text is a whole event.
func mayBePiece(parts parts) bool {
	return !parts.contain(func(p part) bool {
		return p.kind == partCall && !p.streamed || p.kind == partResponse || p.kind == partFile || p.kind == partData || p.kind == partCode || p.kind == partCodeResult
	})
}

// artifactKey returns the key of an artifact.
func (d *decoder) artifactKey(t *task, artifact strictjson.Value) itemKey {
	return itemKey{itemArtifact, t.id, d.idOf(artifact, artifactIDs)}
}

// isSummary reports whether an update has the summary of an ADK agent's session, also that of a remote agent.
func (d *decoder) isSummary(u update) bool {
	return u.shape == shapeArtifact && (wire.IsSummary(u.body) || d.remote.IsSummary)
}

// readSummary reads a summary, which is no answer. It remembers the artifact, because snapshots do not say that it has a summary.
func (d *decoder) readSummary(u update, b *event.Batch) {
	t := d.task(u.body.Get("taskId"), u.body.Get("contextId"))
	d.setRun(t, b)
	t.seen, b.Type = true, typeSummary
	t.resume(b)
	d.summaries.Add(d.artifactKey(t, u.body.Get("artifact")))
}

// addWrite reports a write to an artifact. Tool calls are not part of an artifact.
func (d *decoder) addWrite(artifact strictjson.Value, parts parts, write event.Artifact, b *event.Batch) {
	counted, filtered := false, false
	write.Kind = event.ArtifactOther
	for p := range parts.all() {
		switch {
		case p.kind == partFile:
			write.Kind = event.ArtifactFile
		case p.kind == partData && write.Kind != event.ArtifactFile:
			write.Kind = event.ArtifactData
		case p.kind != partData && p.kind != partText:
			continue
		}
		write.Bytes, counted = write.Bytes.Add(p.bytes), true
		filtered = filtered || !p.bytes.Known && p.data.Exists() && !hasContent(p.data)
	}
	if filtered { // content was removed, so the size of the rest says nothing
		write.Bytes = event.Count{}
	}
	if !counted && (parts.len() > 0 || !write.Complete) {
		return
	}
	e := b.Add(event.KindArtifact)
	e.ID, e.Name, e.Artifact = d.name(artifact.Get("artifactId")), d.name(artifact.Get("name")), write
	for p := range parts.all() {
		if (p.kind == partFile || p.kind == partData) && hasContent(p.data) {
			e.AddPiece(event.Piece{Kind: p.form, Name: d.name(p.name), Media: d.name(p.media), Value: p.data})
		}
	}
}

// hasContent reports whether a value is more than a placeholder for content that was removed.
func hasContent(v strictjson.Value) bool {
	switch v.Kind() {
	case strictjson.String:
		return len(v.Raw()) > len(`""`) && !v.Is("about:blank")
	case strictjson.Array, strictjson.Object:
		return v.Len() > 0
	}
	return v.Kind() > strictjson.Null
}

// collectText collects the text of an artifact from its pieces. It reports the whole text with the
// last piece. Few servers mark the last piece; for the others, reportAnswer reports the text when the task ends. A
// piece after the last one starts another text, so that no text is reported twice. A write that replaces the texts with the same
// texts adds nothing.
func (d *decoder) collectText(t *task, id string, parts parts, write event.Artifact, b *event.Batch) {
	missingStart := write.Append && t.artifact(id) == nil
	a := t.openArtifact(id)
	if !write.Append && a.holds(parts) && !(a.incomplete && write.Complete) {
		t.isNewText(parts) // remembers the text, because the answer may repeat it
		before := len(b.Events)
		addTexts(parts, b)
		b.Repeats = len(b.Events) > before
		b.Partial = b.Repeats
		a.nameTexts(b)
		return
	}
	growth := a.growth(parts, write)
	if !write.Append {
		if a.incomplete && growth == nil && !write.Complete {
			a.endedTexts++
		}
		a.restart()
	}
	a.missingStart = a.missingStart || missingStart
	a.appendText(parts)
	a.hash(parts, write)
	switch {
	case write.Complete && !write.Append:
		t.isNewText(parts) // remembers the text, because the answer may repeat it
		t.addAnswer(a)
		addTexts(parts, b)
	case write.Complete && t.reportText(a, b):
	case growth != nil:
		b.Add(event.KindText).SetText(growth)
		b.Partial = true
	default:
		b.Partial = addTexts(parts, b) || b.Partial
	}
	a.nameTexts(b)
	a.incomplete = !write.Complete
	if write.Complete {
		a.text.Reset()
		a.missingStart = false
		a.endedTexts++
	}
}

// hash adds the texts of a write to the hash of the artifact's texts, or starts the hash again if the write replaces them.
func (a *artifact) hash(parts parts, write event.Artifact) {
	if !write.Append {
		a.written.SetSeed(seed)
	}
	hashTexts(&a.written, parts)
}

// growth returns the text that a write adds if it begins with all pieces so far, else nil. Some servers send all text so far
// with each write.
func (a *artifact) growth(parts parts, write event.Artifact) []byte {
	if write.Append || write.Complete || !a.incomplete || a.missingStart || parts.contain(func(p part) bool { return p.kind == partThought }) {
		return nil
	}
	var text []byte
	for p := range parts.all() {
		if p.kind == partText {
			text = p.text.AppendText(text)
		}
	}
	return a.text.Continuation(text)
}

// appendText appends the text of parts to the artifact's text.
func (a *artifact) appendText(parts parts) {
	if a.text.Len() == 0 {
		a.textHash.SetSeed(seed)
	}
	for p := range parts.all() {
		if p.kind == partText {
			a.text.Add(p.text.Text())
			hashText(&a.textHash, p.text.Text())
		}
	}
}

// reportText adds the whole text of an artifact, whose pieces were reported, to the batch. It returns false if there is none.
func (t *task) reportText(a *artifact, b *event.Batch) bool {
	if a.missingStart || !a.text.Report(b) {
		return false
	}
	t.addAnswer(a)
	return true
}

// addAnswer remembers the whole text of an artifact, which the end of the task may repeat.
func (t *task) addAnswer(a *artifact) {
	if a.text.Len() > 0 {
		t.answers.Add(a.textHash.Sum64())
	}
}

// isAnswer reports whether the text of parts, without thoughts, is the whole text of one of the task's artifacts.
func (t *task) isAnswer(parts parts) bool {
	return t.answers.Contains(wholeArtifact(parts).textHash.Sum64())
}

// wholeArtifact returns an artifact with the text of parts.
func wholeArtifact(parts parts) *artifact {
	a := new(artifact)
	a.appendText(parts)
	return a
}
