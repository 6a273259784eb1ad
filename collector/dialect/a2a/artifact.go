package a2a

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

func (d *decoder) readArtifact(v strictjson.Value, b *event.Batch) {
	t, artifact := d.task(v.Get("taskId"), v.Get("contextId")), v.Get("artifact")
	d.about(t, b)
	t.heard = true
	m := readRemarks(v.Get("metadata"), artifact.Get("metadata"))
	d.place(m, b)
	parts := partsOfArtifact(artifact, v)
	b.Type = typeOf(typeArtifact, parts)
	write := event.Artifact{Append: is(v, "append"), Complete: is(v, "lastChunk")}
	t.goOn(b)
	switch {
	case m.flagged:
		b.Partial = m.partial
	case m.spoken: // servers that do not say what is partial let each whole event complete the artifact
		b.Partial = !write.Complete
	}
	if !b.Partial {
		d.write(artifact, parts, write, b)
	}
	switch {
	case m.spoken:
		d.speak(t, m, parts, b)
	case !m.flagged: // else Go clears away the pieces of a text that is whole by now
		d.grow(t, artifact, parts, write, b)
	}
}

// write states what is written of an artifact. Calls of tools are part of none.
func (d *decoder) write(artifact strictjson.Value, parts parts, write event.Artifact, b *event.Batch) {
	counted := false
	write.Kind = event.ArtifactOther
	for p := range parts.all() {
		switch p.kind {
		case partFile:
			write.Kind = event.ArtifactFile
			write.Bytes, counted = write.Bytes.Add(p.bytes), true
		case partData:
			if write.Kind != event.ArtifactFile {
				write.Kind = event.ArtifactData
			}
			write.Bytes, counted = write.Bytes.Add(p.bytes), true
		case partText:
			write.Bytes, counted = write.Bytes.Add(p.bytes), true
		}
	}
	if !counted && (parts.len() > 0 || !write.Complete) {
		return
	}
	e := b.Add(event.KindArtifact)
	e.ID, e.Name, e.Artifact = d.name(artifact.Get("artifactId")), d.name(artifact.Get("name")), write
	for p := range parts.all() {
		if (p.kind == partFile || p.kind == partData) && holds(p.data) {
			e.AddPiece(event.Piece{Kind: p.form, Name: d.name(p.name), Media: d.name(p.media), Value: p.data})
		}
	}
}

// holds says whether there is something to a value: what is empty, or nowhere, may stand in for what has been taken away.
func holds(v strictjson.Value) bool {
	switch v.Kind() {
	case strictjson.String:
		return len(v.Raw()) > len(`""`) && !v.Is("about:blank")
	case strictjson.Array, strictjson.Object:
		return v.Len() > 0
	}
	return v.Kind() > strictjson.Null
}

// grow takes the text of a piece of an artifact. The last piece tells all of it, or the end of the task, since few servers say
// which is the last.
func (d *decoder) grow(t *task, v strictjson.Value, parts parts, write event.Artifact, b *event.Batch) {
	id := d.name(v.Get("artifactId"))
	headless := write.Append && t.artifact(id) == nil
	a := t.open(id)
	if !write.Append {
		*a = artifact{id: id, text: a.text[:0]}
	}
	a.headless = a.headless || headless
	a.keep(parts)
	switch {
	case write.Complete && !write.Append:
		t.isNews(parts)
		addTexts(parts, b)
	case write.Complete && !a.headless && len(a.text) > 0:
		b.Add(event.KindText).SetText(a.text)
	default:
		b.Partial = addTexts(parts, b)
	}
	a.growing = !write.Complete
}

// keep appends the text of parts to an artifact's.
func (a *artifact) keep(parts parts) {
	for p := range parts.all() {
		if p.kind == partText {
			a.text.Add(p.text.Text())
		}
	}
}
