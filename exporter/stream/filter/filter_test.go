package filter_test

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// clientResult returns the result for an ADK stream under policy client, which passes the most.
func clientResult(t *testing.T, wire string) string {
	t.Helper()
	_, verdicts := sent(t, adkBatches(t, strings.NewReader(wire)), filter.New(filter.Settings{Policy: event.PolicyClient}))
	return verdicts
}

// TestReasons checks the reason for withholding frames that the decoders in these tests never produce.
func TestReasons(t *testing.T) {
	table := event.Table{Discriminators: []string{"kind"}, Types: map[string]event.Type{
		"": {Client: true, Public: &event.Rule{AllowAny: true}}, "public": {Public: &event.Rule{AllowAny: true}}, "client": {Client: true},
	}}
	const every = event.Policy("every")
	for _, test := range []struct {
		name   string
		policy event.Policy
		data   string
		change func(*event.Batch)
		want   filter.Reason
	}{
		{"nothing is wrong", event.PolicyPublic, `{}`, func(*event.Batch) {}, filter.Passed},
		{"internal by its decoder", event.PolicyPublic, `{}`, func(b *event.Batch) { b.Internal = true }, filter.ReasonInternal},
		{"of no dialect", event.PolicyClient, `{}`, func(b *event.Batch) { b.Rejected = event.ReasonUnrecognized }, filter.ReasonUndecided},
		{"without a table", event.PolicyClient, `{}`, func(b *event.Batch) { b.Table = nil }, filter.ReasonUndecided},
		{"rejected, though it can be read", event.PolicyClient, `{}`, func(b *event.Batch) { b.Rejected = event.ReasonShape }, filter.ReasonUnreadable},
		{"no object, though it is not rejected", event.PolicyClient, `[]`, func(*event.Batch) {}, filter.ReasonUnreadable},
		{"of a type that is not in the table", event.PolicyClient, `{}`, func(b *event.Batch) { b.Type = "x" }, filter.ReasonUnknown},
		{"of a kind that is no string", event.PolicyClient, `{"kind":7}`, func(*event.Batch) {}, filter.ReasonUnknown},
		{"not for the client", event.PolicyClient, `{}`, func(b *event.Batch) { b.Type = "public" }, filter.ReasonPolicy},
		{"not for the public", event.PolicyPublic, `{}`, func(b *event.Batch) { b.Type = "client" }, filter.ReasonPolicy},
		{"for nobody", every, `{}`, func(*event.Batch) {}, filter.ReasonPolicy},
	} {
		var doc strictjson.Doc
		b := decode(sse.Frame{Data: []byte(test.data)}, &table, &doc)
		test.change(b)
		if frame, why := filter.New(filter.Settings{Policy: test.policy}).Apply(b); why != test.want || why != filter.Passed && frame.Data != nil {
			t.Errorf("%s: %q, want %q: %s", test.name, why, test.want, frame.Data)
		}
	}
}

// TestFilterPanics checks that a frame is withheld if the filter panics, and that the panic's value is not logged.
func TestFilterPanics(t *testing.T) {
	var log bytes.Buffer
	var counted []recovery.Component
	panics := recovery.New(slog.New(slog.NewTextHandler(&log, nil)), func(c recovery.Component) { counted = append(counted, c) })
	f := filter.New(filter.Settings{Policy: event.PolicyPublic, Panics: panics})
	for range 2 {
		if frame, why := f.Apply(nil); why != filter.ReasonPanic || frame.Data != nil {
			t.Errorf("%q, %q", frame.Data, why)
		}
	}
	if !slices.Equal(counted, []recovery.Component{recovery.Filter, recovery.Filter}) || strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), "filter.(*Filter)") {
		t.Errorf("%v; the log is %s", counted, &log)
	}
}

