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

func (s *score) row(name string) string {
	share := func(part, whole int) string {
		if s.expected == 0 {
			return ""
		}
		return strconv.FormatFloat(float64(part)/float64(whole), 'f', 3, 64)
	}
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %s | %s |\n",
		name, s.samples, s.expected, s.found, s.right, share(s.right, s.expected), share(s.right, s.found))
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
			table := "| `" + half + "` | samples | values expected | values read | right | recall | precision |\n|-|-|-|-|-|-|-|\n"
			var perfect []string
			var together score
			rows := ""
			for _, name := range names {
				s := groups[name]
				if s.expected == 0 || s.right < s.expected || s.right < s.found {
					rows += s.row(name)
					continue
				}
				perfect = append(perfect, fmt.Sprintf("%s (%d)", name, s.samples))
				together.merge(*s)
			}
			table += together.row(strings.Join(perfect, ", ")) + rows + total.row("all")
			if total.recall() < minRecall || total.precision() < minPrecision {
				t.Errorf("recall %.3f and precision %.3f, want at least %v and %v", total.recall(), total.precision(), minRecall, minPrecision)
			}
			if half == "heldout" {
				checkSection(t, "../../docs/design/accuracy.md", "<!-- heldout: written by go test ./collector/proof -run TestCorpus -update -->\n", "<!-- end of heldout -->\n", table)
			}
		})
	}
}
