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

// findsExcluded reports whether a value contains something that the settings exclude. who is its speaker
// according to the enclosing objects. membersApply says that Words.Members applies to the value.
func (w *wordScan) findsExcluded(v strictjson.Value, who speaker, membersApply bool) bool {
	isClient := w.filter.settings.Policy == event.PolicyClient
	searchesAll := isClient && len(w.rules.Anywhere) > 0
	if membersApply = membersApply || searchesAll && lenient.HasMember(v, w.rules.Anywhere); membersApply {
		outer := who.textKinds
		who = w.updateSpeaker(v, who)
		if thought := who.textKinds &^ outer & kindBit(event.KindThought); thought != 0 && w.isExcluded(thought, who) {
			return true // even without words it shows that there was a thought
		}
	}
	key := lenient.EntryKey(w.batch.Table, v)
	for name, value := range v.Members() {
		text := name.Text()
		if key.Exists() && lenient.IsEntryValue(text) {
			text = key.Text()
		}
		if membersApply && w.isExcludedMember(text, value, who) || lenient.MatchesAny(text, w.rules.Lists) && hasString(value) && w.isExcluded(who.textKinds, who) {
			return true
		}
		contains := isClient && lenient.MatchesAny(text, w.rules.ClientContainers) || lenient.MatchesAny(text, w.rules.Containers)
		if (contains || searchesAll) && w.findsExcluded(value, who, contains) || contains && w.findsEncoded(text, value, who) {
			return true
		}
	}
	for element := range v.Elements() {
		if w.findsExcluded(element, who, membersApply) {
			return true
		}
	}
	return false
}

// findsEncoded is findsExcluded for JSON in a string.
func (w *wordScan) findsEncoded(name []byte, value strictjson.Value, who speaker) bool {
	if value.Kind() != strictjson.String || !lenient.MatchesAny(name, w.batch.Table.EncodedMembers) {
		return false
	}
	var doc strictjson.Doc
	return doc.Parse(value.Text(), lenient.MaxEncodedDepth) == nil && w.findsExcluded(doc.Root(), who, true)
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
func (w *wordScan) isExcludedMember(name []byte, value strictjson.Value, who speaker) bool {
	kinds := w.memberKinds(name, who)
	return kinds != 0 && !isBlank(value) && value.Kind() != strictjson.Bool && w.isExcluded(kinds, who)
}

// memberKinds returns the event kinds that a member shows.
func (w *wordScan) memberKinds(member []byte, who speaker) uint64 {
	for name, kind := range w.rules.Members {
		if lenient.MatchesAny(member, []string{name}) {
			if kind == event.KindText {
				return who.textKinds
			}
			return kindBit(kind)
		}
	}
	if lenient.MatchesAny(member, w.rules.TypedMembers) {
		return who.textKinds &^ kindBit(event.KindText)
	}
	return 0
}

// updateSpeaker returns the speaker of an object: who, changed by the object's members and by its metadata. A client may read
// any of the members that contradict each other, so all of them count, in any order.
func (w *wordScan) updateSpeaker(v strictjson.Value, who speaker) speaker {
	own := speaker{}
	isThought := w.readMembers(v, &own, false)
	who.hasAuthor = who.hasAuthor || own.hasAuthor
	who.hasExcludedAuthor = who.hasExcludedAuthor || own.hasExcludedAuthor
	if own.isUser || own.isOther {
		who.isUser, who.isOther = own.isUser, own.isOther
	}
	if own.textKinds != 0 {
		who.textKinds = own.textKinds
	}
	if len(w.batch.Authors[v]) > 0 {
		who.hasAuthor, who.hasExcludedAuthor = true, who.hasExcludedAuthor || w.filter.excludesAuthorOf(w.batch, v)
	}
	if kind, listed := w.batch.TextKinds[v]; listed {
		who.textKinds = kindBit(kind)
	}
	if isThought {
		who.textKinds = kindBit(event.KindThought)
	}
	return who
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
func (w *wordScan) isExcluded(kinds uint64, who speaker) bool {
	s := &w.filter.settings
	isWords := kinds&(kindBit(event.KindText)|kindBit(event.KindThought)) != 0
	switch {
	case s.Policy != event.PolicyClient:
		return isWords && s.Authors != nil && who.hasExcludedAuthor
	case w.filter.alwaysHidden&kinds&^kindBit(event.KindOther) != 0, kinds&kindBit(event.KindThought) != 0 && !w.filter.thoughtsAllowed(w.batch):
		return true
	}
	return isWords && s.Authors != nil && !w.allowsSpeaker(who)
}

// allowsSpeaker reports whether the settings allow words of the speaker.
func (w *wordScan) allowsSpeaker(who speaker) bool {
	authors := w.filter.settings.Authors
	switch {
	case who.hasExcludedAuthor, who.isUser && !slices.Contains(authors, userAuthor):
		return false
	case who.isUser && !who.isOther:
		return true
	}
	return who.hasAuthor || slices.Contains(authors, w.batch.Agent)
}
