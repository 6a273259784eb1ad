package proof

import (
	"maps"
	"slices"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestEscapedWords checks that escapes in a tool's response do not change what is read.
func TestEscapedWords(t *testing.T) {
	for _, result := range []string{
		`Confidence: 92%`, `CON\u0066IDENCE: 92%`, `\u0043onfidence: 92%`, `Plots seen.\n**Confidence:** 92%`, `Confidenc\u0065: 92%`,
		`\u0043\u004f\u004e\u0046\u0049\u0044\u0045\u004e\u0043\u0045: 92%`,
	} {
		var b event.Batch
		b.Add(event.KindToolEnded).SetPayload(parseJSON(t, `{"result":"`+result+`"}`))
		Annotate(&b, roomy)
		if len(b.Events) != 2 || b.Events[1].Kind != event.KindConfidence || b.Events[1].Confidence.Value != 0.92 {
			t.Errorf("%s adds %+v, want the confidence 0.92", result, b.Events[1:])
		}
	}
}

// frame returns an annotated batch with a tool's response, a text and the frame's own statements. Each may
// be "".
func frame(t *testing.T, response, text, layer, grounding, citations string) *event.Batch {
	t.Helper()
	parse := func(s string) strictjson.Value {
		if s == "" {
			return strictjson.Value{}
		}
		return parseJSON(t, s)
	}
	b := &event.Batch{Agent: "a", Statements: event.Statements{Layer: parse(layer), Grounding: parse(grounding), Citations: parse(citations)}}
	if response != "" {
		b.Add(event.KindToolEnded).SetPayload(parse(response))
	}
	if text != "" {
		b.Add(event.KindText).SetText([]byte(text))
	}
	Annotate(b, roomy)
	return b
}

// TestTruncatedText checks that the first line of a text without its beginning states nothing.
func TestTruncatedText(t *testing.T) {
	for text, want := range map[string]int{"Confidence: 90%": 0, "Confidence: 90%\nThat is all.": 0, "is sure.\nConfidence: 90%": 1} {
		b := &event.Batch{Agent: "a"}
		e := b.Add(event.KindText)
		e.SetText([]byte(text))
		e.Truncated = true
		if Annotate(b, roomy); len(statements(b)) != want {
			t.Errorf("%q states %v, want %d statements", text, statements(b), want)
		}
	}
}

// statements describes the statements of a batch.
func statements(b *event.Batch) (all []string) {
	for i := range b.Events {
		switch e := &b.Events[i]; e.Kind {
		case event.KindConfidence:
			all = append(all, describe(e.Confidence)+" "+string(e.Confidence.Origin))
		case event.KindCitation:
			all = append(all, e.Citation.Source+" <"+e.Citation.URI+">")
		case event.KindReasoning:
			all = append(all, "reasoning")
		}
	}
	for _, why := range b.Unreadable {
		all = append(all, "unreadable: "+string(why))
	}
	return all
}

// TestLayerInResponses checks each member of a tool's response that may contain a proof layer.
func TestLayerInResponses(t *testing.T) {
	const layer = `{"proof_layer": {"confidence": 0.92}}`
	text := quote(t, layer)
	for _, response := range []string{
		layer, text, `{"proof_layer": ` + quote(t, `{"confidence": "92%"}`) + `}`, `{"result": ` + layer + `}`, `{"result": ` + text + `}`, `{"output": ` + layer + `}`, `{"output": ` + text + `}`,
		`{"text": ` + text + `}`, `{"structuredContent": ` + layer + `, "content": []}`,
		`{"content": [{"type": "text", "text": "x"}, {"type": "text", "text": ` + text + `}]}`,
	} {
		if got := statements(frame(t, response, "", "", "", "")); !slices.Equal(got, []string{"0.92 structured"}) {
			t.Errorf("%s gives the statements %q", response, got)
		}
	}
	for _, response := range []string{
		`{"output": "Confidence: 92%"}`, `{"text": "Confidence: 92%"}`, `{"content": [{"type": "text", "text": "Confidence: 92%"}]}`,
		`{"result": "Confidence: 92%", "proof_layer": {}}`, `{"result": "Confidence: 92%", "proof_layer": {"confidence": null}}`,
	} {
		if got := statements(frame(t, response, "", "", "", "")); !slices.Equal(got, []string{"0.92 text"}) {
			t.Errorf("%s gives the statements %q", response, got)
		}
	}
}

// TestFrameLayer checks a frame's own proof layer. An empty one does not hide the statements of the text.
func TestFrameLayer(t *testing.T) {
	const text = "Confidence: 80%\nSource: MTBS"
	for layer, want := range map[string][]string{
		"":                       {"0.8 text", "MTBS <>"},
		`{}`:                     {"0.8 text", "MTBS <>"},
		`{"confidence": 7}`:      {"0.8 text", "MTBS <>", "unreadable: scale"},
		`null`:                   {"0.8 text", "MTBS <>"},
		`true`:                   {"0.8 text", "MTBS <>", "unreadable: type"},
		`"verified"`:             {"0.8 text", "MTBS <>", "unreadable: type"},
		`{"confidence": 0.92}`:   {"0.92 structured", "MTBS <>"},
		`"{\"confidence\": 92}"`: {"0.92 structured", "MTBS <>"},
		`{"confidence": "high", "citations": [{"source": "FSM"}], "reasoning_chain": ["a"]}`: {"high structured", "FSM <>", "reasoning"},
	} {
		if got := statements(frame(t, "", text, layer, "", "")); !slices.Equal(got, want) {
			t.Errorf("%s gives the statements %q, want %q", layer, got, want)
		}
	}
}

// TestGrounding checks that each source that Google's models state outside the text is read once.
func TestGrounding(t *testing.T) {
	got := statements(frame(t, "", "Closed.", "",
		`{"groundingChunks": [{"web": {"uri": "https://a.org/", "title": "A"}}, {"retrievedContext": {"uri": "gs://b", "title": "B"}}, {"web": {}}]}`,
		`{"citations": [{"uri": "https://a.org/", "title": "A", "startIndex": 3}, {"uri": "https://c.org/"}]}`))
	if want := []string{"A <https://a.org/>", "B <gs://b>", " <https://c.org/>"}; !slices.Equal(got, want) {
		t.Errorf("the sources are %q, want %q", got, want)
	}
}

// TestTurns checks that each statement belongs to the speaker of its turn.
func TestTurns(t *testing.T) {
	b := &event.Batch{Agent: "a"}
	b.Add(event.KindText).SetText([]byte("Confidence: 90%"))
	b.BeginTurn(event.Speaker{Agent: "b"})
	b.Add(event.KindText).SetText([]byte("Confidence: 80%"))
	b.EndTurns()
	Annotate(b, roomy)
	stated := map[string]float64{}
	for one := range b.Turns() {
		for _, e := range one.Events {
			if e.Kind == event.KindConfidence && e.Name == one.Agent {
				stated[e.Name] = e.Confidence.Value
			}
		}
	}
	if b.Agent != "a" || !maps.Equal(stated, map[string]float64{"a": 0.9, "b": 0.8}) {
		t.Errorf("the agent of the batch is %q, and the turns state %v", b.Agent, stated)
	}
}
