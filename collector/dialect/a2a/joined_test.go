package a2a_test

import "testing"

// TestRepeatsOfPieces repeats the whole text of an internal artifact that came in several updates.
func TestRepeatsOfPieces(t *testing.T) {
	text := func(text string) string { return `{"kind":"text","text":"` + text + `"}` }
	thought := func(text string) string {
		return `{"kind":"text","text":"` + text + `","metadata":{"adk_thought":true}}`
	}
	other := func(parts, more string) [3]string {
		return replaced(artifactOf(parts, more), `"artifactId":"a"`, `"artifactId":"b"`)
	}
	const more = `,"append":true`
	marked := `,"metadata":{"kind":"internal:x"}`
	begun := artifactOf(text("the CAN"), marked)
	for name, c := range map[string]struct {
		sent   [][3]string
		leaves bool // the last frame, unchanged
	}{
		"in an artifact":         {[][3]string{begun, artifactOf(text("ARY costs"), more), other(text("the CANARY costs"), "")}, false},
		"in a status":            {[][3]string{begun, artifactOf(text("ARY costs"), more), stateOf("completed", "n", text("the CANARY costs"), "")}, false},
		"in two parts":           {[][3]string{begun, artifactOf(text("ARY costs"), more), other(text("the ")+","+text("CANARY costs"), "")}, false},
		"without its thought":    {[][3]string{begun, artifactOf(thought("hm")+","+text("ARY costs"), more), other(text("the CANARY costs"), "")}, false},
		"with the first again":   {[][3]string{begun, artifactOf(text("x"), more), begun, artifactOf(text("ARY costs"), more), other(text("the CANARY costs"), "")}, false},
		"a part":                 {[][3]string{begun, artifactOf(text("ARY costs"), more), artifactOf(text(" more"), more), other(text("the CANARY costs"), "")}, true},
		"of another artifact":    {[][3]string{begun, replaced(artifactOf(text("ARY costs"), more+marked), `"a"`, `"z"`), other(text("the CANARY costs"), "")}, true},
		"a short text by chance": {[][3]string{artifactOf(text("o"), marked), artifactOf(text("k"), more), other(text("ok"), "")}, true},
		"a piece":                {[][3]string{begun, artifactOf(text("ARY costs"), more), other(text("x"), ""), other(text("the CANARY costs"), more)}, true},
		"without a mark":         {[][3]string{artifactOf(text("the CAN"), ""), artifactOf(text("ARY costs"), more), other(text("the CANARY costs"), "")}, true},
	} {
		checkLast(t, name, c.leaves, c.sent...)
	}
}
