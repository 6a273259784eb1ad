package langgraph

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// through returns a filter with a policy.
func through(policy event.Policy) dialecttest.Filter {
	f := filter.New(filter.Settings{Policy: policy, Thoughts: event.ThoughtsDetailed})
	return func(b *event.Batch) (string, []byte, bool) {
		left, why := f.Apply(b)
		return left.Name, left.Data, why == filter.Passed
	}
}

const (
	oldTurn = `{"type":"human","id":"h0","content":"q0"},{"type":"ai","id":"lc_run--0","content":"OLD"}`
	newTurn = `{"type":"human","id":"h1","content":"q1"},{"type":"ai","id":"lc_run--1","content":"NEW"}`
)

// inboxRequest is a question about a tool call in the form of LangChain's inbox.
const inboxRequest = `{"action_request":{"action":"task","args":{"to":"secret"}},"config":{"allow_accept":true,"allow_edit":false},"description":"secret"}`

// TestFilteredStreamsInventNothing checks that a reader of the public stream reads the same as the agent's client: it needs what
// shows that a message is from an earlier run, returns control, or ends another way.
func TestFilteredStreamsInventNothing(t *testing.T) {
	for name, frames := range map[string][]string{
		"a node returns the whole history":       {frame("updates", `{"boss":{"messages":[`+oldTurn+`,`+newTurn+`]}}`)},
		"users in OpenAI's form":                 {frame("updates", `{"boss":{"messages":[{"role":"user","content":"q0"},{"type":"ai","id":"lc_run--0","content":"OLD"},{"role":"user","content":"q1"}]}}`)},
		"a node loads the history":               {frame("values", `{"messages":[{"type":"human","id":"h1","content":"q1"}]}`), frame("values", `{"messages":[`+oldTurn+`,`+newTurn+`]}`)},
		"a message before the input":             {frame("values", `{"messages":[{"type":"human","id":"h1","content":"q1"}]}`), frame("updates", `{"a":{"messages":[{"type":"ai","id":"lc_run--0","content":"OLD"},`+newTurn+`]}}`)},
		"a state after an update of the history": {frame("updates", `{"boss":{"messages":[`+oldTurn+`,`+newTurn+`]}}`), frame("values", `{}`), frame("values", `{"messages":[`+oldTurn+`,`+newTurn+`]}`)},
		"an Overwrite":                           {frame("updates", `{"boss":{"messages":{"value":[`+oldTurn+`,`+newTurn+`]}}}`)},
		"a result from the cache":                {frame("updates", `{"a":{"messages":[`+by("", "run-1", "x")+`]},"__metadata__":{"cached":true}}`)},
		"a canceled run":                         {frame("error", `{"error":"UserInterrupt","message":"User interrupted the run"}`)},
		"a run that is rolled back":              {frame("error", `{"error":"UserRollback","message":"a reason"}`)},
		"a graph's own timeout":                  {frame("error", `{"error":"TimeoutError","message":"late"}`)},
		"too many steps":                         {frame("updates", delegation), frame("error", `{"error":"GraphRecursionError","message":"25"}`)},
		"a failure":                              {frame("updates", delegation), frame("error", `{"error":"ValueError","message":"x"}`)},
		"a question about a call":                {frame("updates", delegation), frame("updates", `{"__interrupt__":[{"id":"i1","value":`+inboxRequest+`}]}`)},
		"questions about calls, without an ID":   {frame("updates", delegation), frame("updates", `{"__interrupt__":[{"value":[`+inboxRequest+`],"resumable":true,"ns":["a:1"]}]}`)},
	} {
		for _, policy := range []event.Policy{event.PolicyClient, event.PolicyPublic} {
			if found := dialecttest.Invented(Dialect{}, frame("metadata", started)+strings.Join(frames, ""), through(policy)); len(found) > 0 {
				t.Errorf("%s, %v: the filtered stream states %q", name, policy, found)
			}
		}
	}
}
