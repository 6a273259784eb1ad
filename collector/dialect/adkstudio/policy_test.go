package adkstudio_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/adkstudio"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// withheld stands for the output of a withheld frame.
const withheld = "withheld"

// unchanged stands for output that equals the frame.
const unchanged = "unchanged"

// policyCase is a frame, given as "name data", and its output under each policy. The output under public must
// not contain "secret".
type policyCase struct{ sent, client, public string }

// TestPoliciesOfText checks frames of plain text.
func TestPoliciesOfText(t *testing.T) {
	testPolicies(t, []policyCase{
		{"session secret", unchanged, withheld},
		{"chunk Hello\n  world", unchanged, "chunk Hello\n  world"},
		{`chunk {"type":"internal:x"}`, unchanged, `chunk {"type":"internal:x"}`},
		{"chunk 123", unchanged, "chunk 123"},
		{"agent writer", unchanged, "agent writer"},
		{"error secret at https://example.org/?key=secret", unchanged, "error the run failed"},
		{"end ", unchanged, "end "},
		{`session {"session_id":"s","kind":"internal:x"}`, withheld, withheld},
		{`agent {"type":"internal:x"}`, withheld, withheld},
		{`error {"kind":"internal:x"}`, withheld, withheld},
		{`end {"event":"internal:x"}`, withheld, withheld},
		{`agent {"type":"writer"}`, unchanged, "agent "},
	})
}

// TestPublicEnd checks that the end of a run leaves publicly, without a text that may not.
func TestPublicEnd(t *testing.T) {
	f, got := filter.New(filter.Settings{Policy: event.PolicyPublic}), ""
	decodeAll(t, []string{"session u", `end {"secret":"x"}`}, func(b *event.Batch) {
		if frame, why := f.Apply(b); why == filter.Passed {
			got += frame.Name + " " + string(frame.Data)
		}
	})
	if got != "end " {
		t.Errorf("%q leaves, want the end without its text", got)
	}
}

// TestEqualChunks checks that every chunk leaves, also one that repeats the answer, and that a reader of
// events gets equal chunks that begin an answer.
func TestEqualChunks(t *testing.T) {
	for _, c := range []struct{ sent, text string }{
		{"chunk ha|chunk ha|chunk ha|chunk ha|chunk ha", "hahahahaha"},
		{"chunk ha|debug {}|chunk ha|log {}|chunk ha|chunk !", "hahaha!"},
		{"chunk a|chunk b|chunk ab|chunk ab", "ab"},
		{"chunk ha|chunk ha|agent x|chunk ha", "ha"},
		{"chunk ha|chunk haha|chunk hahaha|chunk hahaha", "hahaha"},
	} {
		for _, s := range []filter.Settings{{Policy: event.PolicyClient}, {Policy: event.PolicyPublic}} {
			text, f := "", filter.New(s)
			decodeAll(t, strings.Split(c.sent, "|"), func(b *event.Batch) {
				if _, why := f.Apply(b); why != filter.Passed && b.Type == "chunk" {
					t.Errorf("%s, %s: a chunk is withheld: %s", c.sent, s.Policy, why)
				}
				for i := range b.Events {
					if b.Events[i].Kind == event.KindText && b.Partial {
						text += string(b.Events[i].Text())
					}
				}
			})
			if text != c.text {
				t.Errorf("%s: the text is %q, want %q", c.sent, text, c.text)
			}
		}
	}
}

