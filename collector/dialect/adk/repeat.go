package adk

import (
	"hash/maphash"
	"slices"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
)

// eventHistory holds hashes of the last maxHistory whole events of an answer: JavaScript's servers send an event again without its
// thoughts. Answers to later requests are not compared: an agent that replays recordings sends the same events to each.
//
// Source: dist/esm/context/trajectory_thought_pruning_compactor.js of @google/adk 2.0.
type eventHistory struct {
	isTail   bool // nothing counts as a repeat
	hashes   []uint64
	next     int       // where the oldest hash is, if there are maxHistory
	lastTime time.Time // of the last event that was no repeat
}

const maxHistory = 256

// repeats reports whether an event repeats an earlier one, perhaps without its thoughts, and remembers it.
func (h *eventHistory) repeats(fr *frame) bool {
	if h.isTail || len(fr.id.Text()) == 0 || !fr.timestamp.Exists() || isTrue(fr.partial) {
		return false
	}
	hash := fr.hash()
	switch {
	case slices.Contains(h.hashes, hash):
		return true
	case len(h.hashes) < maxHistory:
		h.hashes = append(h.hashes, hash)
	default:
		h.hashes[h.next] = hash
		h.next = (h.next + 1) % maxHistory
	}
	return false
}

// hash returns a hash of an event without its thoughts. Two frames of one event have the same ID, but other parts (see addSplitArtifacts).
func (f *frame) hash() uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	write := func(of ...[]byte) {
		for _, text := range of {
			_, _ = h.Write(text) // never fails
			_ = h.WriteByte(0)
		}
	}
	write(f.id.Text(), f.timestamp.Raw(), f.usageMetadata.Raw(), f.errorCode.Raw(), f.actionsValue.Raw())
	for part := range f.partList.Elements() {
		if !wire.MayBeTrue(part.Get("thought")) {
			write(part.Raw())
		}
	}
	return h.Sum64()
}

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
