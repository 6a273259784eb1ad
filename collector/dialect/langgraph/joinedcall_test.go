package langgraph

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// argumentPiece is a piece of the arguments of a call. The first piece of a call has an ID and a tool.
func argumentPiece(message string, index int, id, tool, args string) sent {
	begins := `"id":null,"name":null`
	if id != "" {
		begins = `"id":"` + id + `","name":"` + tool + `"`
	}
	chunk := fmt.Sprintf(`{"args":%s,"index":%d,%s}`, strconv.Quote(args), index, begins)
	return sent{"messages", `[{"type":"AIMessageChunk","id":"` + message + `","content":"","tool_call_chunks":[` + chunk + `]},` + atModel + `]`}
}

// lastPiece ends a message.
func lastPiece(message string) sent {
	return sent{"messages", `[{"type":"AIMessageChunk","id":"` + message + `","content":"","tool_call_chunks":[],"chunk_position":"last"},` + atModel + `]`}
}

// resultOf is the result of a call.
func resultOf(call, tool, content string) sent {
	return sent{"messages", `[{"type":"tool","id":"r-` + call + `","name":"` + tool + `","tool_call_id":"` + call + `","content":"` + content + `"},` + atTools + `]`}
}

// TestJoinedArguments has arguments in pieces name an internal subagent. No other frame has the whole call.
func TestJoinedArguments(t *testing.T) {
	within := sent{"values|tools:2", `{"messages":[{"type":"human","id":"h2","content":"secret"}]}`}
	long := strings.Repeat("x", 2*maxArguments)
	for name, args := range map[string][]string{
		"divided":        {`{"subagent_type": "int`, `ernal_x", "description": "d"}`},
		"unclosed":       {`{"subagent_type": "int`, `ernal_x`},
		"escaped":        {`{"subagent_type":"\u0069nternal_x"}`},
		"escaped name":   {`{"subagent\u005ftype":"internal_x"}`},
		"divided escape": {`{"subagent_type":"\u0`, `069nternal_x"}`},
		"a pair":         {`{"subagent_type":"\ud835`, `\udc56nternal_x"}`},
		"a list":         {`{"subagent_type":["writer"`, `,"internal_x"]}`},
		"an object":      {`{"subagent_type":{"a":"internal_x"}}`},
		"after others":   {`{"a":[{"subagent":"x"}],"b":"\"`, `}","subagent_type":"internal_x"}`},
		"after 32 KiB":   {`{"description":"` + long, `","subagent_type":"internal_x"}`},
		"after a blank":  {`{"subagent_type":"` + strings.Repeat(" ", 300), `internal_x"}`},
	} {
		for _, tool := range []string{"task", "ask"} {
			for _, ends := range []bool{true, false} {
				stream := []sent{argumentPiece("m1", 0, "c1", tool, "")}
				for _, piece := range args {
					stream = append(stream, argumentPiece("m1", 0, "", "", piece))
				}
				if ends {
					stream = append(stream, lastPiece("m1"))
				}
				for _, reader := range []filter.Settings{client, public} {
					if out := leaving(reader, append(stream, within, resultOf("c1", tool, "secret"))...); strings.Contains(out, "secret") {
						t.Errorf("%s, %s, %s, ends %v: this leaves: %.300s", name, tool, reader.Policy, ends, out[max(0, len(out)-300):])
					}
				}
			}
		}
	}
	for name, args := range map[string]string{
		"another subagent": `{"subagent_type":"writer","description":"the internal_x"}`, "another member": `{"a":"subagent_type","b":"internal_x"}`,
		"after the member": `{"subagent_type":["writer"],"b":"internal_x"}`, "in a text": `{"content":"{\"subagent_type\":\"internal_x\"}"}`, "a number": `{"subagent_type":1,"b":{"c":["internal_x"]}}`,
	} {
		stream := []sent{argumentPiece("m1", 0, "c1", "task", "")}
		for i := range args {
			stream = append(stream, argumentPiece("m1", 0, "", "", args[i:i+1]))
		}
		if out := leaving(client, append(stream, within, resultOf("c1", "task", "secret"))...); strings.Count(out, "secret") != 2 {
			t.Errorf("%s: what is not internal does not leave: %s", name, out)
		}
	}
}

