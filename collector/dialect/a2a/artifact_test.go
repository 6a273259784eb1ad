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

// TestRepeatedAnswers checks that the message that ends a task states no text of an artifact again.
func TestRepeatedAnswers(t *testing.T) {
	hm := `{"text":"hm","metadata":{"adk_thought":true}}`
	completed := func(said string) string { return statusIs("completed", text(said), "") }
	const (
		first, lastPiece = `artifact-update partial; artifact id="a" other bytes=1; text "h"`, `artifact-update; artifact id="a" other bytes=1 append complete; text "hi"`
		openPiece        = `artifact-update partial; artifact id="a" other bytes=1 append; text "i"`
		end              = `final; run_ended awaits_outcome`
		repeated         = `status-update partial repeats; text "hi"; ` + end
	)
	runDecode(t, []decodeCase{
		{"in pieces", []string{piece("a", text("h"), ""), piece("a", text("i"), more+last), completed("hi")}, []string{first, lastPiece, repeated}},
		{"in pieces, with other white space", []string{piece("a", text("h"), ""), piece("a", text("i"), more+last), completed(`\n hi\n`)},
			[]string{first, lastPiece, `status-update partial repeats; text "\n hi\n"; ` + end}},
		{"at once, with other white space", []string{piece("a", text(`hi\n`), last), completed("hi")},
			[]string{`artifact-update; artifact id="a" other bytes=3 complete; text "hi\n"`, repeated}},
		{"in pieces without lastChunk", []string{piece("a", text("h"), ""), piece("a", text("i"), more), completed("hi")},
			[]string{first, openPiece, `status-update; text "hi"; ` + end}},
		{"another text", []string{piece("a", text("h"), ""), piece("a", text("i"), more), completed("ho")},
			[]string{first, openPiece, `status-update; text "hi"; text "ho"; ` + end}},
		{"after another artifact", []string{piece("a", text("h"), ""), piece("a", text("i"), more+last), piece("b", text("ho"), last), completed("hi")},
			[]string{first, lastPiece, `artifact-update; artifact id="b" other bytes=2 complete; text "ho"`, repeated}},
		{"after a thought", []string{piece("a", hm+","+text("h"), ""), piece("a", text("i"), more+last), completed("hi")},
			[]string{`thoughts partial; artifact id="a" other bytes=1; thought "hm"; text "h"`, lastPiece, repeated}},
		{"of a snapshot", []string{taskIs("working", ""), taskIs("working", `,"artifacts":[{"artifactId":"a","parts":[`+text("hi")+`]},{"artifactId":"b","parts":[`+text("ho")+`]}]`), completed("hi")},
			[]string{`working; other`, `progress; artifact id="a" other bytes=2 complete; text "hi"; artifact id="b" other bytes=2 complete; text "ho"`, repeated}},
		{"of which the beginning is unknown", []string{piece("a", text("hi"), more+last), completed("hi")},
			[]string{`artifact-update partial; artifact id="a" other bytes=2 append complete; text "hi"`, `status-update; text "hi"; ` + end}},
		{"a longer text that continues an artifact", []string{piece("a", text("h"), ""), piece("a", text("hi"), ""), completed("hi")},
			[]string{first, `artifact-update partial; artifact id="a" other bytes=2; text "i"`, `status-update; text "hi"; ` + end}},
		{"messages of a task", []string{taskIs("submitted", ""), messageOfTask("n", "", "h"), messageOfTask("n", "", "i"), completed("hi")},
			[]string{`working; run_started`, `message partial; text "h"`, `message partial; text "i"`, `status-update; text "hi"; ` + end}},
	})
}
