package filter

import (
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// state writes the configured keys of a session's state.
func (e *encoder) state(dst []byte, v strictjson.Value) ([]byte, bool) {
	return e.object(dst, v, func(name, _ strictjson.Value) *event.Rule {
		if slices.ContainsFunc(e.stateKeys, name.Is) {
			return &whole
		}
		return nil
	})
}

// operation is the rule for one of a JSON Patch. Of one that only changes what does not leave nothing does.
var operation = event.Rule{Members: map[string]*event.Rule{"op": {}, "path": {Form: event.FormText}, "from": {Form: event.FormText}, "value": &whole}}

// patch writes the operations of a JSON Patch that change configured keys. With one that nobody understands all of it stays in:
// to whom it is applied, what comes after it means something else.
func (e *encoder) patch(dst []byte, v strictjson.Value) ([]byte, bool) {
	if v.Kind() != strictjson.Array {
		return dst, false
	}
	start, kept := len(dst), false
	dst = append(dst, '[')
	for op := range v.Elements() {
		leaves, understood := e.changes(op)
		if !understood {
			e.emptied = true
			return dst[:start], false
		}
		if !leaves {
			continue
		}
		if kept {
			dst = append(dst, ',')
		}
		dst, _ = e.value(dst, op, &operation)
		kept = true
	}
	if !kept && v.Len() > 0 {
		e.emptied = true
		return dst[:start], false
	}
	return append(dst, ']'), true
}

// changes says whether an operation is on configured keys alone, and whether it is one of RFC 6902 on keys at all.
func (e *encoder) changes(op strictjson.Value) (leaves, understood bool) {
	key, understood := stateKey(op.Get("path"))
	leaves = slices.Contains(e.stateKeys, key)
	switch op.Get("op").String() {
	case "add", "replace", "test":
		return leaves, understood && op.Get("value").Exists() && !op.Get("from").Exists()
	case "remove":
		return leaves, understood && !op.Get("value").Exists() && !op.Get("from").Exists()
	case "move", "copy":
		from, known := stateKey(op.Get("from"))
		return leaves && slices.Contains(e.stateKeys, from), understood && known && !op.Get("value").Exists()
	}
	return false, false
}

// stateKey is the first reference token of a JSON Pointer (RFC 6901): the key of the state that it leads to or into.
func stateKey(pointer strictjson.Value) (key string, is bool) {
	path, is := strings.CutPrefix(pointer.String(), "/")
	if !is || pointer.Kind() != strictjson.String {
		return "", false
	}
	key, _, _ = strings.Cut(path, "/")
	if strings.Contains(escapes.Replace(key), "~") {
		return "", false
	}
	return unescape.Replace(key), true
}

// In a reference token ~ stands only before 0 and 1. One pass from left to right makes ~01 the ~1 that it is.
var (
	escapes  = strings.NewReplacer("~0", "", "~1", "")
	unescape = strings.NewReplacer("~0", "~", "~1", "/")
)
