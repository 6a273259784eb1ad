package a2a

import (
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/strictjson"
)

var (
	// cardPaths are the paths of agent cards, including those of 0.2. Each may have a prefix.
	cardPaths = []string{"/.well-known/agent-card.json", "/.well-known/agent.json", "/v1/card", "/extendedagentcard", "/agent/authenticatedextendedcard"}

	// cardMethods are the JSON-RPC methods that return a card.
	cardMethods = []string{"GetExtendedAgentCard", "agent/getAuthenticatedExtendedCard", "agent/authenticatedExtendedCard"}
)

// IsCard reports whether the answer to a request may be an agent card.
func (Dialect) IsCard(r dialect.Request) bool {
	path := strings.ToLower(r.Path)
	return (r.Method == "GET" || r.Method == "HEAD") && slices.ContainsFunc(cardPaths, func(end string) bool { return strings.HasSuffix(path, end) }) ||
		slices.ContainsFunc(cardMethods, r.Body.Get("method").Is)
}

// ReplaceURLs returns an agent card, or the JSON-RPC response that contains one, with the URLs of
// the agent's interfaces replaced. It returns nil if there is nothing to replace. A change would invalidate the
// signature of a signed card, so it returns nil for such a card too; signed then reports whether there was something
// to replace.
func (Dialect) ReplaceURLs(card strictjson.Value, replace func(string) string) (changed []byte, signed bool) {
	w := cardWriter{replace: replace}
	if result := card.Get("result"); result.Kind() == strictjson.Object {
		signed = result.Get("signatures").Len() > 0
		w.object(card, func(name string, v strictjson.Value) bool { return name == "result" && w.card(v) })
	} else {
		signed = card.Get("signatures").Len() > 0
		w.card(card)
	}
	if !w.changed {
		return nil, false
	}
	if signed {
		return nil, true
	}
	return w.out, false
}

// cardWriter copies a card and replaces its URLs.
type cardWriter struct {
	replace func(string) string
	out     []byte
	changed bool
}

func (w *cardWriter) card(v strictjson.Value) bool {
	return w.object(v, func(name string, v strictjson.Value) bool {
		switch name {
		case "url":
			return w.url(v)
		case "additionalInterfaces", "supportedInterfaces":
			return w.interfaces(v)
		}
		return false
	})
}

func (w *cardWriter) interfaces(v strictjson.Value) bool {
	if v.Kind() != strictjson.Array {
		return false
	}
	w.out = append(w.out, '[')
	first := true
	for element := range v.Elements() {
		w.separate(&first)
		if !w.object(element, func(name string, v strictjson.Value) bool { return name == "url" && w.url(v) }) {
			w.out = append(w.out, element.Raw()...)
		}
	}
	w.out = append(w.out, ']')
	return true
}

// object writes an object and returns true. If v is not an object, it writes nothing and returns false. It calls member
// for each member. If member returns true, it has written a replacement for the value.
func (w *cardWriter) object(v strictjson.Value, member func(name string, v strictjson.Value) bool) bool {
	if v.Kind() != strictjson.Object {
		return false
	}
	w.out = append(w.out, '{')
	first := true
	for name, value := range v.Members() {
		w.separate(&first)
		w.out = append(append(w.out, name.Raw()...), ':')
		if !member(name.String(), value) {
			w.out = append(w.out, value.Raw()...)
		}
	}
	w.out = append(w.out, '}')
	return true
}

func (w *cardWriter) separate(first *bool) {
	if !*first {
		w.out = append(w.out, ',')
	}
	*first = false
}

func (w *cardWriter) url(v strictjson.Value) bool {
	before := v.String()
	after := w.replace(before)
	if v.Kind() != strictjson.String || after == before {
		return false
	}
	w.out = strictjson.AppendQuoted(w.out, after)
	w.changed = true
	return true
}
