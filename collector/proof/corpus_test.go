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

// sample is a line of the corpus. Its group is named by the heading above it.
type sample struct {
	group, text string
	want        []string
}

// corpus returns one half of the corpus.
func corpus(t testing.TB, half string) (all []sample) {
	t.Helper()
	content, err := os.ReadFile("testdata/corpus/" + half + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	group := ""
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSuffix(line, "\n")
		if heading, ok := strings.CutPrefix(line, "# "); ok {
			group, _, _ = strings.Cut(heading, ":") // "English: tables" belongs to the group English
			continue
		}
		expected, text, ok := strings.Cut(line, " :: ")
		if !ok {
			continue
		}
		s := sample{group: group, text: strings.ReplaceAll(text, `\n`, "\n")}
		if expected != "-" {
			s.want = strings.Split(expected, "; ")
		} else {
			s.group = "counter-examples"
		}
		all = append(all, s)
	}
	return all
}

// describe returns a confidence in the format of the corpus, without the label of a score or a range, which
// repeats its numbers.
func describe(c event.Confidence) string {
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

// score counts the results for the samples of a group.
type score struct{ samples, expected, found, right int }

func (s *score) add(c sample, got []string) {
	s.samples++
	s.expected += len(c.want)
	s.found += len(got)
	rest := slices.Clone(c.want)
	for _, g := range got {
		if i := slices.Index(rest, g); i >= 0 {
			s.right++
			rest = slices.Delete(rest, i, i+1)
		}
	}
}

func (s *score) merge(other score) {
	s.samples += other.samples
	s.expected += other.expected
	s.found += other.found
	s.right += other.right
}

func (s *score) recall() float64    { return float64(s.right) / float64(s.expected) }
func (s *score) precision() float64 { return float64(s.right) / float64(s.found) }

// line returns an item of the list in the documentation.
func (s *score) line(name string) string {
	shares := ""
	if s.expected > 0 {
		shares = fmt.Sprintf("; recall %.3f, precision %.3f", s.recall(), s.precision())
	}
	return fmt.Sprintf("- %s: %d samples, %d values, %d read, %d right%s\n", name, s.samples, s.expected, s.found, s.right, shares)
}

// The required scores of each half of the corpus.
const (
	minRecall    = 0.9
	minPrecision = 0.98
)

// TestCorpus measures both halves of the corpus and compares the figures of the held-out one with docs/design/accuracy.md.
// It does not show differences in the held-out half, so that the expressions cannot be fitted to it.
func TestCorpus(t *testing.T) {
	for _, half := range []string{"tuning", "heldout"} {
		t.Run(half, func(t *testing.T) {
			var total score
			var names []string
			groups := map[string]*score{}
			for _, c := range corpus(t, half) {
				var got []string
				for _, f := range Text([]byte(c.text), roomy).Confidences {
					got = append(got, describe(f))
				}
				if groups[c.group] == nil {
					groups[c.group] = &score{}
					names = append(names, c.group)
				}
				groups[c.group].add(c, got)
				total.add(c, got)
				if half == "tuning" && !slices.Equal(got, c.want) {
					t.Logf("%q\n got %q\nwant %q", c.text, got, c.want)
				}
			}
			var perfect []int // numbers of samples
			var together score
			lines := ""
			for _, name := range names {
				s := groups[name]
				if s.expected == 0 || s.right < s.expected || s.right < s.found {
					lines += s.line(name)
					continue
				}
				perfect = append(perfect, s.samples)
				together.merge(*s)
			}
			list := lines + total.line("all")
			if len(perfect) > 0 {
				list = together.line(fmt.Sprintf("%d languages, each %d to %d samples", len(perfect), slices.Min(perfect), slices.Max(perfect))) + list
			}
			if total.recall() < minRecall || total.precision() < minPrecision {
				t.Errorf("recall %.3f and precision %.3f, want at least %v and %v", total.recall(), total.precision(), minRecall, minPrecision)
			}
			if half == "heldout" {
				checkSection(t, "../../docs/design/accuracy.md", "<!-- heldout: written by go test ./collector/proof -run TestCorpus -update -->\n", "<!-- end of heldout -->\n", list)
			}
		})
	}
}