// TestPoliciesOfObjects checks frames of JSON, and frames that both policies withhold.
func TestPoliciesOfObjects(t *testing.T) {
	testPolicies(t, []policyCase{
		{`trace {"type":"node_start","node":"a","step":1,"state_snapshot":{"input":{"q":"secret"},"output":{}},"state_keys":["secret"]}`, unchanged,
			`trace {"type":"node_start","node":"a","step":1,"state_snapshot":{"output":{}}}`},
		{`trace {"type":"node_end","node":"a","step":1,"duration_ms":5,"state_snapshot":{"input":{"q":"secret"},"output":{"q":"secret"}},"state_keys":["secret"]}`, unchanged,
			`trace {"type":"node_end","node":"a","step":1,"duration_ms":5}`},
		{`trace {"type":"state","state_snapshot":{"input":{},"output":{"r":"secret"}},"state":{"r":"secret"}}`, unchanged, `trace {"type":"state","state_snapshot":{"input":{}}}`},
		{`trace {"type":"done","total_steps":2,"state_snapshot":{"input":{},"output":{"r":"secret"}}}`, unchanged, `trace {"type":"done","total_steps":2,"state_snapshot":{"input":{}}}`},
		{`tool_call {"name":"f","args":{"q":"secret"}}`, unchanged, `tool_call {"name":"f"}`},
		{`tool_call {"name":"f","args":"{\"q\":\"secret\"}"}`, unchanged, `tool_call {"name":"f"}`},
		{`tool_result {"name":"f","result":"secret"}`, unchanged, `tool_result {"name":"f"}`},
		{`thinking {"content":"secret","agent":"a"}`, unchanged, withheld},
		{`interrupt {"type":"interrupt","node_id":"a","message":"Go on?","data":{"plan":"secret"},"thread_id":"secret","checkpoint_id":"secret","timestamp":1706400000000}`, unchanged,
			`interrupt {"type":"interrupt","node_id":"a","message":"Go on?","timestamp":1706400000000}`},
		{`resume {"type":"resume","node_id":"a","timestamp":1706400000000,"response":"secret"}`, unchanged, `resume {"type":"resume","node_id":"a","timestamp":1706400000000}`},
		{`log {"message":"Calling secret (tools: 2)"}`, unchanged, withheld},

		// Withheld under both policies.
		{`debug {"level":"debug","category":"response","agent":"system","summary":"secret","detail":{"response":"secret"},"timestamp":1706400000000}`, withheld, withheld},
		{`trace {"type":"message","node":"a","content":"secret"}`, withheld, withheld},
		{`trace {"type":"updates","node":"a","updates":{"x":"secret"}}`, withheld, withheld},
		{`trace {"type":"custom","node":"a","data":{"author":"a","content":"secret"}}`, withheld, withheld},
		{`trace {"type":"interrupted","node":"a","thread_id":"secret"}`, withheld, withheld},
		{`trace {"type":"internal:node_start","node":"secret"}`, withheld, withheld},
		{`trace {"type":"node_start","node":"secret","step":0,"event":"internal:x"}`, withheld, withheld},
		{`trace {"node":"secret"}`, withheld, withheld},
		{`tool_call {"name":"f","type":"internal:x","args":"secret"}`, withheld, withheld},
		{`tool_result {"name":"f","result":{"kind":"internal:x","y":"secret"}}`, unchanged, `tool_result {"name":"f"}`}, // the user's data
		{`tool_call {"name":"f","Result":{"kind":"internal:x","y":"secret"}}`, withheld, withheld},
		{`trace {"type":"node_start","node":"secret","result":[{"type":"internal:x"}]}`, withheld, withheld},
		{`tool_call {"name":"f","event":[{"type":"internal:x"}],"args":"secret"}`, withheld, withheld},
		{`tool_call {"name":"f","result":{"rawEvent":{"type":"internal:x"}},"args":"secret"}`, withheld, withheld},
		{`internal:trace {"type":"node_start","node":"secret"}`, withheld, withheld},
		{`whatever {"secret":1}`, withheld, withheld},
		{` {"type":"node_start","node":"secret"}`, withheld, withheld},
		{`trace {"type":"node_start","node":"secret"`, withheld, withheld},
		{`trace {"type":"node_start","node":"a","Node":"secret"}`, withheld, withheld},
		{"chunk secret \xff", withheld, withheld},
	})
}

func testPolicies(t *testing.T, cases []policyCase) {
	t.Helper()
	for _, c := range cases {
		want := c.client
		if want == unchanged {
			want = c.sent
		}
		client := filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}
		if got := filterFrame(t, client, c.sent); got != want {
			t.Errorf("client: filtering %s\ngives %s\nwant  %s", c.sent, got, want)
		}
		got := filterFrame(t, filter.Settings{Policy: event.PolicyPublic}, c.sent)
		if got != c.public || strings.Contains(got, "secret") {
			t.Errorf("public: filtering %s\ngives %s\nwant  %s", c.sent, got, c.public)
		}
	}
}

