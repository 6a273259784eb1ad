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

func parseJSON(t *testing.T, text string) strictjson.Value {
	t.Helper()
	var doc strictjson.Doc
	if err := doc.Parse([]byte(text), maxDepth); err != nil {
		t.Fatalf("Parse(%s) = %v", text, err)
	}
	return doc.Root()
}

func structured(t *testing.T, text string, lim Limits) (Findings, bool) {
	t.Helper()
	return Structured(parseJSON(t, text), lim)
}

func quote(t *testing.T, text string) string {
	t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(quoted)
}

// TestStructured checks the places and spellings of a proof layer in a tool's response.
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

// TestNoProofLayer checks responses without a proof layer.
func TestNoProofLayer(t *testing.T) {
	for _, response := range []string{
		`null`, `[]`, `"x"`, `{}`, `{"confidence": 0.92}`, `{"proof_layer": null}`,
		`{"result": ""}`, `{"result": null}`, `{"result": "proof_layer"}`, `{"result": [{"proof_layer": {}}]}`,
		`{"result": {"result": {"proof_layer": {}}}}`,
		`{"result": "[{\"proof_layer\": {}}]"}`, `{"result": "{\"proof_layer\": {}} x"}`,
		`{"result": "{\"proof_layer\": {}, \"proof_layer\": {}}"}`, `{"result": "{\"result\": {\"proof_layer\": {}}}"}`, `{"result": "{proof_layer: {}}"}`,
	} {
		if got, ok := structured(t, response, roomy); ok || !reflect.DeepEqual(got, Findings{}) {
			t.Errorf("Structured(%s) = %+v, %t, want nothing", response, got, ok)
		}
	}
}

// TestInvalidLayer checks that a value of another type in place of a proof layer is counted as unreadable.
func TestInvalidLayer(t *testing.T) {
	want := Findings{Unreadable: []event.Unreadable{event.UnreadableType}}
	for _, response := range []string{
		`{"proof_layer": [0.92]}`, `{"proof_layer": 0.92}`, `{"proofLayer": "verified"}`, `{"proof_layer": "[]", "result": "x"}`,
		`{"result": {"proof_layer": 0.92}}`, `{"content": [{"text": "{\"proofLayer\": []}"}]}`, `{"proof_layer": 1, "result": {"proof_layer": 2}}`,
	} {
		if got, ok := structured(t, response, roomy); ok || !reflect.DeepEqual(got, want) {
			t.Errorf("Structured(%s) = %+v, %t, want %+v and false", response, got, ok, want)
		}
	}
}

