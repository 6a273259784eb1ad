package filter

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// encoder writes what a rule lets out of a value, anew: no byte of the source is copied but those of numbers, which strict
// reading has checked.
type encoder struct {
	filter  *Filter
	batch   *event.Batch
	buf     []byte
	kinds   uint64
	emptied bool // a list or an object lost all that it had
}

func (e *encoder) encode(b *event.Batch, rule *event.Rule) (Frame, Reason) {
	e.batch, e.kinds, e.emptied = b, 0, false
	if cap(e.buf) > maxKept {
		e.buf = nil
	}
	var kept bool
	e.buf, kept = e.value(e.buf[:0], b.JSON, rule)
	if !kept || e.emptied && e.kinds == 0 {
		return Frame{}, Empty
	}
	if e.kinds == 0 {
		if e.filter.hidden[event.KindOther] {
			return Frame{}, Setting
		}
		e.kinds = 1 << event.KindOther
	}
	return Frame{Data: e.buf, Kinds: e.kinds}, Passed
}

// maxKept is the size up to which the buffer of one frame is kept for the next.
const maxKept = 64 << 10

// value appends what the rule lets out of v; false says that nothing of it may, and dst is as it was.
func (e *encoder) value(dst []byte, v strictjson.Value, rule *event.Rule) ([]byte, bool) {
	if v.Kind() == strictjson.String && slices.Contains(rule.Values, v.String()) {
		return quote(dst, v), true
	}
	if rule.Fact != event.KindOther && (e.filter.hidden[rule.Fact] || rule.Fact == event.KindText && !e.filter.author(e.batch.Agent)) {
		e.emptied = true
		return dst, false
	}
	out, kept := e.shape(dst, v, rule)
	if kept && rule.Fact != event.KindOther {
		e.kinds |= 1 << rule.Fact
	}
	return out, kept
}

func (e *encoder) shape(dst []byte, v strictjson.Value, rule *event.Rule) ([]byte, bool) {
	switch {
	case rule.Instead != "":
		return append(dst, rule.Instead...), true
	case rule.Whole:
		return e.whole(dst, v)
	case rule.Each != nil:
		return e.array(dst, v, rule.Each)
	case rule.Members != nil:
		if e.thought(v, rule) {
			e.emptied = true
			return dst, false
		}
		return e.object(dst, v, func(name strictjson.Value) *event.Rule { return rule.Members[name.String()] })
	case rule.Names != nil:
		return e.object(dst, v, func(strictjson.Value) *event.Rule { return rule.Names })
	case rule.State:
		return e.object(dst, v, func(name strictjson.Value) *event.Rule {
			if slices.Contains(e.filter.settings.StateKeys, name.String()) {
				return &whole
			}
			return nil
		})
	}
	return scalar(dst, v)
}

var whole = event.Rule{Whole: true}

// whole writes a value anew, with all that is in it.
func (e *encoder) whole(dst []byte, v strictjson.Value) ([]byte, bool) {
	switch v.Kind() {
	case strictjson.Object:
		return e.object(dst, v, func(strictjson.Value) *event.Rule { return &whole })
	case strictjson.Array:
		return e.array(dst, v, &whole)
	}
	return scalar(dst, v)
}

// thought says whether an object is a thought that may not leave.
func (e *encoder) thought(v strictjson.Value, rule *event.Rule) bool {
	for _, name := range rule.Thought {
		sign := v.Get(name)
		no, isBool := sign.Bool()
		if sign.Exists() && sign.Kind() != strictjson.Null && !(isBool && !no) {
			return !e.filter.thought(e.batch)
		}
	}
	return false
}

func (e *encoder) object(dst []byte, v strictjson.Value, ruleOf func(name strictjson.Value) *event.Rule) ([]byte, bool) {
	if v.Kind() != strictjson.Object {
		return dst, false
	}
	start := len(dst)
	dst = append(dst, '{')
	kept := false
	for name, value := range v.Members() {
		rule := ruleOf(name)
		if rule == nil {
			continue
		}
		before := len(dst)
		if kept {
			dst = append(dst, ',')
		}
		dst = append(quote(dst, name), ':')
		var leaves bool
		if dst, leaves = e.value(dst, value, rule); !leaves {
			dst = dst[:before]
			continue
		}
		kept = true
	}
	if !kept && v.Len() > 0 {
		return dst[:start], false
	}
	return append(dst, '}'), true
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

func scalar(dst []byte, v strictjson.Value) ([]byte, bool) {
	switch v.Kind() {
	case strictjson.String:
		return quote(dst, v), true
	case strictjson.Number, strictjson.Bool, strictjson.Null:
		return append(dst, v.Raw()...), true
	}
	return dst, false
}

// quote writes a string anew. Strict reading has refused what is not UTF-8, so there is no error to come.
func quote(dst []byte, v strictjson.Value) []byte {
	dst, _ = jsontext.AppendQuote(dst, v.Text())
	return dst
}