// TestSettings checks the settings for thoughts, state and excluded kinds.
func TestSettings(t *testing.T) {
	const thought = `thinking {"content":"Hm.","agent":"a"}`
	if got := filterFrame(t, filter.Settings{Policy: event.PolicyPublic, Thoughts: event.ThoughtsDetailed}, thought); got != thought {
		t.Errorf("with thoughts, a thought becomes %s", got)
	}
	const state = `trace {"type":"state","state_snapshot":{"input":{},"output":{"shown":1,"hidden":2}}}`
	if got := filterFrame(t, filter.Settings{Policy: event.PolicyPublic, StateKeys: []string{"shown"}}, state); got != strings.Replace(state, `,"hidden":2`, "", 1) {
		t.Errorf("with a state key, state becomes %s", got)
	}
	for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
		if got := filterFrame(t, filter.Settings{Policy: policy, Exclude: []event.Kind{event.KindToolStarted}}, `tool_call {"name":"f","args":{}}`); got != withheld {
			t.Errorf("%s: with calls excluded, a call becomes %s", policy, got)
		}
		if got := filterFrame(t, filter.Settings{Policy: policy, Exclude: []event.Kind{event.KindInputRequested}}, `interrupt {"node_id":"a","message":"secret"}`); got != withheld {
			t.Errorf("%s: with requests for input excluded, one becomes %s", policy, got)
		}
	}
}

// TestAuthorsOfChunks checks that a chunk that repeats texts leaves only if the settings list all of their authors.
func TestAuthorsOfChunks(t *testing.T) {
	begin := func(node string) string { return `trace {"type":"node_start","node":"` + node + `","step":0}` }
	long := strings.Repeat("x", 64<<10)
	for name, c := range map[string]struct {
		sent   []string
		leaves bool // with writer as the only author, whether the last chunk leaves
	}{
		"the first":                         {[]string{begin("writer"), "chunk secret"}, true},
		"its own text":                      {[]string{begin("writer"), "chunk a", "chunk ab"}, true},
		"another's text":                    {[]string{begin("reader"), "chunk secret", begin("writer"), "chunk secret and"}, false},
		"only another's text":               {[]string{begin("reader"), "chunk secret", begin("writer"), "chunk secret"}, false},
		"its text after":                    {[]string{begin("reader"), "chunk secret", begin("writer"), "chunk a", "chunk ab"}, true},
		"both texts":                        {[]string{begin("reader"), "chunk secret", begin("writer"), "chunk a", "chunk secreta"}, false},
		"a text without a node":             {[]string{"chunk secret", begin("writer"), "chunk secret"}, false},
		"a text that it began":              {[]string{begin("writer"), "chunk a", begin("reader"), begin("writer"), "chunk ab"}, true},
		"within one node":                   {[]string{begin("writer"), begin("reader"), "chunk secret", `trace {"type":"message","node":"writer"}`, "chunk secret and"}, false},
		"in JSON":                           {[]string{begin("reader"), "chunk 12", begin("writer"), "chunk 123"}, false},
		"of more nodes than are remembered": {append(beginAll(begin, 256), begin("reader"), "chunk secret"), false},
		"after an unreadable start":         {[]string{begin("writer"), `trace {"type":"node_start","node":"reader","a":1,"A":1}`, "chunk secret"}, false},
		"after an unreadable agent":         {[]string{"agent writer", "agent \xff", "chunk secret"}, false},
		"of a text too long":                {[]string{begin("reader"), "chunk a", begin("writer"), "chunk " + long, "chunk b"}, false},
	} {
		for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
			f, last := filter.New(filter.Settings{Policy: policy, Authors: []string{"writer"}}), filter.Passed
			decodeAll(t, c.sent, func(b *event.Batch) { _, last = f.Apply(b) })
			if (last == filter.Passed) != c.leaves {
				t.Errorf("%s, %s: the last chunk is withheld: %q", name, policy, last)
			}
		}
	}
}

