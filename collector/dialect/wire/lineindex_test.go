package wire

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/strictjson"
)

// TestLineIndex checks that an index finds the lines that a search for each line finds.
func TestLineIndex(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	text := func(length int) string {
		letters := make([]byte, 0, length)
		for range length {
			letters = append(letters, "aab "[random.IntN(4)])
		}
		return strings.Join(strings.Fields(string(letters)), " ")
	}
	found := map[bool]int{}
	for range 20_000 {
		var index lineIndex
		var lines []string
		for range 1 + random.IntN(3) {
			if line := text(1 + random.IntN(9)); line != "" && !index.contains(line) {
				index.add(line)
				lines = append(lines, line)
			}
		}
		words := " " + text(8) + "\n " + text(8) + "\n"
		for _, areWhole := range []bool{false, true} {
			want := false
			for _, line := range lines {
				isAtEnd := strings.Contains(words, " "+line+"\n")
				isInside := !areWhole && len(line) >= minWithheldLine && strings.Contains(words, line)
				want = want || isAtEnd || isInside || areWhole && len(line) >= startLen && strings.Contains(words, " "+line+" ")
			}
			if got := index.isIn([]byte(words), areWhole); got != want {
				t.Fatalf("%q in %q, whole %t: %t, want %t", lines, words, areWhole, got, want)
			}
			found[want]++
		}
	}
	if found[true] < 1000 || found[false] < 1000 {
		t.Errorf("the texts are too similar or too different: %v", found)
	}
	var cut lineIndex
	cut.add(strings.Repeat("a", maxWithheldLine))
	if words := []byte(" " + strings.Repeat("a", maxWithheldLine+1) + "\n"); !cut.isIn(words, true) {
		t.Error("a cut line is not found if it goes on")
	}
}

// TestLinesGrowth checks that the time for a value does not grow with the number of lines.
func TestLinesGrowth(t *testing.T) {
	perValue := func(lines int) int64 {
		return testing.Benchmark(func(b *testing.B) { benchmarkLines(b, lines) }).NsPerOp()
	}
	if few, many := perValue(10), perValue(1000); many > 20*few {
		t.Errorf("a value takes %d ns with 10 lines and %d ns with 1,000", few, many)
	}
}

func benchmarkLines(b *testing.B, lines int) {
	texts := WithheldTexts{AreAnswers: true}
	for i := range lines {
		texts.AddText(fmt.Appendf(nil, "the internal answer number %d of this agent", i))
	}
	var doc strictjson.Doc
	if err := doc.Parse([]byte(`"`+strings.Repeat("the ", 50)+`"`), 1); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		texts.MayBeInLong(doc.Root())
	}
}
