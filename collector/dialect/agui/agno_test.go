package agui_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// agnoEvent returns a RAW event of Agno, as agno 3.1.10 sent them, for an agent's run within a team's run.
func agnoEvent(name, id, agent string) string {
	return `{"type":"RAW","event":{"event":"` + name + `","agent_id":"` + id + `","agent_name":"` + agent + `","run_id":"run-` + id + `","parent_run_id":"run-team","session_id":"t"},"source":"agno"}`
}

// teamEvent returns a RAW event of Agno for a team's run.
func teamEvent(name string) string {
	return `{"type":"RAW","event":{"event":"Team` + name + `","team_id":"lead","team_name":"lead","run_id":"run-team","session_id":"t"},"source":"agno"}`
}

// TestAgnoMembers checks that nothing leaves that a member says, calls or thinks while Agno's events name it as internal, and that the
// rest leaves.
//
// Source: recordings of agno 3.1.10, of a team with the member Agent(id="aud-1", name="internal auditor").
func TestAgnoMembers(t *testing.T) {
	internal := []string{agnoEvent("RunContinued", "aud-1", "internal auditor"), agnoEvent("ModelRequestStarted", "aud-1", "internal auditor")}
	ordinary := []string{agnoEvent("RunStarted", "w", "writer"), agnoEvent("ModelRequestStarted", "w", "writer")}
	nested := strings.NewReplacer("run-w", "run-v", "run-team", "run-aud-1")
	many := []string{}
	for i := range 300 {
		many = append(many, agnoEvent("RunStarted", fmt.Sprint("i", i), "internal"))
	}
	closed := slices.Clone(many)
	for i := range 300 {
		closed = append(closed, agnoEvent("RunCompleted", fmt.Sprint("i", i), "internal"))
	}
	for what, c := range map[string]struct {
		before []string
		leaves bool
	}{
		"by its name":                    {internal, false},
		"by its ID":                      {[]string{agnoEvent("RunStarted", "internal-auditor", "auditor")}, false},
		"a team":                         {[]string{strings.Replace(teamEvent("RunStarted"), `"team_name":"lead"`, `"team_name":"internal desk"`, 1)}, false},
		"after its answer":               {append(slices.Clone(internal), agnoEvent("RunContentCompleted", "aud-1", "internal auditor")), true},
		"after its failure":              {append(slices.Clone(internal), agnoEvent("RunError", "aud-1", "internal auditor")), true},
		"after its pause":                {append(slices.Clone(internal), agnoEvent("RunPaused", "aud-1", "internal auditor")), true},
		"the leader's next turn":         {append(slices.Clone(internal), teamEvent("ModelRequestStarted")), true},
		"an event of the leader":         {append(slices.Clone(internal), teamEvent("RunContinued")), false},
		"beside an ordinary one":         {append(slices.Clone(internal), ordinary...), false},
		"an ordinary one within":         {append(slices.Clone(internal), nested.Replace(ordinary[0]), nested.Replace(agnoEvent("RunCompleted", "w", "writer"))), false},
		"an ordinary one":                {ordinary, true},
		"an event of another framework":  {[]string{strings.Replace(internal[0], `"agno"`, `"other"`, 1)}, true},
		"more than are remembered":       {many, false},
		"more than are remembered ended": {closed, false},
	} {
		for _, frame := range begun[1:7] { // a text may begin without words, and Agno's adapter has no subagents
			if got := last(filterFrames(t, allSettings[0], append(append([]string{run}, c.before...), frame)...)); (got == frame) != c.leaves {
				t.Errorf("%s: %s leaves as %s", what, frame, got)
			}
		}
		say := `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"CANARY"}`
		if got := last(filterFrames(t, allSettings[1], append(append([]string{run, begun[0]}, c.before...), say)...)); (got == say) != c.leaves {
			t.Errorf("%s: a piece leaves as %s", what, got)
		}
		failed := `{"type":"RUN_ERROR","message":"CANARY"}`
		if got := last(filterFrames(t, allSettings[0], append(append([]string{run}, c.before...), failed)...)); (got == failed) != c.leaves {
			t.Errorf("%s: the error leaves as %s", what, got)
		}
	}
}

// TestAnswersOfAgnoMembers checks that the result of a call leaves without content if an internal member answered, whose ID in the call is
// ordinary.
func TestAnswersOfAgnoMembers(t *testing.T) {
	work := []string{agnoEvent("RunStarted", "aud-1", "internal auditor"), agnoEvent("RunContentCompleted", "aud-1", "internal auditor")}
	for what, c := range map[string]struct {
		tool, args string
		leaves     bool
	}{
		"the call that names it":     {"delegate_task_to_member", `{"member_id":"aud-1"}`, false},
		"a call of another":          {"delegate_task_to_member", `{"member_id":"writer"}`, true},
		"a call that may name it":    {"execute_task", `{"task_id":"t1"}`, false},
		"a call of all members":      {"delegate_task_to_members", `{"task":"x"}`, false},
		"a call of another function": {"look", `{}`, true},
	} {
		call := toolCall("c", c.tool, c.args, "CANARY")
		sent := slices.Concat([]string{run}, call[:2], work, call[2:])
		if strings.Contains(c.args, "writer") { // another call names the member
			sent = slices.Concat([]string{run}, toolCall("d", "delegate_task_to_member", `{"member_id":"aud-1"}`, "")[:2], sent[1:])
		}
		for i, s := range allSettings {
			if got := last(filterFrames(t, s, sent...)); strings.Contains(got, "CANARY") != (c.leaves && i == 0) || got == withheld {
				t.Errorf("%s, %s: %s", what, s.Policy, got)
			}
		}
	}
}
