package filter

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// hasExcludedWords reports whether a frame has words that the settings exclude, such as words of earlier frames that it repeats.
// In JSON, it looks only in the members that event.Words lists. Under the policy public, the rules already withhold excluded kinds.
// There it looks only for words of excluded authors.
func (f *Filter) hasExcludedWords(b *event.Batch, rules event.Type) bool {
	switch s := &f.settings; {
	case rules.Words == nil, !f.excludesAnything():
		return false
	case rules.Text: // text does not name its agent
		return f.alwaysHidden&kindBit(event.KindText) != 0 || s.Authors != nil
	case s.Authors == nil && s.Policy != event.PolicyClient:
		return false
	}
	w := wordScan{filter: f, batch: b, rules: rules.Words}
	initial := speaker{isUser: rules.Words.FromUser, textKinds: kindBit(event.KindText)}
	if rules.Words.OfNodes {
		for _, node := range b.JSON.Members() {
			if w.findsExcluded(node, initial, true) {
				return true
			}
		}
	}
	return w.findsExcluded(b.JSON, initial, !rules.Words.OnlyNested)
}

// wordScan looks for excluded words in a frame.
type wordScan struct {
	filter *Filter
	batch  *event.Batch
	rules  *event.Words
}

// speaker describes the author of some words, according to the enclosing objects.
type speaker struct {
	hasAuthor         bool   // an author is named
	hasExcludedAuthor bool   // at least one of the named authors is not in the settings
	isUser            bool   // a role is that of a user
	isOther           bool   // a role is not that of a user
	textKinds         uint64 // the event kinds that text counts as; the settings must allow all of them
}

// findsExcluded reports whether a value contains something that the settings exclude. by is its speaker
// according to the enclosing objects. membersApply says that Words.Members applies to the value.
func (w *wordScan) findsExcluded(v strictjson.Value, by speaker, membersApply bool) bool {
	isClient := w.filter.settings.Policy == event.PolicyClient
	searchesAll := isClient && len(w.rules.Anywhere) > 0
	if membersApply = membersApply || searchesAll && lenient.HasMember(v, w.rules.Anywhere); membersApply {
		outer := by.textKinds
		by = w.updateSpeaker(v, by)
		if thought := by.textKinds &^ outer & kindBit(event.KindThought); thought != 0 && w.isExcluded(thought, by) {
			return true // even without words it shows that there was a thought
		}
	}
	key := lenient.EntryKey(w.batch.Table, v)
	for name, value := range v.Members() {
		text := name.Text()
		if key.Exists() && lenient.IsEntryValue(text) {
			text = key.Text()
		}
		if membersApply && w.isExcludedMember(text, value, by) || lenient.MatchesAny(text, w.rules.Lists) && hasString(value) && w.isExcluded(by.textKinds, by) {
			return true
		}
		contains := isClient && lenient.MatchesAny(text, w.rules.ClientContainers) || lenient.MatchesAny(text, w.rules.Containers)
		if (contains || searchesAll) && w.findsExcluded(value, by, contains) || contains && w.findsEncoded(text, value, by) {
			return true
		}
	}
	for element := range v.Elements() {
		if w.findsExcluded(element, by, membersApply) {
			return true
		}
	}
	return false
}

// findsEncoded is findsExcluded for JSON in a string.
func (w *wordScan) findsEncoded(name []byte, value strictjson.Value, by speaker) bool {
	if value.Kind() != strictjson.String || !lenient.MatchesAny(name, w.batch.Table.EncodedMembers) {
		return false
	}
	var doc strictjson.Doc
	return doc.Parse(value.Text(), lenient.MaxEncodedDepth, strictjson.Everywhere) == nil && w.findsExcluded(doc.Root(), by, true)
}

// hasString reports whether v is a string, or a list with a string that is not within an object.
func hasString(v strictjson.Value) bool {
	if v.Kind() == strictjson.String {
		return true
	}
	for element := range v.Elements() {
		if hasString(element) {
			return true
		}
	}
	return false
}

// isExcludedMember reports whether a member of an object with words shows something that the settings exclude.
func (w *wordScan) isExcludedMember(name []byte, value strictjson.Value, by speaker) bool {
	kinds := w.memberKinds(name, by)
	return kinds != 0 && !isBlank(value) && value.Kind() != strictjson.Bool && w.isExcluded(kinds, by)
}

