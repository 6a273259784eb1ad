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
	all     map[string]struct{}
	lengths []int // of the IDs that count as a part of a longer one
}

const (
	minInner  = 8       // a shorter ID counts only at the start or the end of another one
	maxIDText = 4 << 10 // a longer text is no ID
)

func (s *idSet) add(id string) {
	if s.all == nil {
		s.all = make(map[string]struct{})
	}
	s.all[id] = struct{}{}
	if n := len(id); isDistinctive(id) && !slices.Contains(s.lengths, n) {
		s.lengths = append(s.lengths, n)
	}
}

// isDistinctive reports whether an ID says something as a part of a longer one. A short word or number, as in "plan-1", does not.
func isDistinctive(id string) bool {
	return len(id) >= minInner || strings.ContainsFunc(id, unicode.IsDigit) && strings.ContainsFunc(id, unicode.IsLetter)
}

// contains reports whether a text is one of the IDs, or has one as a part.
func (s *idSet) contains(text string) bool {
	_, isOne := s.all[dialect.Name(text)]
	return isOne || s.hasPart(text)
}

// hasPart reports whether a text is an ID that was made from one of the IDs, such as a2ui-surface-ID.
func (s *idSet) hasPart(text string) bool {
	if len(s.lengths) == 0 || len(text) > maxIDText || strings.ContainsAny(text, " \t\r\n") {
		return false
	}
	for start := range len(text) {
		if !isBoundary(text, start) {
			continue
		}
		for _, n := range s.lengths {
			end := start + n
			isWhole := start == 0 && (end == len(text) || n == dialect.MaxName) // a longer ID is cut
			if end > len(text) || isWhole || n < minInner && start > 0 && end < len(text) || n < dialect.MaxName && !isBoundary(text, end) {
				continue
			}
			if _, isOne := s.all[text[start:end]]; isOne {
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

// namesWithheld reports whether a value has the ID of something withheld, at any depth. Applications choose the members.
func (d *decoder) namesWithheld(v strictjson.Value) bool {
	return len(d.withheld.ids.all) > 0 && namesAny(v, d.withheld.ids.contains)
}

// belongsToWithheld reports whether a frame names something withheld. Middleware makes activities and other frames from messages and
// calls, and they do not repeat the marks of those. The frames of a run, the ends of entities, and members whose parts can be withheld
// are not searched here.
//
// Source: @ag-ui/a2ui-middleware, whose activities have the IDs a2ui-surface-TOOLCALLID.
func (d *decoder) belongsToWithheld(k *kind, this key, v strictjson.Value) bool {
	isEnd := k.ends || k.name == typeTextEnd || k.name == typeToolEnd || mustLeave(k)
	if isEnd || k.name == typeCustom || k.name == typeRaw {
		return false
	}
	isActivity := k.entity == entityActivity
	return d.refersToWithheld(v, isActivity, !isActivity && d.isKnown(this)) ||
		isActivity && (anyObject(v.Get("content"), d.isAboutUnread) || anyObject(v.Get("patch"), d.isAboutUnread))
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
			names = !hasLeft && d.withheld.ids.hasPart(value.String())
		case isActivity:
			names = d.namesBesideMessages(value, lenient.MatchesAny(name.Text(), listMembers))
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

// namesBesideMessages is namesWithheld without the messages that cutNested withholds. listed says that the value is a list of messages,
// or in one.
func (d *decoder) namesBesideMessages(v strictjson.Value, listed bool) bool {
	if v.Kind() == strictjson.String {
		return d.namesWithheld(v)
	}
	if d.isWithheldMessage(v, listed) {
		return false
	}
	for name, member := range v.Members() {
		if d.withheld.ids.contains(name.String()) || d.namesBesideMessages(member, lenient.MatchesAny(name.Text(), listMembers)) {
			return true
		}
	}
	for element := range v.Elements() {
		if d.namesBesideMessages(element, listed) {
			return true
		}
	}
	return false
}

// textRoles are the roles of messages whose content is what somebody said.
var textRoles = []string{"user", "assistant", "reasoning"}

// messageRefers is refersToWithheld for a message of a list. Other messages than texts are the results of calls, and activities.
func (d *decoder) messageRefers(message strictjson.Value) bool {
	role := message.Get("role")
	if role.Is("activity") {
		return d.refersToWithheld(message, true, false)
	}
	return d.refersToWithheld(message, false, false) || !slices.ContainsFunc(textRoles, role.Is) && d.namesWithheld(message.Get("content"))
}

// cutNamed withholds the smallest objects in a state that name something withheld. It reports whether the object around v is one.
func (d *decoder) cutNamed(v strictjson.Value, b *event.Batch) (isInOne bool) {
	switch kind := v.Kind(); {
	case len(d.withheld.ids.all) == 0:
		return false
	case kind == strictjson.Object:
		for name, member := range v.Members() {
			if d.withheld.ids.contains(name.String()) {
				b.Cut(member)
			} else if d.cutNamed(member, b) {
				isInOne = true
			}
		}
		if isInOne {
			b.Cut(v)
		}
		return false
	case kind == strictjson.String && d.namesWithheld(v):
		if isInOne = decoded(v).Kind() == strictjson.String; !isInOne {
			b.Cut(v)
		}
		return isInOne
	}
	for element := range v.Elements() {
		isInOne = d.cutNamed(element, b) || isInOne
	}
	return isInOne
}
