package proof

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

const layer = `{"confidence": 0.92, "citations": [
	{"source": "MTBS", "reference": "Imagery 2022-09-15", "uri": "data/fixtures/cedar-creek.json"},
	"Cedar Creek field assessment", {"uri": "https://mtbs.gov"}
], "reasoning_chain": ["Loaded sectors", "Classified severity", {"identified": 4}]}`

func structured(t *testing.T, text string, lim Limits) (Findings, bool) {
	t.Helper()
	var doc strictjson.Doc
	if err := doc.Parse([]byte(text), maxDepth); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return Structured(doc.Root(), lim)
}

func quote(t *testing.T, text string) string {
	t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(quoted)
}

func TestStructured(t *testing.T) {
	camel := strings.ReplaceAll(layer, "reasoning_chain", "reasoningChain")
	want := Findings{
		Confidences: confidences{{Value: 0.92, Known: true, Origin: event.OriginStructured}},
		Citations: citations{
			{Source: "MTBS", Reference: "Imagery 2022-09-15", URI: "data/fixtures/cedar-creek.json", Origin: event.OriginStructured},
			{Source: "Cedar Creek field assessment", Origin: event.OriginStructured},
			{URI: "https://mtbs.gov", Origin: event.OriginStructured},
		},
		Steps: 3, HasSteps: true,
	}
	for _, response := range []string{
		`{"result": "ok", "proof_layer": ` + layer + `}`,
		`{"proofLayer": ` + camel + `}`,
		`{"proof_layer": {"confidence": 0.1}, "proofLayer": ` + camel + `}`,
		`{"proof_layer": ` + layer + `, "proofLayer": null}`,
		`{"proof_layer": ` + layer + `, "result": {"proof_layer": {"confidence": 0.1}}}`,
		`{"proof_layer": "none", "result": {"proof_layer": ` + layer + `}}`,
		`{"result": {"proofLayer": ` + camel + `}}`,
		`{"result": ` + quote(t, `{"answer": "…", "proof_layer": `+layer+`}`) + `}`,
		`{"result": ` + quote(t, `{"proofLayer": `+camel+`}`) + `}`,
	} {
		if got, ok := structured(t, response, roomy); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %+v, %v\nwant %+v", response, got, ok, want)
		}
	}
}

func TestNoProofLayer(t *testing.T) {
	for _, response := range []string{
		`null`, `[]`, `"x"`, `{}`, `{"confidence": 0.92}`, `{"proof_layer": null}`,
		`{"result": ""}`, `{"result": null}`, `{"result": "proof_layer"}`, `{"result": [{"proof_layer": {}}]}`,
		`{"result": {"result": {"proof_layer": {}}}}`,
		`{"result": "[{\"proof_layer\": {}}]"}`, `{"result": "{\"proof_layer\": {}} x"}`,
		`{"result": "{\"proof_layer\": {}, \"proof_layer\": {}}"}`, `{"result": "{\"result\": {\"proof_layer\": {}}}"}`, `{"result": "{proof_layer: {}}"}`,
	} {
		if got, ok := structured(t, response, roomy); ok || !reflect.DeepEqual(got, Findings{}) {
			t.Errorf("%s gave %+v, %v", response, got, ok)
		}
	}
}

// TestNoLayerInItsPlace counts what stands in the place of a proof layer and is none.
func TestNoLayerInItsPlace(t *testing.T) {
	want := Findings{Unreadable: []event.Unreadable{event.UnreadableType}}
	for _, response := range []string{`{"proof_layer": [0.92]}`, `{"proof_layer": 0.92}`, `{"proofLayer": "verified"}`, `{"proof_layer": "[]", "result": "x"}`} {
		if got, ok := structured(t, response, roomy); ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s gave %+v, %v", response, got, ok)
		}
	}
}

