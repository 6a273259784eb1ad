package jetstream

import (
	"crypto/sha256"
	"encoding/binary"
)

// Owner returns the name of the shard to which a session belongs, by rendezvous hashing: the one with
// the highest weight. The weight is the first 8 bytes, in big-endian order, of
// SHA-256(name, 0x00, session). Equal weights go to the name that sorts first. Other programs compute the
// same (docs/design/shards.md), so this must not change. Owner returns "" for no names.
func Owner(names []string, session string) (owner string) {
	var room [256]byte // most names and sessions fit, so that hashing allocates nothing
	var highest uint64
	for i, name := range names {
		hashed := append(append(append(room[:0], name...), 0), session...)
		sum := sha256.Sum256(hashed)
		weight := binary.BigEndian.Uint64(sum[:8])
		if i == 0 || weight > highest || weight == highest && name < owner {
			owner, highest = name, weight
		}
	}
	return owner
}
