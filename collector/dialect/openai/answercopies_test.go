package openai_test

import (
	"slices"
	"strings"
	"testing"
)

// TestAnswerCopies returns the answer of an internal agent as the result of the call in which it worked. The event leaves without it.
func TestAnswerCopies(t *testing.T) {
	inCall := func(calls ...string) (sent []string) {
		sent = []string{begins("a")}
		for _, id := range calls {
			sent = append(sent, callItem("a", id, "ask"))
		}
		return append(sent, begins(hidden))
	}
	returns := func(call, text string) string {
		return strings.Replace(outputItem("a", call), `"o"`, `"`+text+`"`, 1)
	}
	work := workOf(hidden, "i", "secret")
	for name, c := range map[string]struct {
		leaves bool
		sent   []string
	}{
		"all events":            {false, slices.Concat(inCall("c"), work, []string{returns("c", "secret")})},
		"texts":                 {false, append(inCall("c"), pieceOf(3, "sec"), pieceOf(4, "ret"), returns("c", "secret"))},
		"items":                 {false, append(inCall("c"), saidBy(hidden, "secret"), returns("c", " secret\\n"))},
		"the result of a tool":  {false, append(inCall("c"), callItem(hidden, "d", "f"), strings.Replace(outputItem(hidden, "d"), `"o"`, `"secret"`, 1), returns("c", "secret"))},
		"one of two calls":      {false, slices.Concat(inCall("c", "e"), work, []string{returns("c", "secret")})},
		"another text":          {true, slices.Concat(inCall("c"), work, []string{returns("c", "shown secret")})},
		"a call before":         {true, slices.Concat(inCall("c"), work, []string{returns("c", "x"), callItem("a", "e", "ask"), returns("e", "secret")})},
		"without internal work": {true, slices.Concat([]string{begins("a"), callItem("a", "c", "ask"), begins("b")}, workOf("b", "i", "said"), []string{returns("c", "secret")})},
	} {
		out := leaving(t, client, stream(c.sent...))
		last := c.sent[len(c.sent)-1]
		if strings.Contains(out, "secret") != c.leaves || !strings.Contains(out, last[:90]) {
			t.Errorf("%s: this leaves: %s", name, out)
		}
	}
}
