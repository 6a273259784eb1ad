package wire

import (
	"bytes"
	"hash/maphash"

	"github.com/delegraph/delegraph/collector/strictjson"
)

// JoinedHash is the hash of a text that comes in pieces. White space does not count. The zero value is the hash of no text.
type JoinedHash struct {
	hash    maphash.Hash
	hasText bool
}

// Add appends pieces.
func (h *JoinedHash) Add(pieces []strictjson.Value) {
	if !h.hasText {
		h.hash.SetSeed(seed)
	}
	for _, piece := range pieces {
		for word := range bytes.FieldsSeq(piece.Text()) {
			_, _ = h.hash.Write(word) // never fails
			h.hasText = true
		}
	}
}

// Sum returns the hash, or 0 if there is no text.
func (h *JoinedHash) Sum() uint64 {
	if !h.hasText {
		return 0
	}
	return h.hash.Sum64()
}

// HashJoined returns the JoinedHash of a text in pieces. isTelling says that few other texts are equal to it.
func HashJoined(pieces []strictjson.Value) (sum uint64, isTelling bool) {
	var h JoinedHash
	h.Add(pieces)
	return h.Sum(), isTellingText(joined(pieces))
}
