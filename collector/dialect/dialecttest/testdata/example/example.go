// Package example decodes a protocol that nobody speaks: {"toy":"a","say":"hi","last":true}. It shows what a new dialect needs.
package example

import (
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Dialect is the example.
type Dialect struct{}

// Name is "example".
func (Dialect) Name() string { return "example" }

// Paths are where toys talk.
func (Dialect) Paths() []dialect.Path { return []dialect.Path{{Glob: "/toys/*"}} }

// Identify reads the conversation.
func (Dialect) Identify(r dialect.Request) event.Identity {
	return event.Identity{Session: cut(r.Body.Get("talk").String())}
}

// Detect knows a toy by its name.
func (Dialect) Detect(f dialect.Frame) dialect.Match {
	if f.JSON.Get("toy").Kind() == strictjson.String {
		return dialect.Yes
	}
	return dialect.No
}

// Table lets the public have what is said, and by whom.
func (Dialect) Table() *event.Table { return &table }

var table = event.Table{Types: map[string]event.Type{
	"say": {Client: true, Public: &event.Rule{Members: map[string]*event.Rule{
		"toy": {}, "say": {Fact: event.KindText}, "last": {},
	}}},
}}

// New starts a stream.
func (Dialect) New(*event.Stream) dialect.Decoder { return decoder{} }

type decoder struct{}

// Decode reads a frame.
func (decoder) Decode(f dialect.Frame, b *event.Batch) {
	name := f.JSON.Get("toy")
	switch {
	case f.Malformed != "":
		b.Rejected = f.Malformed
		return
	case name.Kind() != strictjson.String || name.Is("user"):
		b.Rejected = event.ReasonShape
		return
	}
	b.Type, b.Run, b.Agent = "say", "talk", cut(name.String())
	b.AddText(event.KindText, f.JSON.Get("say"))
	if last, _ := f.JSON.Get("last").Bool(); last {
		b.Add(event.KindFinal)
	}
}

// cut keeps a name short.
func cut(s string) string {
	const most = 256
	return strings.ToValidUTF8(s[:min(len(s), most)], "")
}
