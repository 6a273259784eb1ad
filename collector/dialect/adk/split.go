package adk

import (
	"hash/maphash"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

// addSplitArtifacts reports whether fr is the second frame of an event that was sent as two frames, and adds its
// artifacts to the batch. Python's server splits an event with content and artifacts. The first frame lacks the
// artifacts, and the second lacks the content. Both have everything else, so only the artifacts are new.
//
// Source: google/adk/cli/api_server.py of google-adk 2.13.
func (d *decoder) addSplitArtifacts(fr *frame, b *event.Batch) bool {
	before := d.lastWholeID
	d.lastWholeID = 0
	if id := fr.id.Text(); len(id) > 0 {
		d.lastWholeID = maphash.Bytes(seed, id)
	}
	if before == 0 || d.lastWholeID != before || fr.partList.Len() > 0 || fr.actions.artifacts.Len() == 0 {
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
