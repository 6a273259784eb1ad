package langgraph

import (
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestPrompts sends the prompts of completion models, which are no messages.
func TestPrompts(t *testing.T) {
	event := func(kind, data string) sent {
		return sent{"events", `{"event":"` + kind + `","name":"OpenAI","run_id":"x","tags":[],"metadata":{"langgraph_node":"agent"},"data":` + data + `,"parent_ids":[]}`}
	}
	const prompts = `{"prompts":["System: secret\nHuman: hi"]}`
	values := []string{
		`{"text":"secret","type":"StringPromptValue"}`,
		`{"messages":[{"type":"human","id":"h","content":"secret"}],"type":"ChatPromptValue"}`,
		`{"lc":1,"type":"constructor","id":["langchain","prompts","base","StringPromptValue"],"kwargs":{"text":"secret"}}`,
		`{"lc":1,"type":"constructor","id":["langchain_core","prompt_values","ChatPromptValue"],"kwargs":{"messages":["secret"]}}`,
		`{"lc":1,"type":"constructor","id":["x","SystemMessagePromptTemplate"],"kwargs":{"prompt":{"template":"secret"}}}`,
	}
	streams := []sent{
		event("on_llm_start", `{"input":`+prompts+`}`), event("On_LLM_Start", `{"input":"secret"}`), event("on_llm_end", `{"output":{},"input":`+prompts+`}`),
		event("on_llm_error", `{"error":"x","input":"secret"}`), event("on_chain_start", `{"input":{"a":[{"Prompts":"secret"}]}}`),
		event("on_prompt_start", `{"input":{"role":"secret"}}`), event("on_prompt_end", `{"output":"secret"}`),
		{"tasks", `{"id":"1","name":"a","input":` + prompts + `,"triggers":[]}`}, {"tasks", `{"id":"1","name":"a","result":{"a":` + prompts + `},"interrupts":[]}`},
		{"debug", `{"type":"task","step":1,"payload":{"id":"1","name":"a","input":` + prompts + `}}`},
	}
	for _, value := range values {
		streams = append(streams, event("on_chain_end", `{"output":`+value+`}`), event("on_chain_stream", `{"chunk":`+value+`}`),
			sent{"tasks", `{"id":"1","name":"a","input":{"p":` + value + `},"triggers":[]}`}, sent{"custom", `{"p":` + value + `}`},
			sent{"values", `{"messages":[],"p":` + value + `}`}, sent{"updates", `{"a":{"p":` + value + `}}`}, sent{"checkpoints", `{"values":{"p":` + value + `}}`},
			sent{"debug", `{"type":"task","step":1,"payload":{"id":"1","name":"a","input":` + value + `}}`})
	}
	for _, stream := range streams {
		checkStaysIn(t, []filter.Settings{client, public}, stream)
	}
	for _, stream := range []sent{
		event("on_llm_stream", `{"chunk":{"text":"shown","type":"GenerationChunk"}}`), event("on_llm_end", `{"output":{"generations":[[{"text":"shown"}]]}}`),
		{"tasks", `{"id":"1","name":"a","input":{"a":"shown","prompts":[]},"triggers":[]}`},
	} {
		if out := leaving(client, stream); !strings.Contains(out, "shown") {
			t.Errorf("%v does not leave", stream)
		}
	}
}
