package adk

import (
	"hash/maphash"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

// addRest handles the second frame of an event whose content came in the frame before, and reports whether it is one. Python's server
// sends an event with content and artifacts as two frames: one without the artifacts, one without the content. All else stands in both,
// so only the artifacts are new.
//
// Source: google/adk/cli/api_server.py of google-adk 2.13.
func (d *decoder) addRest(fr *frame, b *event.Batch) bool {
	before := d.lastWhole
	d.lastWhole = 0
	if id := fr.ID.Text(); len(id) > 0 {
		d.lastWhole = maphash.Bytes(seed, id)
	}
	if before == 0 || d.lastWhole != before || fr.Parts.Len() > 0 || fr.actions.artifacts.Len() == 0 {
		return false
	}
	b.Statements = event.Statements{}
	fr.addArtifacts(b)
	return true
}

func (f *frame) addArtifacts(b *event.Batch) {
	for name := range f.actions.artifacts.Members() {
		e := b.Add(event.KindArtifact)
		e.Name, e.Artifact = dialect.Name(name.String()), event.Artifact{Kind: event.ArtifactFile, Complete: true}
	}
}
