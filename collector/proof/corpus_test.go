package proof

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// sample is a line of the corpus.
type sample struct {
	text string
	want []string
}

// corpus reads one half of the corpus.
func corpus(t testing.TB, half string) (all []sample) {
	t.Helper()
	content, err := os.ReadFile("testdata/corpus/" + half + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSuffix(line, "\n")
		expected, text, ok := strings.Cut(line, " :: ")
		if !ok || line[0] == '#' {
			continue
		}
		s := sample{text: strings.ReplaceAll(text, `\n`, "\n")}
		if expected != "-" {
			s.want = strings.Split(expected, "; ")
		}
		all = append(all, s)
	}
	return all
}

// written is a confidence as the corpus writes it. The label of a score or a range, which repeats its figures, is left out.
func written(c event.Confidence) string {
	var words []string
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 9, 64) }
	switch {
	case c.Known:
		words = append(words, number(c.Value))
	case c.Low.Known && c.High.Known:
		words = append(words, number(c.Low.Value)+".."+number(c.High.Value))
	case c.Low.Known:
		words = append(words, number(c.Low.Value)+"..")
	case c.High.Known:
		words = append(words, ".."+number(c.High.Value))
	}
	label := c.Label
	if len(words) > 0 && (strings.ContainsAny(label, "0123456789★⭐")) {
		label, _, _ = strings.Cut(label, " (")
		if strings.ContainsAny(label, "0123456789★⭐") {
			label = ""
		}
	}
	if label != "" {
		words = append(words, label)
	}
	return strings.Join(words, " ")
}

// score is how a half of the corpus is read.
type score struct{ statements, counters, expected, found, right int }

func (s score) recall() float64    { return float64(s.right) / float64(s.expected) }
func (s score) precision() float64 { return float64(s.right) / float64(s.found) }

// measured reads one half of the corpus, and reports each difference if asked to.
func measured(t testing.TB, half string, report bool) (s score) {
	for _, c := range corpus(t, half) {
		var got []string
		for _, f := range Text([]byte(c.text), roomy).Confidences {
			got = append(got, written(f))
		}
		if len(c.want) > 0 {
			s.statements++
		} else {
			s.counters++
		}
		s.expected += len(c.want)
		s.found += len(got)
		rest := slices.Clone(c.want)
		for _, g := range got {
			if i := slices.Index(rest, g); i >= 0 {
				s.right++
				rest = slices.Delete(rest, i, i+1)
			}
		}
		if report && fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Logf("%q\n got %q\nwant %q", c.text, got, c.want)
		}
	}
	return s
}

// Least values of a half of the corpus.
const (
	leastRecall    = 0.9
	leastPrecision = 0.98
)

const (
	accuracyPage   = "../../docs/design/run-accuracy.md"
	beginsAccuracy = "<!-- This table is written by: go test ./collector/proof -run TestCorpus -update -->\n"
	endsAccuracy   = "<!-- the end of this table -->\n"
)

// TestCorpus reads both halves of the corpus. The differences of the half that is held out are not shown: who sees them tunes to them.
func TestCorpus(t *testing.T) {
	var table strings.Builder
	table.WriteString("| half | statements | counter-examples | values expected | values read | right | recall | precision |\n|-|-|-|-|-|-|-|-|\n")
	for _, half := range []string{"tuning", "heldout"} {
		s := measured(t, half, half == "tuning")
		fmt.Fprintf(&table, "| `%s` | %d | %d | %d | %d | %d | %.3f | %.3f |\n", half, s.statements, s.counters, s.expected, s.found, s.right, s.recall(), s.precision())
		if s.recall() < leastRecall || s.precision() < leastPrecision {
			t.Errorf("%s: recall %.3f, precision %.3f", half, s.recall(), s.precision())
		}
	}
	t.Log("\n" + table.String())
	rewrite(t, accuracyPage, beginsAccuracy, endsAccuracy, table.String())
}
