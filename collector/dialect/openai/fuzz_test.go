package openai_test

import (
	"fmt"
	"strings"
	"testing"
)

// FuzzWithheld sends items and choices in any order, of which some begin as instructions, internally or unreadably. Nothing that belongs
// to these leaves under any policy. Each byte is an event: its low bits say which, its high bits of which item.
func FuzzWithheld(f *testing.F) {
	for _, seed := range []string{"\x00\x05\x06", "\x01\x05\x06\x07", "\x02\x05\x07", "\x03\x05", "\x08\x0d\x09\x15\x10\x14\x15\x17", "\x04\x01\x05\x04\x07"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, events []byte) {
		events = events[:min(len(events), 64)]
		for _, form := range []func([]byte) []string{itemEvents, wrappedEvents, choiceEvents} {
			sent := stream(form(events)...)
			for _, s := range []struct{ out, policy string }{{leaving(t, client, sent), "client"}, {leaving(t, public, sent), "public"}} {
				if strings.Contains(s.out, "secret") {
					t.Fatalf("under %s this leaves: %s\nof %s", s.policy, s.out, sent)
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
