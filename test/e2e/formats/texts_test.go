package formats_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/test/e2e/harness"
)

// Streams with texts that are open at the same time, and with texts that are written anew.
var (
	a2aPiece = func(id string, more bool, text string) string {
		return fmt.Sprintf(`data: {"jsonrpc":"2.0","id":1,"result":{"kind":"artifact-update","taskId":"t","contextId":"c","append":%t,"artifact":{"artifactId":%q,"parts":[{"kind":"text","text":%q}]}}}`+"\n\n", more, id, text)
	}
	a2aState = func(state string) string {
		return fmt.Sprintf(`data: {"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":"t","contextId":"c","status":{"state":%q}}}`+"\n\n", state)
	}
	a2aSnapshot = `data: {"jsonrpc":"2.0","id":1,"result":{"kind":"task","id":"t","contextId":"c","status":{"state":"working"},"artifacts":[{"artifactId":"a","parts":[{"kind":"text","text":"Alpha "}]}]}}` + "\n\n"
	a2aMissed   = strings.Replace(a2aSnapshot, `"Alpha "}`, `"Alpha "},{"kind":"text","text":"o"}`, 1)
	agnoText    = func(task, text string) string {
		return fmt.Sprintf(`data: {"jsonrpc":"2.0","id":1,"result":{"kind":"message","messageId":"m","taskId":%q,"contextId":"c","role":"agent","parts":[{"kind":"text","text":%q}]}}`+"\n\n", task, text)
	}
	agnoState = func(task, state, metadata string) string {
		return fmt.Sprintf(`data: {"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","taskId":%q,"contextId":"c","status":{"state":%q},"metadata":{%s}}}`+"\n\n", task, state, metadata)
	}
	aguiEvents = func(kind, id, more string) string {
		return fmt.Sprintf(`data: {"type":"TEXT_MESSAGE_%s","messageId":%q%s}`+"\n\n", kind, id, more)
	}
	aisdkPart = func(kind, id, more string) string {
		return fmt.Sprintf(`data: {"type":"text-%s","id":%q%s}`+"\n\n", kind, id, more)
	}
	chatChunk = func(index int, delta, finish string) string {
		return fmt.Sprintf(`data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":%d,"delta":%s,"finish_reason":%s}]}`+"\n\n", index, delta, finish)
	}
	sdkText = func(id, text string) string {
		return fmt.Sprintf(`data: {"type":"raw_response_event","data":{"type":"response.output_text.delta","output_index":0,"item_id":%q,"delta":%q}}`+"\n\n", id, text)
	}
	sdkMessage = func(id, text string) string {
		return fmt.Sprintf(`data: {"type":"run_item_stream_event","name":"message_output_created","item":{"type":"message_output_item","agent":{"name":"a"},"raw_item":{"type":"message","id":%q,"role":"assistant","content":[{"type":"output_text","text":%q}]}}}`+"\n\n", id, text)
	}
	graphChunk = func(id, node, text, response string) string {
		return fmt.Sprintf("event: messages\n"+`data: [{"type":"AIMessageChunk","id":%q,"content":%q,"response_metadata":%s},{"langgraph_node":%q,"langgraph_step":1,"langgraph_checkpoint_ns":"%[4]s:1"}]`+"\n\n", id, text, response, node)
	}
	adkParts = func(partial bool, parts string) string {
		return fmt.Sprintf(`data: {"invocationId":"e-1","author":"root","id":"x","partial":%t,"content":{"role":"model","parts":[%s]},"usageMetadata":{"totalTokenCount":1}}`+"\n\n", partial, parts)
	}
)

