package agui

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// idSet holds IDs of withheld entities of all kinds. The zero value is empty.
type idSet struct {
	all     map[string]partUse
	lengths map[string][]int // of the distinctive IDs that count as a part of a longer one, by their first minDistinctive bytes
}

// partUse says where an ID counts as a part of another ID too.
type partUse uint8

const (
	partNowhere        partUse = iota
	partInApplications         // in what applications make for a client
	partAnywhere
)

const (
	minDistinctive = 8       // bytes, with a digit
	minLong        = 20      // bytes, without one
	maxIDText      = 4 << 10 // a longer text is no ID
	maxComparisons = 4       // with IDs, for each byte of a text; a text that needs more may have an ID
)

// add adds an ID. The ID of a call or an activity counts within a longer ID too. That of a message does not: clients number
// messages, so chat-00042-1 may follow chat-00042. If only the result of a call is withheld, its ID counts within longer ones only in
// what applications make.
func (s *idSet) add(id string, of entity) {
	use := partNowhere
	switch of {
	case entityCall, entityActivity:
		use = partAnywhere
	case entityResult:
		use = partInApplications
	}
	if s.all == nil {
		s.all = make(map[string]partUse)
	}
	s.all[id] = max(s.all[id], use)
	if use == partNowhere || !isDistinctive(id) {
		return
	}
	if s.lengths == nil {
		s.lengths = make(map[string][]int)
	}
	if first := id[:minDistinctive]; !slices.Contains(s.lengths[first], len(id)) {
		s.lengths[first] = append(s.lengths[first], len(id))
	}
}

// isDistinctive reports whether a text is the ID of the entity wherever it stands. A number or a word, as in "page": "1", may be
// anything else.
func isDistinctive(id string) bool {
	return len(id) >= minDistinctive && strings.ContainsFunc(id, unicode.IsDigit) || len(id) >= minLong
}

// contains reports whether a text is one of the IDs, or has one as a part.
func (s *idSet) contains(_, text string) bool {
	_, isOne := s.all[dialect.Name(text)]
	return isOne || s.hasPart(text, partInApplications)
}

// surelyContains is contains for any text: an ID counts only if it isDistinctive, or the text is the value of a member that links
// entities. If the text is the name of a member, member is "".
func (s *idSet) surelyContains(member, text string) bool {
	id := dialect.Name(text)
	_, isOne := s.all[id]
	return isOne && (isDistinctive(id) || lenient.MatchesAny([]byte(member), allLinks)) || s.hasPart(text, partAnywhere)
}

// hasPart reports whether a text is an ID that was made from one of the IDs with at least a use, such as a2ui-surface-ID.
func (s *idSet) hasPart(text string, use partUse) bool {
	if len(s.lengths) == 0 || len(text) > maxIDText || strings.ContainsAny(text, " \t\r\n") {
		return false
	}
	compared := 0
	for start := range len(text) - minDistinctive + 1 {
		if !isBoundary(text, start) {
			continue
		}
		for _, n := range s.lengths[text[start:start+minDistinctive]] {
			end := start + n
			isWhole := start == 0 && (end == len(text) || n == dialect.MaxName) // a longer ID is cut
			if compared++; end > len(text) || isWhole || n < dialect.MaxName && !isBoundary(text, end) {
				continue
			}
			if s.all[text[start:end]] >= use || compared > maxComparisons*len(text) {
				return true
			}
		}
	}
	return false
}

// isBoundary reports whether no word of a text goes on at an offset.
func isBoundary(text string, at int) bool {
	return at == 0 || at == len(text) || !isWordByte(text[at-1]) || !isWordByte(text[at])
}

