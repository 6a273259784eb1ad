package agui

import (
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// noteListed remembers the messages in a frame or a result, at any depth, and their calls: those that leave, else those that stay in and
// did not leave before.
func (d *decoder) noteListed(v strictjson.Value, leaves bool) { d.noteListedIn(v, false, leaves) }

// noteListedIn implements noteListed. listed says that v is in a list of messages. Elsewhere an object is one if it has content.
func (d *decoder) noteListedIn(v strictjson.Value, listed, leaves bool) {
	if v.Kind() == strictjson.Object && (listed || lenient.HasMember(v, contentMembers)) {
		d.noteOne(messageKey(d.memberOf(v, ownIDs)), leaves)
		for call := range callsIn(v) {
			d.noteOne(key{entity: entityCall, id: d.memberOf(call, ownIDs)}, leaves)
		}
	}
	for name, value := range v.Members() {
		d.noteListedIn(value, lenient.MatchesAny(name.Text(), listMembers), leaves)
	}
	for element := range v.Elements() {
		d.noteListedIn(element, listed, leaves)
	}
}

func (d *decoder) noteOne(this key, leaves bool) {
	switch {
	case !this.isUnique():
	case leaves && !d.withheld.Contains(this):
		d.left.Add(this)
	case !leaves && !d.left.Contains(this):
		d.withhold(this)
	}
}

// noteLeft remembers that a frame of an entity left. Clients begin the message of a call or result with it.
//
// Source: sdks/typescript/packages/client/src/apply/default.ts of AG-UI.
func (d *decoder) noteLeft(this key, v strictjson.Value) {
	d.noteOne(this, true)
	for _, member := range [...]string{"messageId", "parentMessageId"} {
		d.noteOne(messageKey(d.name(v.Get(member))), true)
	}
}
