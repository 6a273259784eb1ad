package agui

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

var authorMember = wire.NewAuthorMember("name")

// authorNames returns the authors that a frame or message itself names.
func (d *decoder) authorNames(v strictjson.Value) []string { return authorMember.Of(v, &d.names) }

// setAuthors remembers the authors that a frame names. It adds to the batch the authors that earlier frames of the same
// message or thought named.
func (d *decoder) setAuthors(k *kind, v strictjson.Value, b *event.Batch) {
	switch {
	case k.entity == entityMessage, k.entity == entityPhase, k.entity == entityThought, k.entity == entityThinking:
		d.setOwnAuthors(k, v, b)
	case k.name == typeReasoningEncryptedValue:
		b.AddAuthors(v, d.authors.Of(messageKey(d.name(v.Get("entityId"))))...)
	case k.entity == entityActivity, k.name == typeToolResult:
		d.authors.Add(messageKey(d.name(v.Get("messageId"))), d.authorNames(v)...) // a message may have the same ID
		d.setListedAuthors(v, false, b)
	case table.Types[b.Type].Words != nil:
		d.setListedAuthors(v, false, b)
	}
}

func (d *decoder) setOwnAuthors(k *kind, v strictjson.Value, b *event.Batch) {
	id, owner, names := d.name(v.Get("messageId")), d.owner(v), d.authorNames(v)
	if v.Get("subagentRunId").Exists() && d.speaker(v) != agentOf(b) { // the message began as another agent's
		names = append(names, d.agentFor(owner).name)
	}
	if m := d.messages.chunkTarget(owner); k.entity == entityMessage && id == "" && m != nil {
		id = m.id
	}
	all := names
	if id != "" {
		if b.Type != typeNonAnswer && b.Type != typeOrphan {
			d.authors.Add(messageKey(id), b.Agent)
		}
		d.authors.Add(messageKey(id), names...)
		all = d.authors.Of(messageKey(id))
	}
	if k.entity != entityMessage { // pieces of a thought may have no ID
		all = slices.Concat(d.phaseAuthors(k, owner, names), all)
	}
	if slices.ContainsFunc(all, func(name string) bool { return name != b.Agent }) {
		b.AddAuthors(v, all...)
	}
}

// phaseAuthors adds the authors that a frame names to the authors of the owner's current phase of reasoning. It returns all
// authors of the phase.
func (d *decoder) phaseAuthors(k *kind, owner string, names []string) []string {
	phase := key{entity: entityPhase, owner: owner}
	if k.entity == entityPhase {
		d.authors.Remove(phase)
	}
	if k.entity != entityPhase || k.begins {
		d.authors.Add(phase, names...)
	}
	return d.authors.Of(phase)
}

// setListedAuthors adds to the batch the authors of the messages in v, at any depth. These are the authors that earlier
// frames named and, if the messages are in a list, those that the messages name. listed says that v is in a list.
func (d *decoder) setListedAuthors(v strictjson.Value, listed bool, b *event.Batch) {
	for name, value := range v.Members() {
		text := name.Text()
		if lenient.MatchesAny(text, ownIDs) && value.Kind() == strictjson.String {
			this := messageKey(d.name(value))
			if listed {
				d.authors.Add(this, d.authorNames(v)...)
			}
			b.AddAuthors(v, d.authors.Of(this)...)
		}
		d.setListedAuthors(value, lenient.MatchesAny(text, listMembers), b)
	}
	for element := range v.Elements() {
		d.setListedAuthors(element, listed, b)
	}
}