func isWordByte(c byte) bool {
	return c >= utf8.RuneSelf || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// namesWithheld reports whether a value has the ID of something withheld, at any depth. Agents choose what a state or a result has.
func (d *decoder) namesWithheld(v strictjson.Value) bool {
	return len(d.withheld.ids.all) > 0 && namesAny("", v, d.withheld.ids.surelyContains)
}

// mayNameWithheld is namesWithheld for an event that applications make for a client, often from one call or message. An ID without a
// distinctive form counts too.
func (d *decoder) mayNameWithheld(v strictjson.Value) bool {
	return len(d.withheld.ids.all) > 0 && namesAny("", v, d.withheld.ids.contains)
}

// belongsToWithheld reports whether a frame names something withheld. Middleware makes activities and other frames from messages and
// calls, and they do not repeat the marks of those. The frames of a run, the ends of entities, and members whose parts can be withheld
// are not searched here.
//
// Source: @ag-ui/a2ui-middleware, whose activities have the IDs a2ui-surface-TOOLCALLID.
func (d *decoder) belongsToWithheld(k *kind, this key, v strictjson.Value) bool {
	if k.isEnd() || mustLeave(k) || k.name == typeCustom || k.name == typeRaw {
		return false
	}
	isActivity := k.entity == entityActivity
	return d.refersToWithheld(v, isActivity, !isActivity && d.isKnown(this)) || isActivity && d.isMadeFromWithheld(v)
}

// refersToWithheld reports whether a frame or a message of a list names something withheld. isActivity says that what it contains and
// its own ID count too. hasLeft says that earlier frames with its links have left.
func (d *decoder) refersToWithheld(v strictjson.Value, isActivity, hasLeft bool) bool {
	if len(d.withheld.ids.all) == 0 {
		return false
	}
	for name, value := range v.Members() {
		var names bool
		switch {
		case lenient.MatchesAny(name.Text(), table.InternalMembers): // no reader gets it
		case slices.ContainsFunc(labelMembers, name.Is), !isActivity && slices.ContainsFunc(linkMembers, name.Is):
			names = !hasLeft && d.withheld.ids.hasPart(value.String(), partAnywhere)
		case isActivity:
			names = d.namesBesideMessages(name.String(), value)
		default:
			names = !slices.ContainsFunc(wordMembers, name.Is) && d.namesWithheld(value)
		}
		if names {
			return true
		}
	}
	return false
}

var (
	// linkMembers hold IDs of a frame or message and of its parents. Whether one is that of something withheld depends on the kind of both.
	linkMembers = slices.Concat(allLinks, ownIDs)
	// labelMembers hold names, which may be the ID of something else.
	labelMembers = []string{"type", "name", "stepName", "toolCallName", "activityType", "activity_type"}
	// wordMembers hold the words of a model or a tool, or are searched elsewhere.
	wordMembers = []string{"delta", "content", "snapshot", "messages", "toolCalls", "tool_calls"}
)

// namesBesideMessages is mayNameWithheld without the messages that cutNested withholds.
func (d *decoder) namesBesideMessages(member string, v strictjson.Value) bool {
	if v.Kind() == strictjson.String {
		return d.mayNameWithheld(v)
	}
	if d.isWithheldObject(v, lenient.MatchesAny([]byte(member), listMembers)) {
		return false
	}
	for name, value := range v.Members() {
		if text := name.String(); d.withheld.ids.contains("", text) || d.namesBesideMessages(text, value) {
			return true
		}
	}
	for element := range v.Elements() {
		if d.namesBesideMessages(member, element) {
			return true
		}
	}
	return false
}

// textRoles are the roles of messages whose content is what somebody said.
var textRoles = []string{"user", "assistant", "reasoning"}

// messageRefers is refersToWithheld for a message of a list, and finds internal agents that its content names. Other messages than texts are
// the results of calls, and activities.
func (d *decoder) messageRefers(message strictjson.Value) bool {
	role := message.Get("role")
	if role.Is("activity") {
		return d.refersToWithheld(message, true, false) || d.repeatsCall(message.Get("content")) || isInternalActivity(message.Get("id"))
	}
	content := message.Get("content")
	return d.refersToWithheld(message, false, false) || !slices.ContainsFunc(textRoles, role.Is) && (d.namesWithheld(content) || hasInternalAgent(content))
}

// cutNamed withholds the smallest objects in a state that name something withheld. It reports whether v names
// something withheld and cannot be cut alone, so that the caller must cut the object around it.
func (d *decoder) cutNamed(member string, v strictjson.Value, b *event.Batch) (isInOne bool) {
	switch kind := v.Kind(); {
	case len(d.withheld.ids.all) == 0:
		return false
	case kind == strictjson.Object:
		isShown := d.isShownCall(v)
		for name, value := range v.Members() {
			if text := name.String(); isShown && lenient.MatchesAny(name.Text(), ownIDs) {
				continue
			} else if d.withheld.ids.surelyContains("", text) {
				b.Cut(value)
			} else if d.cutNamed(text, value, b) {
				isInOne = true
			}
		}
		if isInOne {
			b.Cut(v)
		}
		return false
	case kind == strictjson.String && namesAny(member, v, d.withheld.ids.surelyContains):
		if isInOne = decoded(v).Kind() == strictjson.String; !isInOne {
			b.Cut(v)
		}
		return isInOne
	}
	for element := range v.Elements() {
		isInOne = d.cutNamed(member, element, b) || isInOne
	}
	return isInOne
}
