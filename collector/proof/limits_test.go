package proof

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestFindingsAreLimited checks the limits on findings and on the length of the text.
func TestFindingsAreLimited(t *testing.T) {
	text := []byte(strings.Repeat("Confidence: 92%\nSource: MTBS\n", 20))
	found := Text(text, Limits{MaxText: 1 << 20, MaxFindings: 32})
	if len(found.Confidences) != 16 || len(found.Citations) != 16 || found.Dropped != 8 {
		t.Errorf("Text() has %d confidences and %d citations and drops %d, want 16, 16 and 8", len(found.Confidences), len(found.Citations), found.Dropped)
	}
	for _, lim := range []Limits{{MaxText: 1 << 20}, {MaxText: 1 << 20, MaxFindings: -1}} {
		if found := Text(text, lim); !reflect.DeepEqual(found, Findings{Dropped: 40}) {
			t.Errorf("with the limits %+v, Text() = %+v, want 40 dropped findings", lim, found)
		}
	}
	for _, lim := range []Limits{{MaxFindings: 32}, {MaxText: -1, MaxFindings: 32}} {
		if found := Text(text, lim); !reflect.DeepEqual(found, Findings{}) {
			t.Errorf("with the limits %+v, Text() = %+v, want no findings", lim, found)
		}
	}
}

// TestNestedQuotations checks that the time for quotation marks that are all closed by one is not quadratic.
func TestNestedQuotations(t *testing.T) {
	text := []byte("Confidence: 92% " + strings.Repeat("“", 50_000) + "”")
	began := time.Now()
	if got := Text(text, Limits{MaxText: len(text), MaxFindings: 32}); !reflect.DeepEqual(got.Confidences, confidences{ratio(0.92)}) {
		t.Errorf("got %+v", got.Confidences)
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("it takes %s", took)
	}
}

// TestTopicsAreLimited checks that the topics of nested objects count against the limit.
func TestTopicsAreLimited(t *testing.T) {
	var doc strictjson.Doc
	single := func(name string) (members string) {
		for i := range maxElements - 1 {
			members += fmt.Sprintf("\"%s%d\": 0.5,", name, i)
		}
		return members
	}
	if err := doc.Parse([]byte(`{`+single("a")+`"b": {"score": {"c": 0.5, "d": 0.5}},`+single("e")+`"f": 0.5}`), 8); err != nil {
		t.Fatal(err)
	}
	if all := readConfidence(doc.Root(), ignore); len(all) != maxElements+1 {
		t.Errorf("%d confidences, want %d", len(all), maxElements+1)
	}
}

// TestTextTail checks that only the end of a long text is read, from its first whole line.
func TestTextTail(t *testing.T) {
	const last = "Confidence: 92%"
	for text, want := range map[string]confidences{
		"Confidence: 10%\n" + last:      {ratio(0.92)}, // the line starts at the limit
		"Confidence: 10%\r\n" + last:    {ratio(0.92)},
		"Confidence: 10%\nx\n" + last:   {ratio(0.92)},
		"Confidence: 10%\n " + last:     nil,
		"é\n" + last:                    {ratio(0.92)},
		"at 95% " + last:                nil, // the cut part of a line may change its meaning
		"Confidence: 10%\n no " + last:  nil,
		"Confidence: 10% " + last[:12]:  nil,
		last + strings.Repeat("\n", 20): nil,
	} {
		if got := Text([]byte(text), Limits{MaxText: len(last), MaxFindings: 32}); !reflect.DeepEqual(got.Confidences, want) {
			t.Errorf("%q\n got %+v\nwant %+v", text, got.Confidences, want)
		}
	}
}

// TestTailInCode checks ends of texts that start inside and outside a code block.
func TestTailInCode(t *testing.T) {
	const line = "Confidence: 10%\n"
	for text, want := range map[string]confidences{
		line + "```\nConfidence: 92%":                         {ratio(0.92)},
		line + "```\nConfidence: 92%\n```go\n" + line + "```": {ratio(0.92)},
		"x\n```go\n" + line + "```\nConfidence: 92%":          {ratio(0.92)},
		"x\n```\n" + line + "```\nConfidence: 92%":            {ratio(0.92)},
	} {
		if got := Text([]byte(strings.Repeat("x", 99)+"\n"+text), Limits{MaxText: len(text), MaxFindings: 32}); !reflect.DeepEqual(got.Confidences, want) {
			t.Errorf("%q\n got %+v\nwant %+v", text, got.Confidences, want)
		}
	}
}

// TestResponseIsLimited checks that the texts of a tool's response share the limit of findings.
func TestResponseIsLimited(t *testing.T) {
	var doc strictjson.Doc
	if err := doc.Parse([]byte(`{"content":[`+strings.Repeat(`{"text":"Confidence: 90%"},`, 4)+`{"text":"Confidence: 80%"}]}`), 8); err != nil {
		t.Fatal(err)
	}
	found := readResponse(doc.Root(), Limits{MaxText: 1 << 10, MaxFindings: 4})
	if len(found.Confidences) != 4 || found.Dropped != 1 {
		t.Errorf("%d confidences and %d dropped, want 4 and 1", len(found.Confidences), found.Dropped)
	}
}

// TestOmitted checks that the last statement of a text has the number of omitted ones.
func TestOmitted(t *testing.T) {
	b := &event.Batch{Agent: "a"}
	b.Add(event.KindText).SetText([]byte(strings.Repeat("Confidence: 90%\n", 5)))
	Annotate(b, Limits{MaxText: 1 << 10, MaxFindings: 3})
	if n := len(b.Events); n != 4 || b.Events[2].Omitted != 0 || b.Events[3].Omitted != 2 {
		t.Errorf("the events are %+v, want four, the last with 2 omitted statements", b.Events)
	}
}