// TestUnreadableMembers checks that unreadable members of a proof layer are reported and the others read.
func TestUnreadableMembers(t *testing.T) {
	findings := func(all ...event.Confidence) Findings {
		for i := range all {
			all[i].Origin = event.OriginStructured
		}
		return Findings{Confidences: all}
	}
	unreadable := func(why ...event.Unreadable) Findings { return Findings{Unreadable: why} }
	const scale, kind, words = event.UnreadableScale, event.UnreadableType, event.UnreadableWords
	for member, want := range map[string]Findings{
		`"confidence": 0`:                              findings(ratio(0)),
		`"confidence": 1`:                              findings(ratio(1)),
		`"confidence": 92`:                             findings(ratio(0.92)),
		`"confidence": 92.5`:                           findings(ratio(0.925)),
		`"confidence": 0.925e2`:                        findings(ratio(0.925)),
		`"confidence": 9E+1`:                           findings(ratio(0.9)),
		`"confidence": "92%"`:                          findings(ratio(0.92)),
		`"confidence": "0.92"`:                         findings(ratio(0.92)),
		`"confidence": "1"`:                            findings(ratio(1)),
		`"confidence": "High"`:                         findings(worded("high")),
		`"confidence": "High (90%)"`:                   findings(labelled(0.9, "high")),
		`"confidence": "85-90%"`:                       findings(between(0.85, 0.9, "85-90%")),
		`"confidence": {"score": 0.92}`:                findings(ratio(0.92)),
		`"confidence": {"value": 90, "level": "High"}`: findings(labelled(0.9, "high")),
		`"confidence": {"timber": 0.95, "trails": "90%", "overall": "high", "soil": null}`: findings(
			scoped(0.95, "timber"), scoped(0.9, "trails"), func() event.Confidence { c := worded("high"); c.Overall = true; return c }()),
		`"confidence": {"timber": {"score": 0.95}, "trails": 7}`: {
			Confidences: findings(scoped(0.95, "timber")).Confidences, Unreadable: unreadable(scale).Unreadable,
		},
		`"confidence": null`:                                  {},
		`"confidence": 7`:                                     unreadable(scale),
		`"confidence": 180`:                                   unreadable(scale),
		`"confidence": -0.1`:                                  unreadable(scale),
		`"confidence": 1.0000001`:                             unreadable(scale),
		`"confidence": 1e999`:                                 unreadable(scale),
		`"confidence": "7"`:                                   unreadable(scale),
		`"confidence": "NaN"`:                                 unreadable(words),
		`"confidence": "as good as it gets"`:                  unreadable(words),
		`"confidence": [0.92]`:                                unreadable(kind),
		`"confidence": true`:                                  unreadable(kind),
		`"confidence": {"timber": {"a": {}}}`:                 unreadable(kind),
		`"citations": "MTBS"`:                                 unreadable(kind),
		`"citations": {"source": "MTBS"}`:                     unreadable(kind),
		`"citations": [1, null, {}]`:                          unreadable(kind, kind, kind),
		`"citations": [{"source": 1, "reference": " p. 4 "}]`: {Citations: citations{{Reference: "p. 4", Origin: event.OriginStructured}}},
		`"citations": ["\u0000*_a\u202e\n"]`:                  {Citations: citations{{Source: "*_a", Origin: event.OriginStructured}}},
		`"reasoning_chain": []`:                               {HasSteps: true},
		`"reasoning_chain": [1, "b"], "reasoningChain": 3`:    {Steps: 2, HasSteps: true},
		`"reasoning_chain": [1], "reasoningChain": [1, 2]`:    {Steps: 2, HasSteps: true},
		`"reasoning_chain": "three"`:                          unreadable(kind),
		`"reasoning_chain": 3`:                                unreadable(kind),
	} {
		got, ok := structured(t, `{"proof_layer": {`+member+`}}`, roomy)
		if !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %+v, %v\nwant %+v", member, got, ok, want)
		}
	}
}

// TestStructuredIsLimited checks the limits on findings, strings, embedded JSON and its depth.
func TestStructuredIsLimited(t *testing.T) {
	many := `{"proof_layer": {"confidence": 0.5, "citations": ["a"` + strings.Repeat(`, "a"`, 99) + `]}}`
	got, _ := structured(t, many, roomy)
	if len(got.Confidences) != 1 || len(got.Citations) != 31 || got.Dropped != 69 {
		t.Errorf("Structured() has %d confidences and %d citations and drops %d, want 1, 31 and 69", len(got.Confidences), len(got.Citations), got.Dropped)
	}
	long := strings.Repeat("é", maxString)
	got, _ = structured(t, `{"proof_layer": {"citations": [{"source": "`+long+`", "reference": "`+long+`", "uri": "`+long+`"}]}}`, roomy)
	want := strings.Repeat("é", maxString/2)
	if c := got.Citations[0]; c.Source != want || c.Reference != want || c.URI != "" {
		t.Errorf("the source has %d bytes, the reference %d and the URI %d, want %d, %d and 0", len(c.Source), len(c.Reference), len(c.URI), len(want), len(want))
	}
	inner := `{"proof_layer": {"confidence": 0.5}}`
	for limit, want := range map[int]bool{len(inner): true, len(inner) - 1: false, 0: false} {
		if _, ok := structured(t, fmt.Sprintf(`{"result": %s}`, quote(t, inner)), Limits{MaxText: limit, MaxFindings: 1}); ok != want {
			t.Errorf("with a limit of %d bytes, a proof layer in a string is read: %t, want %t", limit, ok, want)
		}
	}
	deep := `{"result": ` + quote(t, `{"proof_layer": `+strings.Repeat("[", maxDepth)+strings.Repeat("]", maxDepth)+`}`) + `}`
	if _, ok := structured(t, deep, roomy); ok {
		t.Error("a string with too deeply nested JSON is read")
	}
}
