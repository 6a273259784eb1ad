package proof

import (
	"reflect"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

func TestFindingsAreLimited(t *testing.T) {
	text := []byte(strings.Repeat("Confidence: 92%\nSource: MTBS\n", 20))
	found := Text(text, Limits{Text: 1 << 20, Findings: 32})
	if len(found.Confidences) != 16 || len(found.Citations) != 16 || found.Dropped != 8 {
		t.Errorf("got %d confidences, %d citations, %d dropped", len(found.Confidences), len(found.Citations), found.Dropped)
	}
	for _, lim := range []Limits{{Text: 1 << 20}, {Text: 1 << 20, Findings: -1}} {
		if found := Text(text, lim); !reflect.DeepEqual(found, Findings{Dropped: 40}) {
			t.Errorf("%+v let %+v through", lim, found)
		}
	}
	for _, lim := range []Limits{{Findings: 32}, {Text: -1, Findings: 32}} {
		if found := Text(text, lim); !reflect.DeepEqual(found, Findings{}) {
			t.Errorf("%+v let %+v through", lim, found)
		}
	}
}

func TestTailIsRead(t *testing.T) {
	const last = "Confidence: 92%"
	for text, want := range map[string]confidences{
		"Confidence: 10%\n" + last:      {ratio(0.92)}, // the line begins at the limit
		"Confidence: 10%\r\n" + last:    {ratio(0.92)},
		"Confidence: 10%\nx\n" + last:   {ratio(0.92)},
		"Confidence: 10%\n " + last:     nil,
		"é\n" + last:                    {ratio(0.92)},
		"at 95% " + last:                nil, // half a line may say the opposite
		"Confidence: 10%\n no " + last:  nil,
		"Confidence: 10% " + last[:12]:  nil,
		last + strings.Repeat("\n", 20): nil,
	} {
		if got := Text([]byte(text), Limits{Text: len(last), Findings: 32}); !reflect.DeepEqual(got.Confidences, want) {
			t.Errorf("%q\n got %+v\nwant %+v", text, got.Confidences, want)
		}
	}
}

// TestTailWithinCode reads the end of texts that begins within a code block, or does not.
func TestTailWithinCode(t *testing.T) {
	const rule = "Confidence: 10%\n"
	for text, want := range map[string]confidences{
		rule + "```\nConfidence: 92%":                         {ratio(0.92)},
		rule + "```\nConfidence: 92%\n```go\n" + rule + "```": {ratio(0.92)},
		"x\n```go\n" + rule + "```\nConfidence: 92%":          {ratio(0.92)},
		"x\n```\n" + rule + "```\nConfidence: 92%":            {ratio(0.92)},
	} {
		if got := Text([]byte(strings.Repeat("x", 99)+"\n"+text), Limits{Text: len(text), Findings: 32}); !reflect.DeepEqual(got.Confidences, want) {
			t.Errorf("%q\n got %+v\nwant %+v", text, got.Confidences, want)
		}
	}
}

// TestMoreStatements tells at the last statement of a text how many are left out.
func TestMoreStatements(t *testing.T) {
	b := &event.Batch{Agent: "a"}
	b.Add(event.KindText).SetText([]byte(strings.Repeat("Confidence: 90%\n", 5)))
	Annotate(b, Limits{Text: 1 << 10, Findings: 3})
	if n := len(b.Events); n != 4 || b.Events[2].More != 0 || b.Events[3].More != 2 {
		t.Errorf("%+v", b.Events)
	}
}