// TestTextsOfMessages checks that a text is recognized by its message and stated once, also for AG-UI's own client.
func TestTextsOfMessages(t *testing.T) {
	p, two := newPlayer(t), []string{"Alpha one", "Beta two"}
	for name, c := range map[string]struct {
		stream    []string
		want, a2a []string // a2a is nil if it is the same
	}{
		"a2a":                  {[]string{a2aState("submitted"), a2aPiece("a", false, "Alpha "), a2aPiece("b", false, "Beta "), a2aPiece("a", true, "one"), a2aPiece("b", true, "two"), a2aState("completed")}, two, nil},
		"a2a, whole":           {[]string{a2aState("submitted"), a2aPiece("a", false, "Alpha one"), a2aPiece("b", false, "Beta two"), a2aState("completed")}, two, nil},
		"a2a, growing":         {[]string{a2aState("submitted"), a2aPiece("a", false, "Alpha "), a2aPiece("a", false, "Alpha o"), a2aPiece("a", false, "Alpha one"), a2aState("completed")}, two[:1], nil},
		"a2a, replaced":        {[]string{a2aState("submitted"), a2aPiece("a", false, "Alpha one"), a2aPiece("a", false, "Beta "), a2aPiece("a", true, "two"), a2aState("completed")}, two, nil},
		"a2a, joined":          {[]string{a2aSnapshot, a2aPiece("a", true, "one"), a2aState("completed")}, []string{"one", "Alpha one"}, two[:1]},
		"a2a, missed":          {[]string{a2aState("submitted"), a2aPiece("a", false, "Alpha "), a2aMissed, a2aPiece("a", true, "ne"), a2aState("completed")}, two[:1], nil},
		"a2a, Agno's workflow": {[]string{agnoState("t", "working", ""), agnoText("t", "Alpha "), agnoText("t", "one"), agnoState("u", "working", ""), agnoText("u", "Beta "), agnoText("u", "two"), agnoState("u", "completed", "")}, two, nil},
		"a2a, Agno's team":     {[]string{agnoState("t", "working", ""), agnoState("u", "working", ""), agnoText("u", "Alpha "), agnoText("u", "one"), agnoState("u", "working", `"agno_event_type":"tool_call_completed","tool_name":"delegate_task_to_member"`), agnoText("u", "Beta "), agnoText("u", "two"), agnoState("u", "completed", "")}, two, nil},
		"agui": {[]string{
			`data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}` + "\n\n", aguiEvents("START", "a", `,"role":"assistant"`), aguiEvents("START", "b", `,"role":"assistant"`),
			aguiEvents("CONTENT", "a", `,"delta":"Alpha "`), aguiEvents("CONTENT", "b", `,"delta":"Beta "`), aguiEvents("CONTENT", "a", `,"delta":"one"`), aguiEvents("CONTENT", "b", `,"delta":"two"`),
			aguiEvents("END", "b", ""), aguiEvents("END", "a", ""), `data: {"type":"RUN_FINISHED","threadId":"t","runId":"r"}` + "\n\n",
		}, two, nil},
		"agui, of two agents": {[]string{
			`data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}` + "\n\n", aguiEvents("START", "a", `,"role":"assistant","subagentRunId":"1"`), aguiEvents("START", "a", `,"role":"assistant","subagentRunId":"2"`),
			aguiEvents("CONTENT", "a", `,"delta":"Alpha ","subagentRunId":"1"`), aguiEvents("CONTENT", "a", `,"delta":"Beta ","subagentRunId":"2"`),
			aguiEvents("CONTENT", "a", `,"delta":"one","subagentRunId":"1"`), aguiEvents("CONTENT", "a", `,"delta":"two","subagentRunId":"2"`),
			aguiEvents("END", "a", `,"subagentRunId":"1"`), aguiEvents("END", "a", `,"subagentRunId":"2"`), `data: {"type":"RUN_FINISHED","threadId":"t","runId":"r"}` + "\n\n",
		}, two, nil},
		"aisdk": {[]string{
			`data: {"type":"start","messageId":"m"}` + "\n\n", `data: {"type":"start-step"}` + "\n\n", aisdkPart("start", "0", ""), aisdkPart("start", "1", ""),
			aisdkPart("delta", "0", `,"delta":"Alpha "`), aisdkPart("delta", "1", `,"delta":"Beta "`), aisdkPart("delta", "0", `,"delta":"one"`), aisdkPart("delta", "1", `,"delta":"two"`),
			aisdkPart("end", "0", ""), aisdkPart("end", "1", ""), `data: {"type":"finish-step"}` + "\n\n", `data: {"type":"finish"}` + "\n\n", "data: [DONE]\n\n",
		}, two, nil},
		"openai, of one response": {[]string{
			`data: {"type":"agent_updated_stream_event","new_agent":{"name":"a"}}` + "\n\n", sdkText("i", "Alpha "), sdkText("i", "one"), sdkText("j", "Beta "), sdkText("j", "two"), sdkMessage("i", "Alpha one"), sdkMessage("j", "Beta two"), "data: [DONE]\n\n",
		}, two, nil},
		"openai": {[]string{
			chatChunk(0, `{"role":"assistant","content":"Alpha "}`, "null"), chatChunk(1, `{"role":"assistant","content":"Beta "}`, "null"),
			chatChunk(0, `{"content":"one"}`, "null"), chatChunk(1, `{"content":"two"}`, "null"), chatChunk(1, `{}`, `"stop"`), chatChunk(0, `{}`, `"stop"`), "data: [DONE]\n\n",
		}, two, nil},
		"langgraph": {[]string{
			graphChunk("run--1", "a", "Alpha ", "{}"), graphChunk("run--2", "b", "Beta ", "{}"), graphChunk("run--1", "a", "one", "{}"), graphChunk("run--2", "b", "two", "{}"),
			graphChunk("run--2", "b", "", `{"finish_reason":"stop"}`), graphChunk("run--1", "a", "", `{"finish_reason":"stop"}`),
		}, two, nil},
		"langgraph, unfinished": {[]string{graphChunk("run--1", "a", "Alpha one", "{}"), graphChunk("run--2", "b", "Beta ", "{}"), graphChunk("run--2", "b", "two", "{}")}, two, nil},
		"adk": {[]string{
			adkParts(true, `{"text":"Alpha "}`), adkParts(true, `{"text":"one"}`),
			adkParts(false, `{"text":"Alpha "},{"executableCode":{"language":"PYTHON","code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}},{"text":"one"}`),
		}, two[:1], nil},
		"adk, two responses": {[]string{
			adkParts(true, `{"text":"Alpha one"}`), adkParts(false, `{"text":"hm","thought":true},{"functionCall":{"id":"c","name":"f","args":{}}}`),
			strings.Replace(adkParts(false, `{"functionResponse":{"id":"c","name":"f","response":{}}}`), `"x"`, `"y"`, 1),
			strings.Replace(adkParts(true, `{"text":"Beta "}`), `"x"`, `"z"`, 1), strings.Replace(adkParts(true, `{"text":"two"}`), `"x"`, `"z"`, 1),
			strings.Replace(adkParts(false, `{"text":"Beta two"}`), `"x"`, `"z"`, 1),
		}, two, nil},
	} {
		file := filepath.Join(t.TempDir(), "stream.sse")
		if err := os.WriteFile(file, []byte(strings.Join(c.stream, "")), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, format := range []string{"agui", "a2a", "a2a-0.3"} {
			want := c.want
			if c.a2a != nil && format != "agui" {
				want = c.a2a
			}
			stream := harness.ReplayAs(t, "client", format, file)
			if got := statedTexts(t, stream); !slices.Equal(got, want) {
				t.Errorf("%s as %s: %q, want %q", name, format, got, want)
			}
			if format != "agui" {
				continue
			}
			if said := p.file(stream); said.Fault != "" || said.Errors == 0 && assistantText(said) != strings.Join(want, "") {
				t.Errorf("%s: AG-UI's client has %+v, want %q", name, said, want)
			}
		}
	}
}

// statedTexts returns the texts of an output in AG-UI or A2A, in the order of their beginnings.
func statedTexts(t *testing.T, output []byte) (all []string) {
	t.Helper()
	order := map[string]int{}
	add := func(id string, more bool, text string) {
		at, known := order[id]
		if !known {
			at, all = len(all), append(all, "")
			order[id] = at
		}
		if !more {
			all[at] = ""
		}
		all[at] += text
	}
	for _, f := range harness.Frames(t, output) {
		type update struct {
			Append   bool
			Artifact struct {
				ArtifactID string
				Parts      []struct{ Text *string }
			}
		}
		var e struct {
			Type, MessageID, Delta string
			Result                 struct {
				update
				ArtifactUpdate update
			}
		}
		if err := json.Unmarshal(f.Data, &e); err != nil {
			t.Fatal(err)
		}
		if e.Type == "TEXT_MESSAGE_CONTENT" {
			add(e.MessageID, true, e.Delta)
		}
		for _, u := range []update{e.Result.update, e.Result.ArtifactUpdate} {
			if len(u.Artifact.Parts) > 0 && u.Artifact.Parts[0].Text != nil {
				add(u.Artifact.ArtifactID, u.Append, *u.Artifact.Parts[0].Text)
			}
		}
	}
	return all
}
