package a2a_test

import (
	"strconv"
	"testing"
)

// TestSavedFiles sends files that an ADK agent has saved. Only the actions of the event before say so.
func TestSavedFiles(t *testing.T) {
	saves := func(actions, more string) [3]string {
		return stateOf("working", "n", adkPart("response", `"id":"c","name":"save","response":{}`), `,"metadata":{"adk_author":"a","adk_actions":`+actions+more+`}`)
	}
	const delta, artifact = `{"artifactDelta":{"x.txt":1.0}}`, `"artifactId":"x.txt_1","name":"x.txt","parts":[{"kind":"text","text":"CANARY"}]`
	marked := stateOf("working", "m", plainCall, markedEvent)
	file := [3]string{"artifact-update", "artifactUpdate", ids + `,"artifact":{` + artifact + `},"lastChunk":true`}
	ordinary := saves(delta, "")
	unreadable := replaced(ordinary, `"adk_author"`, `"US":1,"us":2,"adk_author"`)
	for name, c := range map[string]struct {
		sent   [][3]string
		leaves bool // the last frame, unchanged
	}{
		"of an internal call":                {[][3]string{marked, ordinary, file}, false},
		"of a marked event":                  {[][3]string{saves(delta, `,"adk_custom_metadata":{"kind":"internal"}`), file}, false},
		"of actions in a string":             {[][3]string{marked, saves(strconv.Quote(`{"artifact_delta":{"x.txt":1}}`), ""), file}, false},
		"in a snapshot":                      {[][3]string{marked, ordinary, taskOf(`,"artifacts":[{` + artifact + `}]`)}, false},
		"after an unreadable event":          {[][3]string{unreadable, file}, false},
		"of an earlier event":                {[][3]string{ordinary, unreadable, file}, true},
		"an artifact after an unreadable":    {[][3]string{unreadable, replaced(file, "x.txt_1", "x.txt_a")}, true},
		"another one after an unreadable":    {[][3]string{unreadable, replaced(file, `"name":"x.txt"`, `"name":"y.txt"`)}, true},
		"another version":                    {[][3]string{marked, ordinary, replaced(file, "x.txt_1", "x.txt_2")}, true},
		"of another call":                    {[][3]string{marked, replaced(ordinary, `"id":"c"`, `"id":"d"`), file}, true},
		"of an event beside an internal one": {[][3]string{ordinary, marked, file}, true},
	} {
		checkLast(t, name, c.leaves, c.sent...)
	}
}
