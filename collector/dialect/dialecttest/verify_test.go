package dialecttest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestVerify checks that Verify reports each invalid batch and accepts a valid one.
func TestVerify(t *testing.T) {
	fact := func(e event.Event) event.Batch { return event.Batch{Events: []event.Event{e}} }
	text := func(kind event.Kind, content string) event.Event {
		e := event.Event{Kind: kind}
		e.SetText([]byte(content))
		return e
	}
	known := event.Count{N: 1, Known: true}
	var doc strictjson.Doc
	if err := doc.Parse([]byte(`"x"`), 1); err != nil {
		t.Fatal(err)
	}
	piece := event.Piece{Kind: event.PieceText, Value: doc.Root()}
	artifact := func(omitted int, pieces ...event.Piece) event.Event {
		e := event.Event{Kind: event.KindArtifact, Artifact: event.Artifact{Kind: event.ArtifactFile}}
		for _, p := range pieces {
			e.AddPiece(p)
		}
		e.Omitted = omitted
		return e
	}
	misplaced := fact(artifact(0, piece))
	misplaced.Events[0].Kind = event.KindFinal
	misplaced.Events[0].Artifact = event.Artifact{}
	for want, b := range map[string]event.Batch{
		"call has 257 bytes":   fact(event.Event{CallID: strings.Repeat("x", maxString+1)}),
		"model is not UTF-8":   fact(event.Event{Model: "\xff"}),
		"source has 513":       fact(event.Event{Citation: event.Citation{Source: strings.Repeat("x", maxQuote+1)}}),
		"not in UTC":           {Time: time.Unix(1e9, 0).In(time.FixedZone("", 3600))},
		"not an event.Reason":  {Rejected: "because"},
		"but it states":        {Rejected: event.ReasonShape, Events: []event.Event{{Kind: event.KindFinal}}},
		"not an event.Kind":    fact(event.Event{Kind: event.Kind(len(event.Kinds()))}),
		"has 0 bytes":          fact(event.Event{Kind: event.KindText}),
		"has 1 bytes":          fact(text(event.KindFinal, "x")),
		"text is not UTF-8":    fact(text(event.KindThought, "\xff")),
		"not an event.Failure": fact(event.Event{Kind: event.KindError, Error: "boom"}),
		"without a class":      fact(event.Event{Kind: event.KindError}),
		"a kind that cannot":   fact(event.Event{Kind: event.KindFinal, Error: event.ToolError}),
		"without an error":     fact(event.Event{Kind: event.KindToolEnded, Code: "X"}),
		"is malformed":         fact(event.Event{Kind: event.KindError, Error: event.AgentError, Code: "some words"}),
		`input ""`:             fact(event.Event{Kind: event.KindInputRequested}),
		`input "data"`:         fact(event.Event{Kind: event.KindFinal, Input: event.InputData}),
		`artifact "map"`:       fact(event.Event{Kind: event.KindArtifact, Artifact: event.Artifact{Kind: "map"}}),
		"pieces outside":       misplaced,
		"1 pieces and 1":       fact(artifact(1, piece)),
		`a piece "rows"`:       fact(artifact(0, event.Piece{Kind: event.PieceRows, Value: doc.Root()})),
		`a piece "text"`:       fact(artifact(0, event.Piece{Kind: event.PieceText})),
		"a schema without":     fact(artifact(0, event.Piece{Kind: event.PieceData, Value: doc.Root(), Schema: doc.Root()})),
		"file has 257":         fact(artifact(0, event.Piece{Kind: event.PieceText, Value: doc.Root(), Name: strings.Repeat("x", maxString+1)})),
		"media type is not":    fact(artifact(0, event.Piece{Kind: event.PieceText, Value: doc.Root(), Media: "\xff"})),
		"a field of another":   fact(event.Event{Kind: event.KindModelStarted, TurnMayEnd: true}),
		"no target":            fact(event.Event{Kind: event.KindTransfer}),
		"tokens outside":       fact(event.Event{Kind: event.KindFinal, Usage: event.Usage{Input: known}}),
		"negative number":      fact(event.Event{Kind: event.KindReasoning, Steps: -1}),
		"count {N:-1":          fact(event.Event{Kind: event.KindModelEnded, Usage: event.Usage{Output: event.Count{N: -1, Known: true}}}),
		"count {N:3":           fact(event.Event{Kind: event.KindModelEnded, Usage: event.Usage{Output: event.Count{N: 3}}}),
	} {
		if err := Verify(&b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Verify = %v, want an error that contains %q", err, want)
		}
	}
	good := event.Batch{Run: "r", Agent: "a", Time: time.Unix(1e9, 0).UTC(), Events: []event.Event{
		text(event.KindText, "hi"), {Kind: event.KindModelEnded, Usage: event.Usage{Input: known}, Error: event.ModelError},
		{Kind: event.KindToolStarted, LongRunning: true, TurnMayEnd: true}, {Kind: event.KindToolEnded, TurnMayEnd: true, Error: event.ToolError},
		{Kind: event.KindInputRequested, Input: event.InputData}, {Kind: event.KindArtifact, Artifact: event.Artifact{Kind: event.ArtifactFile, Bytes: known}},
		{Kind: event.KindTransfer, Name: "b"}, {Kind: event.KindError, Error: event.AgentError, Code: "SAFETY", Inline: true}, {Kind: event.KindReasoning, Steps: 3}, artifact(0, piece),
		artifact(2, slices.Repeat([]event.Piece{piece}, event.MaxPieces)...),
	}}
	if err := Verify(&good); err != nil {
		t.Error(err)
	}
}