// TestDividedTool divides the name of an internal tool.
func TestDividedTool(t *testing.T) {
	second := sent{"messages", `[{"type":"AIMessageChunk","id":"m1","content":"","tool_call_chunks":[{"id":null,"name":"nal_search","args":"secret","index":0}]},` + atModel + `]`}
	checkStaysIn(t, []filter.Settings{client, public}, argumentPiece("m1", 0, "c1", "inter", ""), second, argumentPiece("m1", 0, "", "", "secret"), resultOf("c1", "internal_search", "secret"))
}

// TestAlternatingPieces has the pieces of two calls of a message take turns. Some models' servers repeat the ID in each piece.
func TestAlternatingPieces(t *testing.T) {
	for _, repeats := range []bool{false, true} {
		id, tool := func(i int) string { return "" }, ""
		if repeats {
			id, tool = func(i int) string { return fmt.Sprintf("c%d", i+1) }, "task"
		}
		stream := []sent{argumentPiece("m1", 0, "c1", "task", ""), argumentPiece("m1", 1, "c2", "task", "")}
		for _, piece := range [][2]string{{`{"subagent_`, `{"subagent_`}, {`type":"wri`, `type":"inter`}, {`ter"}`, `nal_x"}`}} {
			stream = append(stream, argumentPiece("m1", 0, id(0), tool, piece[0]), argumentPiece("m1", 1, id(1), tool, piece[1]))
		}
		stream = append(stream, lastPiece("m1"))
		var frames []string
		for _, one := range stream {
			frames = append(frames, frame(one.name, one.data))
		}
		var got []string
		for _, line := range facts(nil, frames...) {
			if strings.Contains(line, "tool_started") {
				got = append(got, line)
			}
		}
		want := []string{`tool_started name="task" call="c1" {"subagent_type":"writer"}`, `tool_started name="task" call="c2" {"subagent_type":"internal_x"}`}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("repeats %v: -want +got\n%s", repeats, diff)
		}
		out := leaving(client, append(stream, resultOf("c1", "task", "shown"), resultOf("c2", "task", "secret"))...)
		if strings.Contains(out, "secret") || !strings.Contains(out, "shown") {
			t.Errorf("repeats %v: this leaves: %s", repeats, out)
		}
	}
}

// TestManyJoinedCalls has more messages and calls in pieces than are remembered. What is forgotten is in doubt.
func TestManyJoinedCalls(t *testing.T) {
	var stream []sent
	for i := range maxOpen + 1 {
		stream = append(stream, argumentPiece(fmt.Sprint("m", i), 0, fmt.Sprint("c", i), "task", `{"subagent_type":"inter`))
	}
	last := argumentPiece(fmt.Sprint("m", maxOpen), 0, "", "", `nal_x"}`)
	checkStaysIn(t, []filter.Settings{client, public}, append(stream, last, resultOf(fmt.Sprint("c", maxOpen), "task", "secret"))...)
	stream = []sent{argumentPiece("m", 0, "c", "task", `{"subagent_type":"inter`), argumentPiece("n", 0, "d", "task", `{"subagent_type":"writer"}`)}
	for i := range 2 * wire.MaxSet {
		stream = append(stream, argumentPiece(fmt.Sprint("m", i), 0, fmt.Sprint("c", i), "task", `{}`))
	}
	stream = append(stream, argumentPiece("m", 0, "", "", `nal_x"}`))
	checkStaysIn(t, []filter.Settings{client}, append(stream, resultOf("c", "task", "secret"))...)
	if out := leaving(client, append(stream, resultOf("d", "task", "shown"))...); !strings.Contains(out, "shown") {
		t.Error("the result of a call with complete arguments does not leave")
	}
	stream = []sent{argumentPiece("e", 0, "e", "now", ""), resultOf("e", "now", ""), argumentPiece("m", 0, "c", "task", "")}
	for i := range 2 * wire.MaxSet {
		stream = append(stream, argumentPiece(fmt.Sprint("m", i), 0, fmt.Sprint("c", i), "task", `{}`), resultOf(fmt.Sprint("c", i), "task", ""))
	}
	rest := []sent{argumentPiece("m", 0, "", "", `{"subagent_type":"int`), argumentPiece("m", 0, "", "", `ernal_x","d":"secret"}`), resultOf("c", "task", "secret")}
	if out := leaving(client, append(stream, rest...)...); strings.Contains(out, "secret") {
		t.Errorf("of a forgotten call without arguments, this leaves:\n%s", out[len(out)-600:])
	}
	if out := leaving(client, append(stream, resultOf("e", "now", "shown"))...); !strings.Contains(out, "shown") {
		t.Error("the result of a call without arguments does not leave again")
	}
}
