package adk

import "testing"

// TestRepeatedErrors checks that an error frame that repeats an event's error fails no other call.
func TestRepeatedErrors(t *testing.T) {
	const (
		two     = `{"functionCall":{"id":"c2","name":"nap","args":{}}}`
		started = `model_ended finish="STOP"; tool_started name="look" call="c1" {}; tool_started name="nap" call="c2" {}`
		failed  = `error agent_error code="ValueError"`
		again   = failed + " elsewhere"
	)
	raise := func(message string) string { return by(raised + `,"errorMessage":"` + message + `"`) }
	frame := func(message string) string {
		return `{"error":"ValueError: ` + message + `","error_details":{"error_type":"ValueError","error_message":"` + message + `"}}`
	}
	place := func(author, path, members string) string {
		return `{"invocationId":"e-1","author":"` + author + `","nodeInfo":{"path":"` + path + `"},` + members + `}`
	}
	calls := by(stop + "," + parts(call, two))
	ambiguous := `error tool_error code="ValueError" from_code; final`
	inBranch := by(stop + "," + parts(call) + `,"branch":"p.a"`)
	one := `model_ended finish="STOP"; tool_started name="look" call="c1" {}`
	runDecode(t, []decodeCase{
		{"beside a call in a branch", []string{inBranch, frame("no luck")}, []string{one, failed}},
		{"of a call in a branch, which it names", []string{inBranch, frame("look failed")}, []string{one, `tool_ended name="look" call="c1" tool_error code="ValueError"; ` + failed}},
		{"of a call that it names", []string{calls, raise("look failed"), frame("look failed")}, []string{started, `tool_ended name="look" call="c1" ` + toolRaised, again}},
		{"of an unknown call", []string{calls, raise("no luck"), frame("no luck")}, []string{started, ambiguous, again}},
		{"of another error", []string{calls, raise("look failed"), frame("no luck")}, []string{started, `tool_ended name="look" call="c1" ` + toolRaised, `tool_ended name="nap" call="c2" tool_error code="ValueError"; ` + failed}},
		{"of a word in a longer one", []string{calls, raise("outlook of looks"), frame("x")}, []string{started, ambiguous, failed}},
		{"of a word after a longer one", []string{calls, raise("outlook: 'look'")}, []string{started, `tool_ended name="look" call="c1" ` + toolRaised}},
		{"of another agent", []string{calls, place("b", "w@1/b@1", raised+`,"errorMessage":"m"`), frame("m")}, []string{started, modelRaised, again}},
		{"of a step, without details", []string{calls, place("w", "w@1/s@1", raised+`,"errorMessage":"m"`), `{"error":"m"}`}, []string{started, agentRaised, again}},
		{"of an agent that a call runs", []string{calls, place("b", "a@1/b@c2", raised+`,"errorMessage":"m"`), frame("m")},
			[]string{started, modelRaised, `tool_ended name="nap" call="c2" tool_error code="ValueError"; ` + again}},
		{"of a model", []string{by(raised + `,"errorMessage":"m"`), frame("m")}, []string{modelRaised, again}},
		{"after another error", []string{by(raised + `,"errorMessage":"m"`), by(raised + `,"errorMessage":"n"`), frame("m")}, []string{modelRaised, modelRaised, again}},
	})
}
