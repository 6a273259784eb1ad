package filter

import (
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// state writes the configured keys of a session's state.
func (e *encoder) state(dst []byte, v strictjson.Value) ([]byte, bool) {
	if hasThoughtMarker(v) && e.hidesThoughts() {
		e.lostContent = true
		return dst, false
	}
	return e.object(dst, v, func(name, _ strictjson.Value) *event.Rule {
		if slices.ContainsFunc(e.stateKeys, name.Is) {
			return &anyValueRule
		}
		return nil
	})
}

// operationRule is the rule for an operation of a JSON Patch that changes a configured key. An operation that would lose
// a member is left out.
var operationRule = event.Rule{Members: map[string]*event.Rule{
	"op": {Required: true}, "path": {Form: event.FormText, Required: true}, "from": {Form: event.FormText, Required: true}, "value": {AllowAny: true, Required: true},
}}

// patch writes the operations of a JSON Patch that are about configured keys only, so a move
// between such a key and another is left out. It withholds the whole patch if an operation is not
// understood, because that operation may change the meaning of later ones, and if it may change a
// thought, unless thoughts may pass.
func (e *encoder) patch(dst []byte, v strictjson.Value) ([]byte, bool) {
	understood := !e.hasThoughts || !e.hidesThoughts()
	for op := range v.Elements() {
		_, known := e.allowsOperation(op)
		understood = understood && known
	}
	if !understood {
		e.lostContent = true
		return dst, false
	}
	return e.array(dst, v, func(op strictjson.Value) *event.Rule {
		if allowed, _ := e.allowsOperation(op); allowed {
			return &operationRule
		}
		return nil
	})
}

// allowsOperation reports whether an operation applies to configured keys only, and whether it is a valid
// RFC 6902 operation on a key.
func (e *encoder) allowsOperation(op strictjson.Value) (allowed, understood bool) {
	key, understood := stateKey(op.Get("path"))
	allowed = slices.Contains(e.stateKeys, key)
	switch op.Get("op").String() {
	case "add", "replace", "test":
		return allowed, understood && op.Get("value").Exists() && !op.Get("from").Exists()
	case "remove":
		return allowed, understood && !op.Get("value").Exists() && !op.Get("from").Exists()
	case "move", "copy":
		from, known := stateKey(op.Get("from"))
		return allowed && slices.Contains(e.stateKeys, from), understood && known && !op.Get("value").Exists()
	}
	return false, false
}

// stateKey returns the first reference token of a JSON Pointer (RFC 6901), which is the state key
// that it addresses.
func stateKey(pointer strictjson.Value) (key string, ok bool) {
	path, ok := strings.CutPrefix(pointer.String(), "/") // "" if it is not a string
	if !ok {
		return "", false
	}
	key, _, _ = strings.Cut(path, "/")
	if strings.Contains(removeEscapes.Replace(key), "~") {
		return "", false
	}
	return unescape.Replace(key), true
}

// In a reference token, only 0 or 1 may follow ~. A replacer passes once from left to right, so ~01 becomes ~1.
var (
	removeEscapes = strings.NewReplacer("~0", "", "~1", "")
	unescape      = strings.NewReplacer("~0", "~", "~1", "/")
)
