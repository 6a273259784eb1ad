package a2a

import "testing"

// TestRewrittenArtifacts replaces the text of an artifact. The same text is stated once.
func TestRewrittenArtifacts(t *testing.T) {
	hi, hm := text("hi"), `{"text":"hm","metadata":{"adk_thought":true}}`
	runDecode(t, []decodeCase{
		{"whole, twice", []string{piece("a", hi, last), piece("a", hi, last)}, []string{
			`artifact-update; artifact id="a" other bytes=2 complete; text "hi"`,
			`artifact-update partial repeats; artifact id="a" other bytes=2 complete; text "hi"`,
		}},
		{"in pieces, then whole", []string{piece("a", text("h"), ""), piece("a", text("i"), more+last), piece("a", hi, last), statusIs("completed", hi, "")}, []string{
			`artifact-update partial; artifact id="a" other bytes=1; text "h"`,
			`artifact-update; artifact id="a" other bytes=1 append complete; text "hi"`,
			`artifact-update partial repeats; artifact id="a" other bytes=2 complete; text "hi"`,
			`status-update partial repeats; text "hi"; final; run_ended awaits_outcome`,
		}},
		{"in pieces, then whole, without lastChunk", []string{piece("a", text("h"), ""), piece("a", text("i"), more), piece("a", hi, ""), piece("a", text("!"), more+last)}, []string{
			`artifact-update partial; artifact id="a" other bytes=1; text "h"`,
			`artifact-update partial; artifact id="a" other bytes=1 append; text "i"`,
			`artifact-update partial repeats; artifact id="a" other bytes=2; text "hi"`,
			`artifact-update; artifact id="a" other bytes=1 append complete; text "hi!"`,
		}},
		{"another text, then the first one", []string{piece("a", hi, last), piece("a", text("ho"), last), piece("a", hi, last)}, []string{
			`artifact-update; artifact id="a" other bytes=2 complete; text "hi"`,
			`artifact-update; artifact id="a" other bytes=2 complete; text "ho"`,
			`artifact-update; artifact id="a" other bytes=2 complete; text "hi"`,
		}},
		{"another text of the same length", []string{piece("a", hi, ""), piece("a", text("ho"), "")}, []string{
			`artifact-update partial; artifact id="a" other bytes=2; text "hi"`,
			`artifact-update partial; artifact id="a" other bytes=2; text "ho"`,
		}},
		{"with the last chunk later", []string{piece("a", hi, ""), piece("a", hi, last)}, []string{
			`artifact-update partial; artifact id="a" other bytes=2; text "hi"`,
			`artifact-update; artifact id="a" other bytes=2 complete; text "hi"`,
		}},
		{"after a piece whose beginning is unknown", []string{piece("a", hi, more+last), piece("a", hi, last)}, []string{
			`artifact-update partial; artifact id="a" other bytes=2 append complete; text "hi"`,
			`artifact-update; artifact id="a" other bytes=2 complete; text "hi"`,
		}},
		{"a thought", []string{piece("a", hm, last), piece("a", hm, last)}, []string{
			`thoughts; thought "hm"`,
			`thoughts partial repeats; thought "hm"`,
		}},
		{"without a text", []string{piece("a", `{"kind":"data","data":{"x":1}}`, last), piece("a", `{"kind":"data","data":{"x":1}}`, last)}, []string{
			`artifact-update; artifact id="a" data bytes=7 complete (data {"x":1})`,
			`artifact-update; artifact id="a" data bytes=7 complete (data {"x":1})`,
		}},
	})
}
