package agui

import (
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// unread tracks what an unreadable frame may have started. In the protocol, a chunk continues only the
// entity of its owner's last chunk.
type unread struct {
	any   bool             // there was an unreadable frame
	ended wire.Set[string] // owners that have ended their chunks since the last unreadable frame
}

// addUnread records an unreadable frame. It may have been a piece of any message, so no snapshot
// of messages leaves after it. It may also have changed the state. Data without an object cannot be an event.
func (d *decoder) addUnread(f dialect.Frame) {
	if f.MayContainObject() {
		d.unread = unread{any: true}
		d.withheld.overflowed, d.staleState = true, true
	}
}

// endChunks records that an owner has ended what it sends in chunks.
func (u *unread) endChunks(owner string) {
	if u.any {
		u.ended.Add(owner)
	}
}

// mayContinueUnread reports whether a chunk with an id may continue an entity whose first chunk was
// unreadable: no start was seen, and the chunk lacks the member that a first chunk must have. Agents
// may repeat that member in every chunk, so it counts only after the owner has ended its chunks.
func (d *decoder) mayContinueUnread(k *kind, this key, v strictjson.Value) bool {
	if !d.unread.any || !k.chunk || d.isKnown(this) {
		return false
	}
	isFirst := k.firstMember != "" && v.Get(k.firstMember).Kind() == strictjson.String
	return !isFirst || !d.unread.ended.Contains(d.owner(v))
}
