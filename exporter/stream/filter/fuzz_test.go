package filter_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// FuzzFilter checks the output with a reader that shares no code with the filter and is as lenient as any client might be: it
// accepts every line ending, and every member whose name resembles a discriminator, even duplicates.
func FuzzFilter(f *testing.F) {
	for _, a := range readCatalogue(f) {
		if a.Filler == 0 {
			f.Add(a.Wire)
		}
	}
	for _, state := range []string{
		`"input":{"x":1},"snapshot":{"open":1,"x":1}`, `"Input":1,"delta":[{"op":"add","path":"/open/x","value":1},{"op":"remove","path":"/x"}]`,
		`"delta":[{"op":"move","from":"/open~1x","path":"/open"},{"op":"copy","from":"/x","path":"/open"}]`,
	} {
		f.Add([]byte(data(`{"kind":"state",` + state + `}`)))
	}
	for _, half := range []string{
		`"kind":"content-delta","delta":"\ud83d"`, `"kind":"inter\ud83dnal:x"`, `"kind":"content-delta","\ude00kind":"internal:x"`,
		`"kind":"custom","name":"x","value":{"kind":["\udc00internal:x"]}`, `"kind":"state","snapshot":{"open":"\ud83d"}`,
	} {
		f.Add([]byte(data(`{` + half + `}`)))
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
			judge := filter.New(filter.Settings{Policy: policy, StateKeys: []string{"open"}})
			for b := range kindedBatches(bytes.NewReader(wire)) {
				leaves, why := judge.Apply(b)
				if why != filter.Passed {
					continue
				}
				out, err := sse.AppendFrame(nil, sse.Frame{Event: []byte(leaves.Name), Data: leaves.Data})
				if err != nil {
					t.Fatal(err)
				}
				if fault := cmp.Or(generous(out), closed(policy, leaves.Data)); fault != "" {
					t.Fatalf("%s: %s\nin:  %q\nout: %q", policy, fault, wire, out)
				}
			}
		}
	})
}

// generous reads one frame that passed and returns what is wrong with it.
func generous(out []byte) string {
	lines := strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' || r == '\r' })
	var data []string
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(strings.ToLower(name)) {
		case "event":
			if meansInternal(value) {
				return "an internal event name"
			}
		case "data":
			data = append(data, strings.TrimPrefix(value, " "))
		default:
			return "a field that the writer does not write: " + name
		}
	}
	if blocks := strings.Count(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(out)), "\n\n"); blocks != 1 {
		return "not one block"
	}
	decoder := json.NewDecoder(strings.NewReader(strings.Join(data, "\n")))
	decoder.UseNumber() // 777E777 is valid JSON although it is no float64
	return walk(decoder, false)
}

// closed returns the content of a frame that no reader may get, including state that is not configured to pass.
func closed(policy event.Policy, data []byte) string {
	var frame map[string]json.RawMessage
	if json.Unmarshal(data, &frame) != nil || string(frame["kind"]) != `"state"` {
		return ""
	}
	for name := range frame {
		if letters(name) == "input" {
			return "a member that no reader may get"
		}
	}
	if policy != event.PolicyPublic {
		return ""
	}
	var snapshot map[string]json.RawMessage
	_ = json.Unmarshal(frame["snapshot"], &snapshot)
	for key := range snapshot {
		if key != "open" {
			return "the key " + key
		}
	}
	var patch []map[string]json.RawMessage
	_ = json.Unmarshal(frame["delta"], &patch)
	for _, op := range patch {
		for _, member := range []string{"path", "from"} {
			var at any
			_ = json.Unmarshal(op[member], &at)
			if _, is := op[member]; is && at != "/open" && !strings.HasPrefix(fmt.Sprint(at), "/open/") {
				return fmt.Sprintf("a change of %s", op[member])
			}
		}
	}
	return ""
}

// walk reads one value, including duplicate members. under is set below a discriminator.
func walk(decoder *json.Decoder, under bool) string {
	token, err := decoder.Token()
	if err != nil {
		return "no JSON: " + err.Error()
	}
	switch token {
	case json.Delim('{'):
		for decoder.More() {
			name, err := decoder.Token()
			if err != nil {
				return "no JSON: " + err.Error()
			}
			text, _ := name.(string)
			if under && meansInternal(text) {
				return "an internal name under a discriminator"
			}
			bare := letters(text)
			if fault := walk(decoder, under || bare == "kind" || bare == "type"); fault != "" {
				return fault
			}
		}
		_, _ = decoder.Token()
	case json.Delim('['):
		for decoder.More() {
			if fault := walk(decoder, under); fault != "" {
				return fault
			}
		}
		_, _ = decoder.Token()
	default:
		if text, _ := token.(string); under && meansInternal(text) {
			return "something internal: " + text
		}
	}
	return ""
}

// letters returns a text in lower case, without invisible characters and halves of characters, for which the JSON reader
// has U+FFFD, and with look-alikes folded to ASCII.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if r = unicode.ToLower(r); r >= 'ａ' && r <= 'ｚ' {
			r += 'a' - 'ａ'
		}
		switch r {
		case '\u212A':
			return 'k'
		case 'ı':
			return 'i'
		}
		if r == unicode.ReplacementChar || unicode.IsSpace(r) || unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me) {
			return -1
		}
		return r
	}, text)
}

func meansInternal(text string) bool { return strings.HasPrefix(letters(text), "internal") }