// beginAll returns the starts of n nodes whose name is writer.
func beginAll(begin func(string) string, n int) (starts []string) {
	for i := range n {
		starts = append(starts, strings.Replace(begin("writer"), `"step":0`, fmt.Sprintf(`"step":%d`, i+1), 1))
	}
	return starts
}

// TestPartsOfWithheldStarts checks that the parts of a node or a call with a withheld start are withheld too, but no copy of
// their texts, and nothing because of a name.
func TestPartsOfWithheldStarts(t *testing.T) {
	const (
		call, result = `tool_call {"name":"f","args":{}}`, `tool_result {"name":"f","result":"secret"}`
		hiddenCall   = `tool_call {"name":"f","args":{},"event":"internal:x"}`
		node, end    = `trace {"type":"node_start","node":"a","step":1}`, `trace {"type":"node_end","node":"a","step":1,"state_snapshot":{"input":{},"output":{"r":"secret"}}}`
		hiddenNode   = `trace {"type":"node_start","node":"a","step":1,"event":"internal:x"}`
		nextNode     = `trace {"type":"node_start","node":"b","step":2}`
	)
	unnamed := strings.NewReplacer(`"a"`, `7`).Replace
	for _, c := range []struct {
		sent   []string
		leaves bool // the last frame
	}{
		{[]string{call, result}, true},
		{[]string{result}, true},
		{[]string{hiddenCall, result}, false},
		{[]string{call, hiddenCall, result}, false},
		{[]string{hiddenCall, call, result}, false},
		{[]string{hiddenCall, call, result, result}, true},
		{append(slices.Repeat([]string{`tool_call {"name":"g"}`}, 256), hiddenCall, result), false},
		{append(slices.Repeat([]string{`tool_call {"name":"g"}`}, 256), hiddenCall, `tool_result {"name":"g"}`), true},
		{[]string{hiddenCall, `tool_result {"result":"secret"}`}, false},
		{[]string{hiddenCall, `tool_result {"name":"g","result":"shown"}`}, true},
		{[]string{hiddenCall, "end ", call, result}, true},
		{[]string{"chunk shown", `debug {"detail":{"fields":{"message":"tool_error","tool.name":"f"}}}`, result}, true},
		{[]string{node, "chunk shown", end}, true},
		{[]string{hiddenNode, "chunk secret"}, false},
		{[]string{hiddenNode, `thinking {"content":"secret","agent":"a"}`}, false},
		{[]string{hiddenNode, end}, false},
		{[]string{hiddenNode, "chunk secret", end, nextNode, "chunk shown"}, true},
		{[]string{hiddenNode, "chunk copied", end, nextNode, "chunk copied"}, true},
		{[]string{nextNode, unnamed(hiddenNode), "chunk secret"}, false},
		{[]string{`trace {"type":"node_start","step":1,"kind":"internal:x"}`, "chunk secret"}, false},
		{[]string{strings.Replace(hiddenNode, `"a"`, `"user"`, 1), "chunk secret"}, false},
		{[]string{unnamed(hiddenNode), call}, false},
		{[]string{unnamed(hiddenNode), call, nextNode, result}, false},
		{[]string{unnamed(hiddenNode), `thinking {"content":"secret","agent":7}`}, false},
		{[]string{unnamed(hiddenNode), nextNode, unnamed(end)}, false},
		{[]string{unnamed(hiddenNode), nextNode, "chunk shown"}, true},
		{[]string{unnamed(hiddenNode), nextNode, call, result}, true},
		{[]string{unnamed(hiddenNode), `trace {"type":"done","state":{}}`}, true},
		{[]string{nextNode, unnamed(node), "chunk shown"}, true},
		{[]string{hiddenNode, end, `trace {"type":"done","state":{"r":"copied"}}`}, true},
		{[]string{hiddenNode, call}, false},
		{[]string{hiddenNode, call, end, result}, false},
		{[]string{hiddenNode, call, `tool_call {"name":"g","a":1,"A":1}`, end, result}, false},
		{[]string{hiddenNode, `interrupt {"node_id":"a","message":"secret"}`}, false},
		{[]string{hiddenNode, strings.Replace(node, `"step":1`, `"step":2`, 1), "chunk shown"}, true},
		{[]string{`trace {"type":"node_start","node":"a","step":1,"a":1,"A":1}`, "chunk shown"}, true},
		{[]string{`tool_call {"name":"f","a":1,"A":1}`, result}, true},
		{[]string{strings.Replace(node, `"a"`, `"internal_x"`, 1), "chunk shown"}, true},
		{[]string{strings.Replace(node, `"a"`, `"internal_x"`, 1), strings.Replace(end, `"a"`, `"internal_x"`, 1)}, true},
		{[]string{strings.Replace(node, `"a"`, `"internal_x"`, 1)}, true},
		{[]string{"agent internal_x"}, true},
		{[]string{`thinking {"content":"shown","agent":"internal_x"}`}, true},
		{[]string{strings.Replace(call, `"f"`, `"internal_x"`, 1)}, true},
		{[]string{strings.Replace(call, `"f"`, `"internal_x"`, 1), strings.Replace(result, `"f"`, `"internal_x"`, 1)}, true},
		{[]string{hiddenNode, end, "end "}, true},
	} {
		f, last := filter.New(filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}), filter.Passed
		decodeAll(t, c.sent, func(b *event.Batch) { _, last = f.Apply(b) })
		if (last == filter.Passed) != c.leaves {
			t.Errorf("%s: the last frame is withheld for %q", strings.Join(c.sent, "\n"), last)
		}
	}
}

