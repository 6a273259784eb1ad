package adk

import (
	"hash/maphash"
	"slices"
	"time"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
)

// eventHistory holds hashes of the whole events of a session, at most maxHistory: JavaScript's servers send an event again without its
// thoughts, also in the answer to a later request.
//
// Source: dist/esm/context/trajectory_thought_pruning_compactor.js of @google/adk 2.0.
type eventHistory struct {
	states *event.States // nil if the stream has no session
	key    string        // in states
	loaded bool
	hashes []uint64
	next   int // where the oldest hash is, if there are maxHistory

	lastTime time.Time // of the last event that was no repeat
}

const maxHistory = 256

// keptHistory holds the hashes for later streams.
type keptHistory []uint64

// Size implements event.KeptState.
func (k keptHistory) Size() int { return 8 * len(k) }

func newEventHistory(s *event.Stream) eventHistory {
	if s.Session == "" {
		return eventHistory{}
	}
	return eventHistory{states: s.States, key: "adk\x00" + s.Source + "\x00" + s.App + "\x00" + s.User + "\x00" + s.Session}
}

// repeats reports whether an event repeats an earlier one, perhaps without its thoughts, and remembers it.
func (h *eventHistory) repeats(fr *frame) bool {
	if len(fr.id.Text()) == 0 || isTrue(fr.partial) {
		return false
	}
	if !h.loaded {
		h.loaded = true
		h.states.Update(h.key, func(kept event.KeptState) event.KeptState {
			earlier, _ := kept.(keptHistory)
			h.hashes = slices.Clone(earlier)
			return kept
		})
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

// Close keeps what is known of the session for its later streams.
func (d *decoder) Close() {
	if h := &d.history; len(h.hashes) > 0 {
		h.states.Update(h.key, func(event.KeptState) event.KeptState {
			return keptHistory(slices.Concat(h.hashes[h.next:], h.hashes[:h.next]))
		})
	}
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
