package filter_test

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestHalves checks frames with halves of surrogate pairs, which a program in JavaScript writes if it cuts a text within
// a character. Names must not have any, and no mark of something internal may hide behind one.
func TestHalves(t *testing.T) {
	const (
		half    = `"content":{"parts":[{"text":"cut \ud83d"}]}`
		without = `{"text":"\ude00 go on"}`
		state   = `"actions":{"stateDelta":{"open":"\ud83d","closed":"\ud83d"}}`
	)
	for name, c := range map[string]struct{ sent, client, public string }{
		"a text":              {adkEvent(half), adkEvent(half), adkEvent(half)},
		"the other half":      {adkEvent(adkParts(without)), adkEvent(adkParts(without)), adkEvent(adkParts(without))},
		"in a result":         {adkEvent(adkParts(hi, `{"functionResponse":{"id":"c1","name":"f","response":{"name":"cut \udc00"}}}`)), "unchanged", adkEvent(adkParts(hi, answer))},
		"in a state":          {adkEvent(adkParts(hi), state), "unchanged", adkEvent(adkParts(hi), `"actions":{"stateDelta":{"open":"\ud83d"}}`)},
		"beside a line end":   {adkEvent(adkParts("{\"text\":\"\u2028" + `\ud83d"}`)), "unchanged", adkEvent(adkParts(`{"text":"\u2028\ud83d"}`))},
		"in a member's name":  {adkEvent(half, `"x\ud83d":1`), string(filter.ReasonUnreadable), string(filter.ReasonUnreadable)},
		"in an internal kind": {adkEvent(half, `"kind":"inter\ud83dnal:x"`), string(filter.ReasonInternal), string(filter.ReasonInternal)},
		"U+FFFD in it":        {adkEvent(half, `"kind":"inter\ufffdnal:x"`), string(filter.ReasonInternal), string(filter.ReasonInternal)},
	} {
		if c.client == "unchanged" {
			c.client = c.sent
		}
		for policy, want := range map[event.Policy]string{event.PolicyClient: c.client, event.PolicyPublic: c.public} {
			s := filter.Settings{Policy: policy, Thoughts: event.ThoughtsDetailed, StateKeys: []string{"open"}}
			if got := leavesADK(t, s, c.sent); got != want {
				t.Errorf("%s, %s: got %s, want %s", name, policy, got, want)
			}
		}
	}
}
