package a2a

import "testing"

// TestEqualTexts checks that an event with the text of the one before is a text of its own, unless it repeats that event.
func TestEqualTexts(t *testing.T) {
	id := func(id string) string { return adkEvent(`,"adk_event_id":"` + id + `"`) }
	said := func(by string) string { return statusIs("working", text("hi"), id(by)) }
	wrote := func(artifact, by string) string { return piece(artifact, text("hi"), last+id(by)) }
	const (
		own, again  = `working agent="a"; text "hi"`, `working agent="a" partial repeats; text "hi"`
		first       = `artifact-update agent="a"; artifact id="x" other bytes=2 complete; text "hi"`
		second      = `artifact-update agent="a"; artifact id="y" other bytes=2 complete; text "hi"`
		firstAgain  = `artifact-update agent="a" partial repeats; artifact id="x" other bytes=2 complete; text "hi"`
		secondAgain = `artifact-update agent="a" partial repeats; artifact id="y" other bytes=2 complete; text "hi"`
	)
	runDecode(t, []decodeCase{
		{"of several events, and the answer", []string{said("1"), said("2"), wrote("x", "2")}, []string{own, own, firstAgain}},
		{"of an event that is sent again", []string{said("1"), said("1")}, []string{own, again}},
		{"of an event, and the answer with the id of one without text", []string{said("1"), wrote("x", "2")}, []string{own, firstAgain}},
		{"of events without an id, and the answer", []string{statusIs("working", text("hi"), adkEvent("")), statusIs("working", text("hi"), adkEvent("")), piece("x", text("hi"), last+adkEvent(""))},
			[]string{own, own, firstAgain}},
		{"of several events in artifacts", []string{wrote("x", "1"), wrote("y", "2")}, []string{first, second}},
		{"of an event in an artifact that is sent again", []string{wrote("x", "1"), wrote("y", "1")}, []string{first, secondAgain}},
	})
}
