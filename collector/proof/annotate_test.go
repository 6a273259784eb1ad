package proof

import (
	"slices"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestEscapedWords shows that a tool's response states what it states however its letters are sent.
func TestEscapedWords(t *testing.T) {
	for _, result := range []string{
		`Confidence: 92%`, `CON\u0066IDENCE: 92%`, `\u0043onfidence: 92%`, `Plots seen.\n**Confidence:** 92%`, `Confidenc\u0065: 92%`,
		`\u0043\u004f\u004e\u0046\u0049\u0044\u0045\u004e\u0043\u0045: 92%`,
	} {
		var doc strictjson.Doc
		if err := doc.Parse([]byte(`{"result":"`+result+`"}`), maxDepth); err != nil {
			t.Fatal(err)
		}
		var b event.Batch
		b.Add(event.KindToolEnded).SetPayload(doc.Root())
		Annotate(&b, roomy)
		if len(b.Events) != 2 || b.Events[1].Kind != event.KindConfidence || b.Events[1].Confidence.Value != 0.92 {
			t.Errorf("%s states %+v", result, b.Events[1:])
		}
	}
}

// frame is a batch of agent a with a tool's response, a text, and what the frame states beside them; each may be "".
func frame(t *testing.T, response, text, layer, grounding, cited string) *event.Batch {
	t.Helper()
	parse := func(s string) strictjson.Value {
		if s == "" {
			return strictjson.Value{}
		}
		var doc strictjson.Doc
		if err := doc.Parse([]byte(s), maxDepth); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		return doc.Root()
	}
	b := &event.Batch{Agent: "a", Statements: event.Statements{Layer: parse(layer), Grounding: parse(grounding), Citations: parse(cited)}}
	if response != "" {
		b.Add(event.KindToolEnded).SetPayload(parse(response))
	}
	if text != "" {
		b.Add(event.KindText).SetText([]byte(text))
	}
	Annotate(b, roomy)
	return b
}

// stated is what a batch states, a word for each fact.
func stated(b *event.Batch) (all []string) {
	for i := range b.Events {
		switch e := &b.Events[i]; e.Kind {
		case event.KindConfidence:
			all = append(all, written(e.Confidence)+" "+string(e.Confidence.Origin))
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

// TestLayerInResponses reads a proof layer wherever a tool's response holds it.
func TestLayerInResponses(t *testing.T) {
	const layer = `{"proof_layer": {"confidence": 0.92}}`
	text := quote(t, layer)
	for _, response := range []string{
		layer, text, `{"proof_layer": ` + quote(t, `{"confidence": "92%"}`) + `}`, `{"result": ` + layer + `}`, `{"result": ` + text + `}`, `{"output": ` + layer + `}`, `{"output": ` + text + `}`,
		`{"text": ` + text + `}`, `{"structuredContent": ` + layer + `, "content": []}`,
		`{"content": [{"type": "text", "text": "x"}, {"type": "text", "text": ` + text + `}]}`,
	} {
		if got := stated(frame(t, response, "", "", "", "")); !slices.Equal(got, []string{"0.92 structured"}) {
			t.Errorf("%s states %q", response, got)
		}
	}
	for _, response := range []string{
		`{"output": "Confidence: 92%"}`, `{"text": "Confidence: 92%"}`, `{"content": [{"type": "text", "text": "Confidence: 92%"}]}`,
		`{"result": "Confidence: 92%", "proof_layer": {}}`, `{"result": "Confidence: 92%", "proof_layer": {"confidence": null}}`,
	} {
		if got := stated(frame(t, response, "", "", "", "")); !slices.Equal(got, []string{"0.92 text"}) {
			t.Errorf("%s states %q", response, got)
		}
	}
}

// TestLayerOfFrames reads a proof layer beside an agent's text, which an empty one does not hide.
func TestLayerOfFrames(t *testing.T) {
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
		if got := stated(frame(t, "", text, layer, "", "")); !slices.Equal(got, want) {
			t.Errorf("%s states %q, not %q", layer, got, want)
		}
	}
}

// TestGrounding reads the sources that Google's models give beside a text, each once.
func TestGrounding(t *testing.T) {
	got := stated(frame(t, "", "Closed.", "",
		`{"groundingChunks": [{"web": {"uri": "https://a.org/", "title": "A"}}, {"retrievedContext": {"uri": "gs://b", "title": "B"}}, {"web": {}}]}`,
		`{"citations": [{"uri": "https://a.org/", "title": "A", "startIndex": 3}, {"uri": "https://c.org/"}]}`))
	if want := []string{"A <https://a.org/>", "B <gs://b>", " <https://c.org/>"}; !slices.Equal(got, want) {
		t.Errorf("%q, not %q", got, want)
	}
}
