package openai_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// repeated returns an event many times, each time with other IDs in the place of X.
func repeated(n int, event string) (sent []string) {
	for i := range n {
		sent = append(sent, strings.ReplaceAll(event, "X", strconv.Itoa(i)))
	}
	return sent
}

const (
	addedCall   = `{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"fX","call_id":"cX","name":"f","arguments":""}}`
	addedResult = `{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call_output","id":"oX","call_id":"cX","output":"secret"}}`
	addedMCP    = `{"type":"response.output_item.added","output_index":3,"item":{"type":"mcp_call","id":"mX","name":"f","arguments":"secret","approval_request_id":"qX"}}`
	addedAsk    = `{"type":"response.output_item.added","output_index":1,"item":{"type":"mcp_approval_request","id":"qX","name":"f","arguments":""}}`
	addedChunk  = `{"id":"kX","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"id":"tX","function":{"name":"f"}}]},"finish_reason":"tool_calls"}]}`
	chunkResult = `{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"tool","tool_call_id":"tX","content":"secret"}}]}`
)

// TestItemsAfterMany begins items after more items than are recorded: ordinary calls, thoughts or withheld items. They leave, and so does the
// result of their call.
func TestItemsAfterMany(t *testing.T) {
	internal := func(sent string) string { return strings.Replace(sent, `{`, `{"kind":"internal",`, 1) }
	last := strings.NewReplacer("X", "last", `"o"`, `"secret"`, `"c"`, `"new"`, `"f"`, `"new"`)
	for name, c := range map[string]struct {
		settings []filter.Settings
		before   string
		sent     []string
	}{
		"a message after calls":       {[]filter.Settings{client, public, withoutThoughts}, addedCall, []string{added, delta}},
		"a message after thoughts":    {[]filter.Settings{client, public, withoutThoughts}, strings.Replace(addedCall, `"function_call"`, `"reasoning"`, 1), []string{added, delta}},
		"a message after calls alone": {[]filter.Settings{client, public}, strings.NewReplacer(`"f"`, `"fX"`, `"c"`, `"cX"`).Replace(called), []string{message}},
		"a message without an ID":     {[]filter.Settings{client, public, withoutThoughts}, strings.NewReplacer(`"f"`, `"fX"`, `"c"`, `"cX"`).Replace(called), []string{strings.Replace(message, `"id":"i",`, "", 1)}},
		"a message":                   {[]filter.Settings{client, public}, internal(addedCall), []string{added, delta}},
		"a result":                    {[]filter.Settings{client}, internal(addedCall), []string{addedCall, addedResult}},
		"an approved call":            {[]filter.Settings{client}, internal(addedAsk), []string{addedAsk, addedMCP}},
		"a message of the SDK":        {[]filter.Settings{client, public}, internal(strings.NewReplacer(`"f"`, `"fX"`, `"c"`, `"cX"`).Replace(called)), []string{message}},
		"a result of the SDK":         {[]filter.Settings{client}, internal(strings.NewReplacer(`"f"`, `"fX"`, `"c"`, `"cX"`).Replace(called)), []string{called, output}},
		"a result in a chunk":         {[]filter.Settings{client}, internal(addedChunk), []string{addedChunk, chunkResult}},
	} {
		first := []string{created}
		if strings.Contains(c.before, "run_item") {
			first = []string{agentA}
		} else if strings.Contains(c.before, "chunk") {
			first = nil
		}
		for _, s := range c.settings {
			sent := slices.Concat(first, repeated(2100, c.before))
			for _, next := range c.sent {
				sent = append(sent, last.Replace(next))
			}
			if out := leaving(t, s, stream(sent...)); !strings.Contains(out, "secret") {
				t.Errorf("%s under %s: it does not leave", name, s.Policy)
			}
		}
	}
}

// TestContinuationsAfterMany continues items that are withheld, although they are more than are recorded.
func TestContinuationsAfterMany(t *testing.T) {
	internal := func(sent string) string { return strings.Replace(sent, `{`, `{"kind":"internal",`, 1) }
	calls := strings.NewReplacer(`"f"`, `"fX"`, `"c"`, `"cX"`).Replace(called)
	for name, sent := range map[string][]string{
		"a result":            {internal(addedCall), addedResult},
		"a call that is done": {internal(addedCall), strings.NewReplacer("added", "done", `"arguments":""`, `"arguments":"secret"`).Replace(addedCall)},
		"an approved call":    {internal(addedAsk), addedMCP},
		"a result of the SDK": {internal(calls), strings.NewReplacer(`"o"`, `"secret"`, `"c"`, `"cX"`).Replace(output)},
		"an approval":         {internal(calls), strings.NewReplacer(`"f"`, `"fX"`, `"c"`, `"cX"`, `"{}"`, `"secret"`).Replace(asks)},
		"a message in an item": {
			internal(strings.NewReplacer(`"output_index":0,`, "", `"i"`, `"iX"`).Replace(added)), strings.Replace(message, `"i"`, `"iX"`, 1)},
		"a result in a chunk": {internal(addedChunk), chunkResult},
	} {
		t.Run(name, func(t *testing.T) {
			checkStaysIn(t, []filter.Settings{client, public}, append(repeated(1100, sent[0]), strings.ReplaceAll(sent[1], "X", "1099"))...)
		})
	}
}

// TestForgottenThoughts continues thoughts that began before more others than are recorded.
func TestForgottenThoughts(t *testing.T) {
	thought := strings.NewReplacer(`"id":"i"`, `"channel":"analysis","id":"nX"`, `"output_index":0,`, "").Replace(added)
	part := `{"type":"response.content_part.added","item_id":"last","content_index":X,"part":{"type":"reasoning_text","text":""}}`
	for name, sent := range map[string][]string{
		"many items": append(repeated(1200, thought), strings.NewReplacer(`"i"`, `"n0"`, `"output_index":0,`, "").Replace(delta)),
		"an item":    slices.Concat(repeated(1, thought), repeated(1200, strings.ReplaceAll(part, "last", "other")), []string{strings.NewReplacer(`"i"`, `"n0"`, `"output_index":0,`, "").Replace(delta)}),
		"a part": slices.Concat([]string{strings.NewReplacer(`"i"`, `"last"`, `"output_index":0,`, "").Replace(added), strings.Replace(part, "X", "0", 1)}, repeated(1200, strings.ReplaceAll(part, "last", "other")),
			[]string{strings.NewReplacer(`"i"`, `"last","content_index":0`, `"output_index":0,`, "").Replace(delta)}),
	} {
		t.Run(name, func(t *testing.T) {
			checkStaysIn(t, []filter.Settings{public, withoutThoughts}, append([]string{created}, sent...)...)
		})
	}
}
