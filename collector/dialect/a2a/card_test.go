package a2a

import (
	"net/http"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestIsCard checks which requests ask for an agent card.
func TestIsCard(t *testing.T) {
	for _, c := range []struct {
		method, path, body string
		want               bool
	}{
		{"GET", "/.well-known/agent-card.json", "", true},
		{"GET", "/.well-known/agent.json", "", true},
		{"GET", "/a2a/weather/.well-known/agent-card.json", "", true},
		{"GET", "/v1/card", "", true},
		{"GET", "/extendedAgentCard", "", true},
		{"GET", "/agent/authenticatedExtendedCard", "", true},
		{"GET", "/acme/extendedAgentCard", "", true},
		{"HEAD", "/v1/card", "", true},
		{"POST", "/", `{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"}`, true},
		{"POST", "/a2a/x", `{"jsonrpc":"2.0","id":1,"method":"agent/getAuthenticatedExtendedCard"}`, true},
		{"POST", "/", `{"jsonrpc":"2.0","id":1,"method":"message/send"}`, false},
		{"POST", "/v1/card", "", false},
		{"GET", "/cards/v1", "", false},
		{"GET", "/agent.json", "", false},
	} {
		var doc strictjson.Doc
		if c.body != "" && doc.Parse([]byte(c.body), 8) != nil {
			t.Fatal(c.body)
		}
		if got := (Dialect{}).IsCard(dialect.Request{Method: c.method, Path: c.path, Body: doc.Root(), Header: http.Header{}}); got != c.want {
			t.Errorf("IsCard() = %t for %s %s with the body %s, want %t", got, c.method, c.path, c.body, c.want)
		}
	}
}

// TestReplaceURLs checks which URLs of a card are replaced, and that a signed card is not changed.
func TestReplaceURLs(t *testing.T) {
	for _, c := range []struct {
		name, card, want string
		signed           bool
	}{
		{"0.3", `{"name":"a", "url":"old/x","additionalInterfaces":[{"transport":"GRPC","url":"grpc"},{"url":"old/y"}]}`,
			`{"name":"a","url":"new/x","additionalInterfaces":[{"transport":"GRPC","url":"grpc"},{"url":"new/y"}]}`, false},
		{"1.0", `{"supportedInterfaces":[{"url":"old/","protocolBinding":"JSONRPC"}],"provider":{"url":"old/z"},"documentationUrl":"old/d"}`,
			`{"supportedInterfaces":[{"url":"new/","protocolBinding":"JSONRPC"}],"provider":{"url":"old/z"},"documentationUrl":"old/d"}`, false},
		{"over JSON-RPC", `{"jsonrpc":"2.0","id":7,"result":{"url":"old"}}`, `{"jsonrpc":"2.0","id":7,"result":{"url":"new"}}`, false},
		{"escaped", `{"url":"\u006fld","version":1e2}`, `{"url":"new","version":1e2}`, false},
		{"without signatures", `{"signatures":[],"url":"old"}`, `{"signatures":[],"url":"new"}`, false},
		{"null", `{"signatures":null,"additionalInterfaces":null,"url":"old"}`, `{"signatures":null,"additionalInterfaces":null,"url":"new"}`, false},
		{"signed", `{"url":"old","signatures":[{"protected":"x","signature":"y"}]}`, "", true},
		{"signed, over JSON-RPC", `{"result":{"url":"old","signatures":[{}]}}`, "", true},
		{"signed, with nothing to replace", `{"url":"other","signatures":[{}]}`, "", false},
		{"nothing to replace", `{"url":"other"}`, "", false},
		{"of other types", `{"url":1,"additionalInterfaces":{"url":"old"},"supportedInterfaces":["old",null]}`, "", false},
		{"no object", `["old"]`, "", false},
	} {
		got, signed := Dialect{}.ReplaceURLs(value(t, c.card), func(s string) string { return strings.Replace(s, "old", "new", 1) })
		if string(got) != c.want || signed != c.signed {
			t.Errorf("%s: the card becomes %s, signed %t; want %s, %t", c.name, got, signed, c.want, c.signed)
		}
	}
}
