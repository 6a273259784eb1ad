package proof

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// FuzzText checks that findings are within limits, and that the digits of each value are in the text.
func FuzzText(f *testing.F) {
	for _, test := range briefing {
		f.Add([]byte(test.text), 64<<10, 32)
	}
	f.Add([]byte("x\n```\nConfidence: 85–90% for a and 0.5 ± 3% for b (very high) - **Source:** [x](https://x.org/), 2022-09-15"), 90, 2)
	f.Add([]byte("| Confidence | 9/10 |\r\n|---|\u2028| Sources: |\n\n- `MTBS\xff`\n1. at least .5 confidence score = 0.5"), 64, 9)
	for _, s := range corpus(f, "tuning") {
		f.Add([]byte(s.text), 64<<10, 32)
	}
	f.Fuzz(func(t *testing.T, text []byte, size, findings int) {
		lim := Limits{MaxText: size, MaxFindings: findings}
		found := Text(text, lim)
		mayHaveLayer := bytes.Contains(text, []byte(`roof`)) // in JSON
		if !mayHaveLayer {
			if found.Steps != 0 || found.HasSteps {
				t.Error("a text without a proof layer has a reasoning chain")
			}
			checkFindings(t, found, lim, event.OriginText)
		}
		digits := strings.Map(func(r rune) rune {
			if r == '.' || r == ',' || invisible(r) { // invisible characters do not split a number for a reader
				return -1
			}
			return r
		}, string(text))
		for _, c := range found.Confidences {
			if isScore := strings.ContainsAny(c.Label, "0123456789★⭐✭●"); isScore || bytes.ContainsAny(text, `\{&`) {
				continue // "4 out of 5"; numbers in JSON may have exponents, and characters may be escaped
			}
			if c.Known && !strings.Contains(digits, significantDigits(c.Value)) {
				t.Errorf("the text %q does not contain the digits of %v", text, c.Value)
			}
		}
	})
}

// significantDigits returns the digits of a value that its text must contain.
func significantDigits(value float64) string {
	digits := strings.Trim(strings.Replace(strconv.FormatFloat(value, 'f', -1, 64), ".", "", 1), "0")
	if digits == "" {
		return "0"
	}
	return digits
}

// FuzzStructured checks that the findings of any JSON are within limits.
func FuzzStructured(f *testing.F) {
	f.Add([]byte(`{"result": "ok", "proof_layer": `+layer+`}`), 64<<10, 32)
	f.Add([]byte(`{"result": "{\"proofLayer\": {\"confidence\": 1e-3, \"reasoningChain\": []}}"}`), 100, 1)
	f.Fuzz(func(t *testing.T, text []byte, size, findings int) {
		var doc strictjson.Doc
		if doc.Parse(text, maxDepth) != nil {
			return
		}
		lim := Limits{MaxText: size, MaxFindings: findings}
		found, ok := Structured(doc.Root(), lim)
		if !ok && (found.HasSteps || found.Confidences != nil || found.Citations != nil) {
			t.Errorf("Structured() = %+v without a proof layer", found)
		}
		checkFindings(t, found, lim, event.OriginStructured)
	})
}

func checkFindings(t *testing.T, found Findings, lim Limits, origin event.Origin) {
	t.Helper()
	if n := len(found.Confidences) + len(found.Citations); n > max(0, lim.MaxFindings) || found.Dropped < 0 || found.Dropped > 0 && n < lim.MaxFindings {
		t.Errorf("%d findings and %d dropped, with a limit of %d", n, found.Dropped, lim.MaxFindings)
	}
	for _, c := range found.Confidences {
		checkStrings(t, c.Scope, c.Label, c.Topic)
		if c.Value < 0 || c.Value > 1 || !c.Known && (c.Value != 0 || c.Label == "") || c.Origin != origin {
			t.Errorf("invalid finding: %+v", c)
		}
	}
	for _, c := range found.Citations {
		checkStrings(t, c.Source, c.Reference, c.URI)
		if c.Source+c.Reference+c.URI == "" || c.Origin != origin {
			t.Errorf("invalid finding: %+v", c)
		}
	}
}

func checkStrings(t *testing.T, all ...string) {
	t.Helper()
	for _, s := range all {
		if len(s) > maxString || !utf8.ValidString(s) || strings.ContainsAny(s, "\x00\n\r\t\x1b\x7f\u0085\u202e") || strings.Trim(s, " ") != s {
			t.Errorf("%q is too long or has characters that are not readable", s)
		}
	}
}
