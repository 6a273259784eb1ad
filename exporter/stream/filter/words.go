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
	initial := speaker{isUser: rules.Words.FromUser, textKind: event.KindText}
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
	hasAuthor         bool       // an author is named
	hasExcludedAuthor bool       // at least one of the named authors is not in the settings
	isUser            bool       // the role is that of a user
	textKind          event.Kind // the kind that text counts as
}

// findsExcluded reports whether a value contains something that the settings exclude. by is its author
// according to the enclosing objects. hasWords says that Words.Members applies to the value.
func (w *wordScan) findsExcluded(v strictjson.Value, by speaker, hasWords bool) bool {
	isClient := w.filter.settings.Policy == event.PolicyClient
	searchesAll := isClient && len(w.rules.Anywhere) > 0
	if hasWords = hasWords || searchesAll && lenient.HasMember(v, w.rules.Anywhere); hasWords {
		outer := by.textKind
		if by = w.updateSpeaker(v, by); by.textKind == event.KindThought && outer != by.textKind && w.isExcluded(by.textKind, by) {
			return true // even without words it shows that there was a thought
		}
	}
	key := lenient.EntryKey(w.batch.Table, v)
	for name, value := range v.Members() {
		text := name.Text()
		if key.Exists() && lenient.IsEntryValue(text) {
			text = key.Text()
		}
		if hasWords && w.isExcludedMember(text, value, by) || lenient.MatchesAny(text, w.rules.Lists) && hasString(value) && w.isExcluded(by.textKind, by) {
			return true
		}
		contains := isClient && lenient.MatchesAny(text, w.rules.ClientContainers) || lenient.MatchesAny(text, w.rules.Containers)
		if (contains || searchesAll) && w.findsExcluded(value, by, contains) || contains && w.findsEncoded(text, value, by) {
			return true
		}
	}
	for element := range v.Elements() {
		if w.findsExcluded(element, by, hasWords) {
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
	return doc.Parse(value.Text(), lenient.MaxEncodedDepth) == nil && w.findsExcluded(doc.Root(), by, true)
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
	kind, shows := w.memberKind(name, by)
	return shows && !isBlank(value) && value.Kind() != strictjson.Bool && w.isExcluded(kind, by)
}

// memberKind returns the event kind that a member shows.
func (w *wordScan) memberKind(member []byte, by speaker) (kind event.Kind, shows bool) {
	for name, kind := range w.rules.Members {
		if lenient.MatchesAny(member, []string{name}) {
			if kind == event.KindText {
				kind = by.textKind
			}
			return kind, true
		}
	}
	return by.textKind, by.textKind != event.KindText && lenient.MatchesAny(member, w.rules.TypedMembers)
}

// updateSpeaker returns by, updated from the members of an object and of its metadata.
func (w *wordScan) updateSpeaker(v strictjson.Value, by speaker) speaker {
	isThought := false
	for name, value := range v.Members() {
		text := name.Text()
		switch {
		case lenient.MatchesAny(text, w.rules.AuthorMembers):
			if !isBlank(value) {
				by.hasAuthor = true
				by.hasExcludedAuthor = by.hasExcludedAuthor || value.Kind() != strictjson.String || !slices.Contains(w.filter.settings.Authors, value.String())
			}
		case w.rules.RoleMember != "" && lenient.MatchesAny(text, []string{w.rules.RoleMember}):
			by.isUser = lenient.MatchesAny(value.Text(), w.rules.UserRoles)
			by.textKind = kindOf(value, w.rules.RoleKinds, by.textKind)
		case lenient.MatchesAny(text, typeMembers), lenient.MatchesAny(text, w.rules.TypeMembers):
			by.textKind = kindOf(value, w.rules.TypeKinds, by.textKind)
		case lenient.MatchesAny(text, w.rules.MetadataMembers):
			by = w.updateSpeaker(value, by)
		}
		isThought = isThought || marksThought(name, value, w.rules.ThoughtMarkers) || lenient.IsThoughtMarker(name, value)
	}
	if len(w.batch.Authors[v]) > 0 {
		by.hasAuthor, by.hasExcludedAuthor = true, by.hasExcludedAuthor || w.filter.excludesAuthor(w.batch, v)
	}
	if kind, listed := w.batch.TextKinds[v]; listed {
		by.textKind = kind
	}
	if isThought {
		by.textKind = event.KindThought
	}
	return by
}

var typeMembers = []string{"type"}

// kindOf returns the kind that kinds lists for a value, or fallback.
func kindOf(value strictjson.Value, kinds map[string]event.Kind, fallback event.Kind) event.Kind {
	for name, kind := range kinds {
		if lenient.MatchesAny(value.Text(), []string{name}) {
			return kind
		}
	}
	return fallback
}

// isExcluded reports whether the settings exclude words of a kind by a speaker.
func (w *wordScan) isExcluded(kind event.Kind, by speaker) bool {
	s := &w.filter.settings
	isWords := kind == event.KindText || kind == event.KindThought
	if s.Policy != event.PolicyClient {
		return isWords && s.Authors != nil && by.hasExcludedAuthor
	}
	switch {
	case kind == event.KindOther:
		return false
	case w.filter.alwaysHidden&kindBit(kind) != 0 || kind == event.KindThought && !w.filter.thoughtsAllowed(w.batch):
		return true
	}
	return isWords && s.Authors != nil && !w.allowsSpeaker(by)
}

// allowsSpeaker reports whether the settings allow words of the speaker.
func (w *wordScan) allowsSpeaker(by speaker) bool {
	authors := w.filter.settings.Authors
	switch {
	case by.hasExcludedAuthor:
		return false
	case by.isUser:
		return slices.Contains(authors, userAuthor)
	}
	return by.hasAuthor || slices.Contains(authors, w.batch.Agent)
}
