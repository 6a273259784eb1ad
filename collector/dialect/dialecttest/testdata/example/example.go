// Package example decodes an invented protocol with frames like {"toy":"a","say":"hi","last":true}. It
// shows what a new dialect needs.
package example

import (
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Dialect implements dialect.Dialect for the example protocol.
type Dialect struct{}

// Name returns "example".
func (Dialect) Name() string { return "example" }

// Paths returns the default paths of the protocol.
func (Dialect) Paths() []dialect.Path { return []dialect.Path{{Glob: "/toys/*"}} }

// Identify returns the conversation of a request as its session.
func (Dialect) Identify(r dialect.Request) event.Identity {
	return event.Identity{Session: cut(r.Body.Get("talk").String())}
}

// Detect recognizes frames with the name of a toy.
func (Dialect) Detect(f dialect.Frame) dialect.Match {
	if f.JSON.Get("toy").Kind() == strictjson.String {
		return dialect.Yes
	}
	return dialect.No
}

// Table returns the rules of the filter: the policy public lets out the text and its speaker.
func (Dialect) Table() *event.Table { return &table }

var table = event.Table{
	OversizeData: `{"toy":"toys","broken":"` + event.OversizeMessage + `"}`,
	Types: map[string]event.Type{
		"say": {Client: true, Public: &event.Rule{Members: map[string]*event.Rule{
			"toy": {}, "say": {Fact: event.KindText}, "last": {},
		}}},
		"broken": {Client: true},
	},
}

// New returns a decoder for one stream.
func (Dialect) New(*event.Stream) dialect.Decoder { return decoder{} }

type decoder struct{}

// Decode adds the facts of a frame to its batch.
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
	if f.JSON.Get("broken").Kind() == strictjson.String {
		b.Type = "broken"
		b.Add(event.KindError).Error = event.AgentError
		return
	}
	b.AddText(event.KindText, f.JSON.Get("say"))
	if last, _ := f.JSON.Get("last").Bool(); last {
		b.Add(event.KindFinal)
	}
}

// cut limits the length of a name.
func cut(s string) string {
	const limit = 256
	return strings.ToValidUTF8(s[:min(len(s), limit)], "")
}
