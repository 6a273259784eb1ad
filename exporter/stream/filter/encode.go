package filter

import (
	"bytes"
	"slices"
	"time"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/generous"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// encoder writes what a rule lets out of a value, anew: no byte of the source is copied but those of numbers, which strict
// reading has checked.
type encoder struct {
	stateKeys []string
	kindNames []string // the discriminators of the frame's table
	buf       []byte
	stated    uint64 // facts, by the frame's decoder
	hidden    uint64 // facts that may not leave: set before each frame
	kinds     uint64 // facts that leave
	thinking  bool   // within a thought
	emptied   bool   // a list or an object lost all that it had, or what it needs
	finding   bool   // what there is, and not what leaves
}

// bounds are the facts for which a frame leaves with whatever is left of it: without them nobody knows when a run is over.
var bounds = bit(event.KindRunStarted) | bit(event.KindRunEnded)

func (e *encoder) encode(b *event.Batch, rule *event.Rule) (Frame, Reason) {
	e.finding = false
	kept := e.apply(b, rule)
	if !kept || e.emptied && e.kinds == 0 && e.stated&^e.hidden&bounds == 0 {
		return Frame{}, Empty
	}
	if e.kinds == 0 && e.hidden&bit(event.KindOther) != 0 {
		return Frame{}, Setting
	}
	return Frame{Data: e.buf, Kinds: orOther(e.kinds)}, Passed
}

// find returns the facts that a rule finds in a frame.
func (e *encoder) find(b *event.Batch, rule *event.Rule) uint64 {
	e.hidden, e.finding = 0, true
	e.apply(b, rule)
	return e.kinds
}

// maxKept is the size up to which the buffer of one frame is kept for the next.
const maxKept = 64 << 10

func (e *encoder) apply(b *event.Batch, rule *event.Rule) (kept bool) {
	e.stated, e.kinds, e.thinking, e.emptied = stated(b), 0, false, false
	e.kindNames = b.Table.Discriminators
	e.buf, kept = e.value(e.begin(), b.JSON, rule)
	return kept
}

// begin returns an empty buffer.
func (e *encoder) begin() []byte {
	if cap(e.buf) > maxKept {
		e.buf = nil
	}
	return e.buf[:0]
}

// value appends what the rule lets out of v; false says that nothing of it may, and dst is as it was.
func (e *encoder) value(dst []byte, v strictjson.Value, rule *event.Rule) ([]byte, bool) {
	if slices.ContainsFunc(rule.Values, v.Is) {
		return quote(dst, v), true
	}
	if rule.Given && v.Kind() == strictjson.Null {
		return dst, false
	}
	facts := e.facts(v, rule)
	if facts&e.hidden != 0 {
		e.emptied = true
		return e.instead(dst, rule)
	}
	if e.finding { // also where nothing of the value has the form that the rule wants
		e.kinds |= facts
	}
	out, kept := e.shape(dst, v, rule)
	if !kept {
		return e.instead(out, rule)
	}
	e.kinds |= facts
	return out, true
}

// instead is what stands in the place of a value of which nothing leaves. Of state there is nothing to say where none may leave.
func (e *encoder) instead(dst []byte, rule *event.Rule) ([]byte, bool) {
	if (rule.State || rule.Patch) && len(e.stateKeys) == 0 {
		return dst, false
	}
	return append(dst, rule.Else...), rule.Else != ""
}

// closer names facts of which a table cannot tell whether they are the more ordinary ones: only the decoder can.
var closer = map[event.Kind]event.Kind{
	event.KindToolStarted: event.KindInputRequested,
	event.KindToolEnded:   event.KindInputAnswered,
}

// facts are those that a value may state by its rule: none where there is nothing to it, more than one where the decoder found
// several of the sort in the frame.
func (e *encoder) facts(v strictjson.Value, rule *event.Rule) uint64 {
	fact := rule.Fact
	if fact == event.KindOther || v.Kind() == strictjson.Null || rule.Instead == "" && blank(v) {
		return 0
	}
	if fact == event.KindText && e.thinking {
		fact = event.KindThought
	}
	if other, ok := closer[fact]; ok && e.stated&bit(other) != 0 {
		return bit(other) | e.stated&bit(fact)
	}
	return bit(fact)
}

func blank(v strictjson.Value) bool {
	switch v.Kind() {
	case strictjson.String:
		return len(v.Raw()) == len(`""`)
	case strictjson.Object, strictjson.Array:
		return v.Len() == 0
	}
	return v.Kind() == strictjson.Null
}

func (e *encoder) shape(dst []byte, v strictjson.Value, rule *event.Rule) ([]byte, bool) {
	switch {
	case rule.Instead != "" && v.Kind() != strictjson.Null:
		return append(dst, rule.Instead...), true
	case rule.Whole:
		return e.whole(dst, v)
	case rule.Each != nil:
		return e.array(dst, v, rule.Each)
	case rule.Members != nil:
		return e.members(dst, v, rule)
	case rule.Names != nil:
		return e.object(dst, v, func(name, value strictjson.Value) *event.Rule {
			if !isOf(rule.Form, name.Text()) {
				return nil
			}
			// Where the name is what there is to know, words beside it are contents; a number is a version or a count.
			if _, number := value.Int(); !number && value.Kind() != strictjson.Object && value.Kind() != strictjson.Array {
				return nil
			}
			return rule.Names
		})
	case rule.State:
		return e.state(dst, v)
	case rule.Patch:
		return e.patch(dst, v)
	}
	return scalar(dst, v, rule.Form)
}

// members writes an object's members. In a thought, text is a thought too.
func (e *encoder) members(dst []byte, v strictjson.Value, rule *event.Rule) ([]byte, bool) {
	byName := func(name, _ strictjson.Value) *event.Rule { return rule.Members[string(name.Text())] }
	if len(rule.Only) > 0 && !e.finding && generous.HasOther(v, e.kindNames, rule.Only) {
		e.emptied = true
		return dst, false
	}
	strays := saysThought(v, rule)
	if e.thinking || !strays && !thought(v, rule) {
		return e.object(dst, v, byName)
	}
	if e.hidden&bit(event.KindThought) != 0 || strays && !e.finding { // its sign would not leave with it: to its reader it would be an answer
		e.emptied = true
		return dst, false
	}
	e.thinking = true
	dst, kept := e.object(dst, v, byName)
	e.thinking = false
	if kept {
		e.kinds |= bit(event.KindThought)
	}
	return dst, kept
}

var whole = event.Rule{Whole: true}

// whole writes a value anew, with all that is in it.
func (e *encoder) whole(dst []byte, v strictjson.Value) ([]byte, bool) {
	switch v.Kind() {
	case strictjson.Object:
		return e.object(dst, v, func(_, _ strictjson.Value) *event.Rule { return &whole })
	case strictjson.Array:
		return e.array(dst, v, &whole)
	}
	return scalar(dst, v, event.FormText)
}

func (e *encoder) object(dst []byte, v strictjson.Value, ruleOf func(name, value strictjson.Value) *event.Rule) ([]byte, bool) {
	if v.Kind() != strictjson.Object {
		return dst, false
	}
	start, kinds := len(dst), e.kinds
	dst = append(dst, '{')
	kept, broken := false, false
	for name, value := range v.Members() {
		rule := ruleOf(name, value)
		if rule == nil || rule.As != "" && v.Get(rule.As).Exists() {
			continue
		}
		before := len(dst)
		if kept {
			dst = append(dst, ',')
		}
		dst = append(called(dst, name, rule), ':')
		var leaves bool
		if dst, leaves = e.value(dst, value, rule); !leaves {
			dst = dst[:before]
			broken = broken || rule.Needed && value.Kind() != strictjson.Null
			continue
		}
		kept = true
	}
	switch {
	case broken && !e.finding:
		e.kinds, e.emptied = kinds, true
		return dst[:start], false
	case !kept && v.Len() > 0:
		return dst[:start], false
	}
	return append(dst, '}'), true
}

// called writes the name under which a member leaves.
func called(dst []byte, name strictjson.Value, rule *event.Rule) []byte {
	if rule.As == "" {
		return quote(dst, name)
	}
	dst, _ = jsontext.AppendQuote(dst, rule.As)
	return dst
}

func (e *encoder) array(dst []byte, v strictjson.Value, rule *event.Rule) ([]byte, bool) {
	if v.Kind() != strictjson.Array {
		return dst, false
	}
	start := len(dst)
	dst = append(dst, '[')
	kept := false
	for element := range v.Elements() {
		before := len(dst)
		if kept {
			dst = append(dst, ',')
		}
		var leaves bool
		if dst, leaves = e.value(dst, element, rule); !leaves {
			dst = dst[:before]
			continue
		}
		kept = true
	}
	if !kept && v.Len() > 0 {
		e.emptied = true
		return dst[:start], false
	}
	return append(dst, ']'), true
}

func scalar(dst []byte, v strictjson.Value, form event.Form) ([]byte, bool) {
	switch v.Kind() {
	case strictjson.String:
		if !isOf(form, v.Text()) {
			return dst, false
		}
		return quote(dst, v), true
	case strictjson.Number, strictjson.Bool, strictjson.Null:
		return append(dst, v.Raw()...), true
	}
	return dst, false
}

// isOf reports whether a string is of a form.
func isOf(form event.Form, text []byte) bool {
	switch form {
	case event.FormName:
		return len(text) <= event.MaxName && !bytes.ContainsFunc(text, unicode.IsControl)
	case event.FormText:
		return true
	case event.FormTime:
		_, err := time.Parse(time.RFC3339, string(text))
		return err == nil
	}
	return false
}

// quote writes a string anew. Strict reading has refused what is not UTF-8, so there is no error to come.
func quote(dst []byte, v strictjson.Value) []byte {
	dst, _ = jsontext.AppendQuote(dst, v.Text())
	return dst
}