// TestLayerOfOtherTypes shows that what cannot be read is absent and reported, and what is beside it stays.
func TestLayerOfOtherTypes(t *testing.T) {
	stated := func(all ...event.Confidence) Findings {
		for i := range all {
			all[i].Origin = event.OriginStructured
		}
		return Findings{Confidences: all}
	}
	unread := func(why ...event.Unreadable) Findings { return Findings{Unreadable: why} }
	const scale, kind, words = event.UnreadableScale, event.UnreadableType, event.UnreadableWords
	for member, want := range map[string]Findings{
		`"confidence": 0`:                              stated(ratio(0)),
		`"confidence": 1`:                              stated(ratio(1)),
		`"confidence": 92`:                             stated(ratio(0.92)),
		`"confidence": 92.5`:                           stated(ratio(0.925)),
		`"confidence": "92%"`:                          stated(ratio(0.92)),
		`"confidence": "0.92"`:                         stated(ratio(0.92)),
		`"confidence": "1"`:                            stated(ratio(1)),
		`"confidence": "High"`:                         stated(worded("high")),
		`"confidence": "High (90%)"`:                   stated(labelled(0.9, "high")),
		`"confidence": "85-90%"`:                       stated(between(0.85, 0.9, "85-90%")),
		`"confidence": {"score": 0.92}`:                stated(ratio(0.92)),
		`"confidence": {"value": 90, "level": "High"}`: stated(labelled(0.9, "high")),
		`"confidence": {"timber": 0.95, "trails": "90%", "overall": "high", "soil": null}`: stated(
			scoped(0.95, "timber"), scoped(0.9, "trails"), func() event.Confidence { c := worded("high"); c.Overall = true; return c }()),
		`"confidence": {"timber": {"score": 0.95}, "trails": 7}`: {
			Confidences: stated(scoped(0.95, "timber")).Confidences, Unreadable: unread(scale).Unreadable,
		},
		`"confidence": null`:                                  {},
		`"confidence": 7`:                                     unread(scale),
		`"confidence": 180`:                                   unread(scale),
		`"confidence": -0.1`:                                  unread(scale),
		`"confidence": 1.0000001`:                             unread(scale),
		`"confidence": 1e999`:                                 unread(scale),
		`"confidence": "7"`:                                   unread(scale),
		`"confidence": "NaN"`:                                 unread(words),
		`"confidence": "as good as it gets"`:                  unread(words),
		`"confidence": [0.92]`:                                unread(kind),
		`"confidence": true`:                                  unread(kind),
		`"confidence": {"timber": {"a": {}}}`:                 unread(kind),
		`"citations": "MTBS"`:                                 unread(kind),
		`"citations": {"source": "MTBS"}`:                     unread(kind),
		`"citations": [1, null, {}]`:                          unread(kind, kind, kind),
		`"citations": [{"source": 1, "reference": " p. 4 "}]`: {Citations: citations{{Reference: "p. 4", Origin: event.OriginStructured}}},
		`"citations": ["\u0000*_a\u202e\n"]`:                  {Citations: citations{{Source: "*_a", Origin: event.OriginStructured}}},
		`"reasoning_chain": []`:                               {HasSteps: true},
		`"reasoning_chain": [1, "b"], "reasoningChain": 3`:    {Steps: 2, HasSteps: true},
		`"reasoning_chain": [1], "reasoningChain": [1, 2]`:    {Steps: 2, HasSteps: true},
		`"reasoning_chain": "three"`:                          unread(kind),
		`"reasoning_chain": 3`:                                unread(kind),
	} {
		got, ok := structured(t, `{"proof_layer": {`+member+`}}`, roomy)
		if !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %+v, %v\nwant %+v", member, got, ok, want)
		}
	}
}

func TestStructuredIsLimited(t *testing.T) {
	many := `{"proof_layer": {"confidence": 0.5, "citations": ["a"` + strings.Repeat(`, "a"`, 99) + `]}}`
	got, _ := structured(t, many, roomy)
	if len(got.Confidences) != 1 || len(got.Citations) != 31 || got.Dropped != 69 {
		t.Errorf("got %d confidences, %d citations, %d dropped", len(got.Confidences), len(got.Citations), got.Dropped)
	}
	long := strings.Repeat("é", maxString)
	got, _ = structured(t, `{"proof_layer": {"citations": [{"source": "`+long+`", "reference": "`+long+`", "uri": "`+long+`"}]}}`, roomy)
	want := strings.Repeat("é", maxString/2)
	if c := got.Citations[0]; c.Source != want || c.Reference != want || c.URI != "" {
		t.Errorf("got %d bytes of source, %d of reference, %d of URI", len(c.Source), len(c.Reference), len(c.URI))
	}
	inner := `{"proof_layer": {"confidence": 0.5}}`
	for limit, want := range map[int]bool{len(inner): true, len(inner) - 1: false, 0: false} {
		if _, ok := structured(t, fmt.Sprintf(`{"result": %s}`, quote(t, inner)), Limits{Text: limit, Findings: 1}); ok != want {
			t.Errorf("a string at limit %d: got %v", limit, ok)
		}
	}
	deep := `{"result": ` + quote(t, `{"proof_layer": `+strings.Repeat("[", maxDepth)+strings.Repeat("]", maxDepth)+`}`) + `}`
	if _, ok := structured(t, deep, roomy); ok {
		t.Error("nesting in a string must be limited")
	}
}