// memberKinds returns the event kinds that a member shows.
func (w *wordScan) memberKinds(member []byte, by speaker) uint64 {
	for name, kind := range w.rules.Members {
		if lenient.MatchesAny(member, []string{name}) {
			if kind == event.KindText {
				return by.textKinds
			}
			return kindBit(kind)
		}
	}
	if lenient.MatchesAny(member, w.rules.TypedMembers) {
		return by.textKinds &^ kindBit(event.KindText)
	}
	return 0
}

// updateSpeaker adds to a speaker what the members and the metadata of an object state, in any order. If members
// contradict each other, all of them count, because a client may read any of them.
func (w *wordScan) updateSpeaker(v strictjson.Value, by speaker) speaker {
	own := speaker{}
	isThought := w.readMembers(v, &own, false)
	by.hasAuthor = by.hasAuthor || own.hasAuthor
	by.hasExcludedAuthor = by.hasExcludedAuthor || own.hasExcludedAuthor
	if own.isUser || own.isOther {
		by.isUser, by.isOther = own.isUser, own.isOther
	}
	if own.textKinds != 0 {
		by.textKinds = own.textKinds
	}
	if len(w.batch.Authors[v]) > 0 {
		by.hasAuthor, by.hasExcludedAuthor = true, by.hasExcludedAuthor || w.filter.excludesAuthorOf(w.batch, v)
	}
	if kind, listed := w.batch.TextKinds[v]; listed {
		by.textKinds = kindBit(kind)
	}
	if isThought {
		by.textKinds = kindBit(event.KindThought)
	}
	return by
}

// readMembers adds to own what the members of an object and of its metadata state. It reports whether one marks a thought.
func (w *wordScan) readMembers(v strictjson.Value, own *speaker, isMetadata bool) (isThought bool) {
	for name, value := range v.Members() {
		text := name.Text()
		switch {
		case lenient.MatchesAny(text, w.rules.AuthorMembers):
			if !isBlank(value) {
				own.hasAuthor = true
				own.hasExcludedAuthor = own.hasExcludedAuthor || value.Kind() != strictjson.String || !slices.Contains(w.filter.settings.Authors, value.String())
			}
		case w.statesRole(text, isMetadata):
			isUser := lenient.MatchesAny(value.Text(), w.rules.UserRoles)
			own.isUser, own.isOther = own.isUser || isUser, own.isOther || !isUser
			own.textKinds |= kindOf(value, w.rules.RoleKinds)
		case lenient.MatchesAny(text, typeMembers), lenient.MatchesAny(text, w.rules.TypeMembers):
			own.textKinds |= kindOf(value, w.rules.TypeKinds)
		case lenient.MatchesAny(text, w.rules.MetadataMembers):
			isThought = w.readMembers(value, own, true) || isThought
		}
		isThought = isThought || marksThought(name, value, w.rules.ThoughtMarkers) || lenient.IsThoughtMarker(name, value)
	}
	return isThought
}

// statesRole reports whether a member holds the role.
func (w *wordScan) statesRole(name []byte, isMetadata bool) bool {
	return w.rules.RoleMember != "" && (!isMetadata || w.rules.RoleInMetadata) && lenient.MatchesAny(name, []string{w.rules.RoleMember})
}

var typeMembers = []string{"type"}

// kindOf returns the bit of the kind that kinds lists for a value, or 0.
func kindOf(value strictjson.Value, kinds map[string]event.Kind) uint64 {
	for name, kind := range kinds {
		if lenient.MatchesAny(value.Text(), []string{name}) {
			return kindBit(kind)
		}
	}
	return 0
}

// isExcluded reports whether the settings exclude words by a speaker that count as one of kinds.
func (w *wordScan) isExcluded(kinds uint64, by speaker) bool {
	s := &w.filter.settings
	isWords := kinds&(kindBit(event.KindText)|kindBit(event.KindThought)) != 0
	switch {
	case s.Policy != event.PolicyClient:
		return isWords && s.Authors != nil && by.hasExcludedAuthor
	case w.filter.alwaysHidden&kinds&^kindBit(event.KindOther) != 0, kinds&kindBit(event.KindThought) != 0 && !w.filter.thoughtsAllowed(w.batch):
		return true
	}
	return isWords && s.Authors != nil && !w.allowsSpeaker(by)
}

// allowsSpeaker reports whether the settings allow words of the speaker.
func (w *wordScan) allowsSpeaker(by speaker) bool {
	authors := w.filter.settings.Authors
	switch {
	case by.hasExcludedAuthor, by.isUser && !slices.Contains(authors, userAuthor):
		return false
	case by.isUser && !by.isOther:
		return true
	}
	return by.hasAuthor || slices.Contains(authors, w.batch.Agent)
}
