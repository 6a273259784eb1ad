package a2a

import (
	"strings"
	"testing"
)

// TestSameCallIDs checks calls with the same id by agents in different branches, whose models number their calls.
func TestSameCallIDs(t *testing.T) {
	const (
		args     = `{"agent_name":"x"}`
		inA, inB = ` agent="a" branch="p.a" place="…/p:container/a[p.a]"`, ` agent="b" branch="p.b" place="…/p:container/b[p.b]"`
		unnamed  = `; tool_ended name="f" call="c" {}`
	)
	in := func(agent string) string {
		return `,"metadata":{"adk_author":"` + agent + `","adk_branch":"p.` + agent + `","adk_invocation_id":"e-1","adk_event_id":"` + agent + `1"}`
	}
	asked := func(agent string) string { return statusIs("working", calls("c", "f", false), in(agent)) }
	got := func(agent string) string { return statusIs("working", toolResult("c", "f", `{}`), in(agent)) }
	fails := func(agent string) string {
		return statusIs("working", text("boom"), `,"metadata":{"adk_author":"`+agent+`","adk_branch":"p.`+agent+`","adk_invocation_id":"e-1","adk_error_code":"ValueError"}`)
	}
	runDecode(t, []decodeCase{
		{"both answered", []string{asked("a"), asked("b"), asked("b"), got("b"), got("a")}, []string{
			`calls` + inA + `; tool_started name="f" call="c" ` + args, `calls` + inB + `; tool_started name="f" call="c" reuses_id ` + args,
			`calls` + inB + `; other`, `results` + inB + unnamed, `results` + inA + unnamed,
		}},
		{"one failed", []string{asked("a"), asked("b"), fails("a"), got("b")}, []string{
			`calls` + inA + `; tool_started name="f" call="c" ` + args, `calls` + inB + `; tool_started name="f" call="c" reuses_id ` + args,
			`working` + inA + `; tool_ended name="f" call="c" tool_error code="ValueError"; error tool_error code="ValueError" from_code`, `results` + inB + unnamed,
		}},
		{"of two tools", []string{statusIs("working", calls("c", "f", false)+","+calls("c", "g", false), in("a")), asked("a"), statusIs("working", toolResult("c", "g", `{}`)+","+toolResult("c", "g", `{}`)+","+toolResult("c", "f", `{}`), in("a"))}, []string{
			`calls` + inA + `; tool_started name="f" call="c" ` + args + `; tool_started name="g" call="c" reuses_id ` + args, `calls` + inA + `; other`, `results` + inA + strings.Replace(unnamed, "f", "g", 1) + unnamed,
		}},
		{"answered without a branch", []string{asked("a"), asked("b"), got("a"), statusIs("working", toolResult("c", "f", `{}`), adkEvent("")), statusIs("input-required", calls("c", "f", true), in("b"))}, []string{
			`calls` + inA + `; tool_started name="f" call="c" ` + args, `calls` + inB + `; tool_started name="f" call="c" reuses_id ` + args,
			`results` + inA + unnamed, `results agent="a"` + unnamed, `awaited` + inB + `; input_requested call="t" clarification`,
		}},
	})
}
