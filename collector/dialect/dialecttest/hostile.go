package dialecttest

import (
	"bytes"
	"fmt"
	"iter"
	"strings"

	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// longName is too long for a name. The byte at the limit is in the middle of a character.
var longName = `"x` + strings.Repeat("é", 2*maxString) + `"`

// hostile lists JSON values of every type, which replace any value.
var hostile = []string{
	`null`, `true`, `false`, `0`, `-1`, `1.5`, `1e999`, `9223372036854775808`, `-9223372036854775808`, `1767081391059`,
	`""`, `"x"`, `"user"`, `"\u0000\ud83d\ude00"`, longName, `"` + strings.Repeat(`\u00e9`, 2*maxString) + `"`,
	`[]`, `{}`, `[null]`, `[[],{},"x",1]`, `{"":null}`, `{"x":{"x":[{"x":"x"}]}}`,
	strings.Repeat("[", 100) + strings.Repeat("]", 100), strings.Repeat(`{"x":`, 100) + "1" + strings.Repeat("}", 100),
}

// hostileNames replace the name of any member.
var hostileNames = []string{`""`, `"x"`, longName}

// meaningless lists data that no dialect sends in a frame.
var meaningless = append([]string{
	``, ` `, `x`, `{`, `{}{}`, `{"x":1,"x":2}`, `{"x":1,"X":2}`, "\"\xff\"", "\xef\xbb\xbf{}", `"\ud800"`, "\x00",
	strings.Repeat("[", 10_000), strings.Repeat(`{"x":`, maxDepth+1) + "1" + strings.Repeat("}", maxDepth+1),
}, hostile...)

// hostileFields replace the event name and the id of a frame.
var hostileFields = []string{"", "message", "error", "end", "x", "INTERNAL:x", "\xff\x00", strings.Repeat("é", 2*maxString)}

// hostileVariants yields every alteration of a frame, with a description.
func hostileVariants(f sse.Frame) iter.Seq2[string, sse.Frame] {
	return func(yield func(string, sse.Frame) bool) {
		alter := func(what string, data []byte) bool {
			altered := f
			altered.Data = data
			return yield(what, altered)
		}
		for n := 0; n < len(f.Data); n += 1 + len(f.Data)/(4<<10) {
			if !alter(fmt.Sprintf("cut after %d bytes", n), f.Data[:n]) {
				return
			}
		}
		for _, data := range meaningless {
			if !alter("replaced", []byte(data)) {
				return
			}
		}
		for what, data := range jsonVariants(f.Data) {
			if !alter(what, data) {
				return
			}
		}
		for _, field := range hostileFields {
			named, marked := f, f
			named.Event, marked.ID = []byte(field), []byte(field)
			if !yield("under another event name", named) || !yield("with another id", marked) {
				return
			}
		}
	}
}

// jsonVariants yields every variant of a JSON document that has one part replaced, with a description. It yields
// nothing for data that is not strict JSON.
func jsonVariants(data []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		var doc strictjson.Doc
		if doc.Parse(data, maxDepth) != nil {
			return
		}
		for n, p := range parts(doc.Root(), nil) {
			for _, by := range p.replacements() {
				e := edit{left: n, by: by}
				changed := e.write(nil, doc.Root())
				if !yield(fmt.Sprintf("%.40s replaced by %.40s", p.value.Raw(), by), changed) {
					return
				}
			}
		}
	}
}

// part is a value of a document, or the name of a member.
type part struct {
	value  strictjson.Value
	isName bool
}

// parts appends a value and everything in it, in order.
func parts(v strictjson.Value, all []part) []part {
	all = append(all, part{value: v})
	for name, member := range v.Members() {
		all = parts(member, append(all, part{value: name, isName: true}))
	}
	for element := range v.Elements() {
		all = parts(element, all)
	}
	return all
}

// shapeOf returns a string that is equal for frames that differ only in their numbers and strings.
func shapeOf(f sse.Frame) string {
	var doc strictjson.Doc
	if doc.Parse(f.Data, maxDepth) != nil {
		return string(f.Event) + " " + string(f.Data)
	}
	shape := bytes.Clone(f.Event)
	for _, p := range parts(doc.Root(), nil) {
		shape = append(shape, ' ', '0'+byte(p.value.Kind()))
		if p.isName || p.value.Kind() == strictjson.Bool {
			shape = append(shape, p.value.Raw()...)
		}
	}
	return string(shape)
}

// replacements returns what replaces a part. An array of moderate size is also replaced by one with its elements repeated.
func (p part) replacements() []string {
	if p.isName {
		return hostileNames
	}
	raw := p.value.Raw()
	if p.value.Kind() != strictjson.Array || p.value.Len() == 0 || len(raw) > 4<<10 {
		return hostile
	}
	inner := string(bytes.TrimSuffix(bytes.TrimPrefix(raw, []byte("[")), []byte("]")))
	return append([]string{"[" + strings.Repeat(inner+",", 300) + inner + "]"}, hostile...)
}

// edit rewrites a document and replaces one of its parts. left counts the parts before it, in the order
// of parts.
type edit struct {
	left int
	by   string
}

// reached counts a part, and reports whether it is the one to replace.
func (e *edit) reached() bool {
	e.left--
	return e.left == -1
}

func (e *edit) write(dst []byte, v strictjson.Value) []byte {
	switch kind := v.Kind(); {
	case e.reached():
		return append(dst, e.by...)
	case kind == strictjson.Object:
		dst = append(dst, '{')
		separator := ""
		for name, member := range v.Members() {
			dst = append(dst, separator...)
			written := name.Raw()
			if e.reached() {
				written = []byte(e.by)
			}
			dst = append(append(dst, written...), ':')
			dst = e.write(dst, member)
			separator = ","
		}
		return append(dst, '}')
	case kind == strictjson.Array:
		dst = append(dst, '[')
		separator := ""
		for element := range v.Elements() {
			dst = e.write(append(dst, separator...), element)
			separator = ","
		}
		return append(dst, ']')
	}
	return append(dst, v.Raw()...)
}
