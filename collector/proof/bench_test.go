package proof

import (
	"strings"
	"testing"
)

// prose is an answer of 4 KiB without findings.
var prose = strings.Repeat("The fire burned 130,000 acres of Douglas-fir along the ridge above Waldo Lake: trails remain\n"+
	"closed until crews have cleared them, and 42% of the culverts need work (see the **map**).\n\n", 23)[:4096]

// BenchmarkText measures an answer of 4 KiB.
func BenchmarkText(b *testing.B) {
	for name, text := range map[string]string{
		"prose":    prose,
		"upper":    strings.ToUpper(prose),
		"resource": strings.ReplaceAll(prose, "culverts", "resource"),
		"stated":   prose[:4096-len(briefing[4].text)] + briefing[4].text,
	} {
		b.Run(name, func(b *testing.B) {
			answer := []byte(text)
			b.SetBytes(int64(len(answer)))
			b.ReportAllocs()
			for b.Loop() {
				Text(answer, roomy)
			}
		})
	}
}

// BenchmarkHostile measures the cost per byte of texts of 64 KiB that are meant to be slow.
func BenchmarkHostile(b *testing.B) {
	for name, text := range hostile(64 << 10) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Text(text, roomy)
			}
		})
	}
}

// hostile returns texts of about size bytes, most of them one line, that are meant to be slow.
func hostile(size int) map[string][]byte {
	repeat := func(before, unit, after string) []byte {
		return []byte(before + strings.Repeat(unit, (size-len(before)-len(after))/len(unit)) + after)
	}
	return map[string][]byte{
		"confidences":    repeat("", "Confidence: 9% ", ""),
		"enclosed":       repeat("", "(Confidence:9%)", ""),
		"scopes":         repeat("Confidence: ", "9% for a,", ""),
		"no value":       repeat("", "confidence: ", ""),
		"in brackets":    repeat("", "(90 % confidence) ", ""),
		"bracket open":   repeat("", "confidence: 9% (a ", ""),
		"sentences":      repeat("", "I am 90% confident that a is b. ", ""),
		"all shapes":     repeat("", "confidence: 90% **Confidence**: high [source: x] (90 % confidence) Sources: http://a.b/c ", ""),
		"levels":         repeat("", "confidence level: 90% ", ""),
		"near words":     repeat("", "sourc fidence ", "source"),
		"anchors":        repeat("", "fug", "source"),
		"sources":        repeat("", "**Source:** a ", ""),
		"source and dot": repeat("Source:", " .", ""),
		"commas":         repeat("Source: a", ", B", ""),
		"stars":          repeat("Source: a ", "*", ""),
		"leading stars":  repeat("", "*", "Source: a"),
		"underscores":    repeat("", "_* ", "**Confidence:** 9%"),
		"bold":           repeat("", "**a:** ", "Confidence: 9%"),
		"bold labels":    repeat("", "**Source:** a (Confidence: 9%)", ""),
		"open bold":      repeat("**a", "Confidence: 9% __ ", ""),
		"one tick":       repeat("`", " Confidence: 9%", ""),
		"quotations":     repeat("Confidence: 9% ", "“", "”"),
		"ticks":          repeat("", "` Confidence: 9%", ""),
		"brackets":       repeat("Source: ", "(", "Confidence: 9%"),
		"spaces":         repeat("", " ", "Source: a"),
		"dashes":         repeat("Source: a", "-", ""),
		"dates":          repeat("Source: a", "2022-09-1", ""),
		"no words":       repeat("Confidence: high - ", "a and ", ""),
		"digits":         repeat("Confidence: ", "9", ""),
		"emoji":          repeat("Confidence: ", "🟢", ""),
		"URLs":           repeat("Source: https://", "(x)", ""),
		"one word":       repeat("", "(Confidence:9%", "://"),
		"lines":          repeat("", "source\n", ""),
		"list":           repeat("Sources:\n", "- a\n", ""),
		"fences":         repeat("source\n", "```\n", ""),
		"carriage":       repeat("source\n", "\r", ""),
		"separators":     repeat("source\n", "\u2028", ""),
		"rows":           repeat("source\n", "|source|\n", ""),
		"wide":           repeat("Source: ", "é, É", ""),
		"invalid":        repeat("Source: ", "\xff\xe2", ""),
	}
}
