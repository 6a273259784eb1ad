package dialect_test

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

// TestTextTail checks that of a long text only an end is kept, in whole characters and without a gap in it, and that the
// batch says so.
func TestTextTail(t *testing.T) {
	long := strings.Repeat("ä", dialect.TextTailSize)
	for name, pieces := range map[string][]string{
		"short":           {"a", "", "b"},
		"at the limit":    {strings.Repeat("a", dialect.TextTailSize), strings.Repeat("b", dialect.TextTailSize)},
		"many pieces":     {long[:len(long)/5*2], long, long, "end"},
		"one long piece":  {long},
		"a piece between": {"begin", "x" + long, "end"},
		"two between":     {"begin", long, "middle", long, "end"},
	} {
		var s dialect.TextTail
		for _, piece := range pieces {
			s.Add([]byte(piece))
		}
		var b event.Batch
		if !s.Report(&b) {
			t.Fatalf("%s: nothing is reported", name)
		}
		whole, e := strings.Join(pieces, ""), &b.Events[0]
		text := string(e.Text())
		if !strings.HasSuffix(whole, text) || len(text) < min(len(whole), dialect.TextTailSize-1) || len(text) > 2*dialect.TextTailSize {
			t.Errorf("%s: the text has %d of %d bytes and starts with %.10q", name, len(text), len(whole), text)
		}
		if e.Truncated != (text != whole) {
			t.Errorf("%s: truncated is %t for %d of %d bytes", name, e.Truncated, len(text), len(whole))
		}
		if s.Reset(); s.Report(&b) {
			t.Errorf("%s: a text is left after Reset", name)
		}
	}
}
