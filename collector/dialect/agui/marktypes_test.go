package agui_test

import "testing"

// TestMarkedTypes checks that an event that has a type of the protocol behind its mark withholds the rest of what it is of, also if the
// beginning left. The mark of an end of a step holds for that end only.
func TestMarkedTypes(t *testing.T) {
	for what, frames := range startCases {
		for _, mark := range []string{"internal:", "internal.", "Internal_", "ｉnternal-"} {
			for _, s := range allSettings {
				got := filterFrames(t, s, frames[0], swap(`{"type":"`, `{"type":"`+mark)(frames[1]), frames[1])
				if isStep := what == "a step"; got[0] == withheld || got[1] != withheld || got[2] != withheld && !isStep {
					t.Errorf("%s, %s, %s: got %q, want the last frames withheld", what, mark, s.Policy, got)
				}
			}
		}
	}
}

// TestMarkedTypesOfRuns checks that an event with a mark before its type withholds what contains no ID of it.
func TestMarkedTypesOfRuns(t *testing.T) {
	message := startCases["a message"]
	for what, frames := range map[string][]string{
		"a run":    append([]string{run}, message...),
		"messages": {`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","content":"x"}]}`, message[1], message[3]},
		"a state":  {`{"type":"STATE_SNAPSHOT","snapshot":{}}`, `{"type":"STATE_DELTA","delta":[{"op":"add","path":"/x","value":1}]}`},
	} {
		for _, mark := range []string{"internal:", "INTERNAL.", "ｉnternal_"} {
			for _, s := range allSettings {
				if got := filterFrames(t, s, append([]string{swap(`{"type":"`, `{"type":"`+mark)(frames[0])}, frames[1:]...)...); !allWithheld(got) {
					t.Errorf("%s, %s, %s: got %q, want all withheld", what, mark, s.Policy, got)
				}
			}
		}
	}
}
