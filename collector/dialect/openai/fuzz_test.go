package openai_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// FuzzWithheld sends items and choices in any order, of which some begin as instructions, internally or unreadably. Nothing that belongs
// to these leaves under any policy. Each byte is an event: its low bits say which, its high bits of which item.
func FuzzWithheld(f *testing.F) {
	for _, seed := range []string{"\x00\x05\x06", "\x01\x05\x06\x07", "\x02\x05\x07", "\x03\x05", "\x08\x0d\x09\x15\x10\x14\x15\x17", "\x04\x01\x05\x04\x07", "\x00\x01\x04\x0c", "\x0b\x06\x0c\x00\x04", "\x03\x03\x00\x04"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, events []byte) {
		events = events[:min(len(events), 64)]
		for _, form := range []func([]byte) []string{itemEvents, wrappedEvents, choiceEvents, callEvents} {
			sent := stream(form(events)...)
			single := len(events)%2 == 0
			for _, s := range []filter.Settings{client, public} {
				if out := leavingOf(t, s, &event.Stream{SingleRun: single}, sent); strings.Contains(out, "secret") {
					t.Fatalf("under %s, a single run: %t, this leaves: %s\nof %s", s.Policy, single, out, sent)
				}
			}
		}
	})
}

// withheldItems holds the items that began as what may not leave. The rest of such an item says "secret".
type withheldItems map[int]bool

func (w withheldItems) word(item int) string {
	if w[item] {
		return "secret"
	}
	return "open"
}

// itemEvents returns the events of a response.
func itemEvents(events []byte) (sent []string) {
	sent, items := []string{created}, withheldItems{}
	for _, e := range events {
		n := int(e >> 3)
		begin := func(kind, role string) string {
			return fmt.Sprintf(`{"type":"response.output_item.added","output_index":%d,"item":{"id":"i%d","type":%q,"role":%q,"content":[]}}`, n, n, kind, role)
		}
		switch e & 7 {
		case 0:
			sent = append(sent, begin("message", "assistant"))
		case 1:
			items[n] = true
			sent = append(sent, begin("message", "system"))
		case 2:
			items[n] = true
			sent = append(sent, begin("message", "Developer"))
		case 3:
			items[n] = true
			sent = append(sent, begin("internal_note", "assistant"))
		case 4:
			sent = append(sent, fmt.Sprintf(`{"type":"response.content_part.added","output_index":%d,"item_id":"i%d","part":{"type":"output_text","text":""}}`, n, n))
		case 5:
			sent = append(sent, fmt.Sprintf(`{"type":"response.output_text.delta","output_index":%d,"item_id":"i%d","delta":%q}`, n, n, items.word(n)))
		case 6: // by its number only
			sent = append(sent, fmt.Sprintf(`{"type":"response.output_text.done","output_index":%d,"text":%q}`, n, items.word(n)))
		case 7: // by its id only
			sent = append(sent, fmt.Sprintf(`{"type":"response.function_call_arguments.delta","item_id":"i%d","delta":%q}`, n, items.word(n)))
		}
	}
	return sent
}

// wrappedEvents returns the same in the envelope of the Agents SDK.
func wrappedEvents(events []byte) (sent []string) {
	for _, data := range itemEvents(events) {
		sent = append(sent, `{"type":"raw_response_event","data":`+data+`}`)
	}
	return sent
}

// choiceEvents returns chunks of a chat completion.
func choiceEvents(events []byte) (sent []string) {
	items := withheldItems{}
	for _, e := range events {
		n := int(e >> 3)
		delta := `{"content":"` + items.word(n) + `"}`
		switch e & 7 {
		case 0:
			if items[n] {
				continue // a choice has one role
			}
			delta = `{"role":"assistant","content":""}`
		case 1, 2, 3:
			items[n] = true
			delta = `{"role":` + []string{`"system"`, `"Developer"`, `["assistant"]`}[e&7-1] + `,"content":"secret"}`
		case 4:
			delta = `{"tool_calls":[{"index":0,"function":{"arguments":"` + items.word(n) + `"}}]}`
		}
		sent = append(sent, fmt.Sprintf(`{"id":"c","object":"chat.completion.chunk","choices":[{"index":%d,"delta":%s}]}`, n, delta))
	}
	return append(sent, "[DONE]")
}

// callEvents returns chunks of several chat completions with calls and their results.
func callEvents(events []byte) (sent []string) {
	hidden, lost, shown := withheldItems{}, map[int]bool{}, map[int]bool{}
	for _, e := range events {
		n := int(e >> 3)
		mark, delta := "", fmt.Sprintf(`{"role":"assistant","tool_calls":[{"index":0,"id":"t%d","function":{"name":"f","arguments":""}}]}`, n)
		switch e & 7 {
		case 0:
			hidden[n] = hidden[n] && !lost[n] // it may begin again
			lost[n], shown[n] = false, true
		case 1, 2:
			hidden[n], lost[n], mark = true, false, []string{`"kind":"internal",`, `"event":"internal:x",`}[e&7-1]
		case 3:
			lost[n] = lost[n] || !hidden[n] && !shown[n]
			hidden[n], mark = hidden[n] || lost[n], `"x":1,"x":2,`
		case 4:
			delta = `{"role":"tool","tool_call_id":"t` + fmt.Sprint(n) + `","content":"` + hidden.word(n) + `"}`
		case 5:
			delta = `{"role":"system","content":"secret"}`
		default:
			delta = `{"content":"open"}`
		}
		sent = append(sent, fmt.Sprintf(`{%s"id":"c%d","object":"chat.completion.chunk","choices":[{"index":0,"delta":%s}]}`, mark, int(e)%5, delta))
	}
	return append(sent, "[DONE]")
}