// TestManyWithheldNodes begins more internal nodes than are remembered. What belongs to one of them is withheld.
func TestManyWithheldNodes(t *testing.T) {
	for _, n := range []int{300, 1100} {
		var sent []string
		for i := range n {
			sent = append(sent, fmt.Sprintf(`trace {"type":"node_start","node":"n%[1]d","step":%[1]d,"event":"internal:x"}`, i))
		}
		for _, i := range []int{0, n - 1} {
			for _, last := range []string{
				`trace {"type":"node_end","node":"n%[1]d","step":%[1]d}`, `thinking {"content":"secret","agent":"n%d"}`, `interrupt {"node_id":"n%d","message":"secret"}`,
			} {
				f, why := filter.New(filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed}), filter.Passed
				last = fmt.Sprintf(last, i)
				decodeAll(t, append(sent, last), func(b *event.Batch) { _, why = f.Apply(b) })
				if why == filter.Passed {
					t.Errorf("after %d nodes, %s leaves", n, last)
				}
			}
		}
	}
}

// TestFailure checks that an unreadable error is decoded as one and replaced.
func TestFailure(t *testing.T) {
	if b := decode(t, "error \xff"); b.Rejected == "" || len(b.Events) != 1 || b.Events[0].Kind != event.KindError || b.Table.FailureData == "" {
		t.Errorf("Rejected = %q with %d events, FailureData = %q; want one error", b.Rejected, len(b.Events), b.Table.FailureData)
	}
}

// filterFrame returns a frame after the filter, as "name data", or withheld.
func filterFrame(t *testing.T, s filter.Settings, sent string) string {
	t.Helper()
	frame, why := filter.New(s).Apply(decode(t, sent))
	if why != filter.Passed {
		return withheld
	}
	return frame.Name + " " + string(frame.Data)
}

func decode(t *testing.T, sent string) (b *event.Batch) {
	t.Helper()
	decodeAll(t, []string{sent}, func(got *event.Batch) { b = got })
	return b
}

// decodeAll decodes the frames of a stream.
func decodeAll(t *testing.T, sent []string, each func(*event.Batch)) {
	t.Helper()
	var wire []byte
	for _, one := range sent {
		name, data, _ := strings.Cut(one, " ")
		var err error
		if wire, err = sse.AppendFrame(wire, sse.Frame{Event: []byte(name), Data: []byte(data)}); err != nil {
			t.Fatal(err)
		}
	}
	c := collector.New([]dialect.Dialect{adkstudio.Dialect{}}, collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 128}, nil)
	input := collector.Input{Reader: strings.NewReader(string(wire)), ReceivedAt: func() time.Time { return time.Time{} }}
	decoder := c.Decode(&event.Stream{}, input, "adkstudio")
	for range sent {
		b, err := decoder.Next()
		if err != nil {
			t.Fatal(err)
		}
		each(b)
	}
}