// TestInternal checks the same internal name in each place that can mark a frame as internal.
func TestInternal(t *testing.T) {
	for name, want := range map[string]bool{
		"internal": true, "internal:": true, "internal:x": true, "internal_x": true, "internal-x": true, "internal.x": true, "internal/x": true, "internal x": true,
		"internalEvent": true, "internals": true, "internal1": true, "internalx": true, "Internal": true, "iNtErNaL:x": true,
		"\u2060internal": true, "in\u00adternal": true, "i\u0301nternal:x": true, "ℹnternal:x": true, "ｉｎｔｅｒｎａｌ": true, "ınternal": true, "İNTERNAL": true,
		"interna": false, "intern:x": false, "international": false, "x-internal": false, "eternal": false, "external:internal": false, "": false,
	} {
		for place, test := range map[string]struct{ wire, otherwise string }{
			"event line":       {"event:" + name + "\n" + data(adkEvent(hello)), passed},
			"kind":             {data(adkEvent(`"kind":"`+name+`"`, hello)), unknown},
			"type":             {data(adkEvent(`"type":"`+name+`"`, hello)), unknown},
			"kind, in a list":  {data(adkEvent(`"kind":["a",{"b":"`+name+`"}]`, hello)), unknown},
			"kind, as a name":  {data(adkEvent(`"kind":{"`+name+`":1}`, hello)), unknown},
			"envelope":         {data(adkEvent(hello, `"result":{"kind":"`+name+`"}`)), passed},
			"envelopes":        {data(adkEvent(hello, `"customMetadata":[{"event":{"type":"`+name+`"}}]`)), passed},
			"envelope, a list": {data(adkEvent(hello, `"result":{"kind":[["`+name+`"]]}`)), passed},
		} {
			verdict := test.otherwise
			if want {
				verdict = internal
			}
			if got := clientResult(t, test.wire); got != verdict {
				t.Errorf("%q, %s: %s, want %s", name, place, got, verdict)
			}
		}
		for place, wire := range map[string]string{
			"no envelope": data(adkEvent(hello, `"debug":{"kind":"`+name+`"}`)),
			"an object":   data(adkEvent(hello, `"result":{"kind":{"a":["`+name+`"],"`+name+`":1}}`)),
			"a schema":    data(adkEvent(hello, `"result":{"kind":{"type":"string","title":"`+name+`","enum":["x","`+name+`"]}}`)),
			"arguments":   data(adkEvent(adkParts(`{"functionCall":{"args":{"kind":"` + name + `","result":{"type":"` + name + `"}}}}`))),
		} {
			if got := clientResult(t, wire); got != passed {
				t.Errorf("%q, %s: %s", name, place, got)
			}
		}
	}
}

// TestFoldedNames checks that the names of a discriminator and an envelope are recognized in every spelling that equals them
// under case folding, upper-casing or lower-casing.
func TestFoldedNames(t *testing.T) {
	spelled := 0
	for r := rune(unicode.MaxASCII + 1); r <= unicode.MaxRune; r++ {
		for other := range cases(r) {
			if other > unicode.MaxASCII {
				continue
			}
			for _, member := range []string{`"kind":"internal:x"`, `"type":"internal:x"`, `"result":{"kind":"internal:x"}`, `"customMetadata":{"type":"internal:x"}`} {
				name, value, _ := strings.Cut(member, ":")
				for _, old := range []rune{other, unicode.ToLower(other)} {
					if odd := strings.Replace(name, string(old), string(r), 1); odd != name {
						spelled++
						if got := clientResult(t, data(adkEvent(hello, odd+":"+value))); got != internal {
							t.Errorf("%s (%U): %s", odd, r, got)
						}
					}
				}
			}
		}
	}
	// K for k (Kelvin), ſ for s, ı and İ for i.
	if spelled < 6 {
		t.Errorf("%d spellings: none of these is what it should be", spelled)
	}
}

// cases returns the letters that some case-insensitive comparison considers equal to this one.
func cases(r rune) map[rune]bool {
	all := map[rune]bool{unicode.ToUpper(r): true, unicode.ToLower(r): true}
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		all[other] = true
	}
	return all
}
