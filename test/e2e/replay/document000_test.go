package replay_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// document000 has the examples of document 000 by section, each as an ADK event.
var document000 = []documentExample{
	{"3.1 Core ADK Event Model, each type of part", []string{
		adkPart("plan_generator", `{"text":"Hello from agent"}`),
		adkPart("plan_generator", `{"text":"This is a thought","thought":true}`),
		adkPart("plan_generator", adkSearch),
		adkPart("plan_generator", adkFound),
		adkPart("plan_generator", `{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"4"}}`),
		adkPart("plan_generator", `{"text":"Done."}`)}},
	{"3.1 Core ADK Event Model, every member", []string{
		`{"id":"evt_1","author":"section_researcher","invocationId":"inv_456","timestamp":1760781600,"content":{"parts":[{"text":"Hello"}],"role":"model"},"actions":{"skip_summarization":true,"other":1},"longRunningToolIds":[],"branch":"dispatcher.section_researcher","partial":false}`}},
	{"3.1 Core ADK Event Model, partial", []string{
		`{"id":"evt_1","author":"plan_generator","invocationId":"inv_456","content":{"parts":[{"text":"Hello "}]},"partial":true}`,
		`{"id":"evt_2","author":"plan_generator","invocationId":"inv_456","content":{"parts":[{"text":"from agent"}]},"partial":true}`,
		`{"id":"evt_3","author":"plan_generator","invocationId":"inv_456","content":{"parts":[{"text":"Hello from agent"}]},"partial":false}`}},
	{"3.1 Core ADK Event Model, longRunningToolIds", []string{
		`{"id":"evt_1","author":"plan_generator","invocationId":"inv_456","content":{"parts":[` + adkSearch + `]},"longRunningToolIds":["fn_123"]}`}},
	{"4.1 useSSE.ts, the flattened events of before", []string{
		`{"type":"research_started","data":{"timestamp":"2025-10-18T10:00:00Z"}}`, `{"type":"research_update","data":{"timestamp":"2025-10-18T10:00:01Z"}}`,
		`{"type":"research_complete","data":{"timestamp":"2025-10-18T10:00:02Z"}}`}},
	{"4.2 sse-event-handlers.ts, authors", []string{
		adkUser, adkPart("plan_generator", `{"text":"The plan"}`), adkTransfer("plan_generator", "section_researcher"), adkPart("section_researcher", `{"text":"A section"}`),
		adkTransfer("section_researcher", "enhanced_search_executor"), adkPart("enhanced_search_executor", adkSearch), adkPart("enhanced_search_executor", adkFound),
		adkPart("enhanced_search_executor", `{"text":"It is found."}`)}},
	{"4.2 sse-event-handlers.ts, authors without a transfer", []string{
		adkUser, adkPart("plan_generator", `{"text":"The plan"}`), adkPart("section_researcher", `{"text":"A section"}`), adkPart("somebody_else", `{"text":"Who is it?"}`)}},
	{"4.3 selectDerivedMessages and selectThoughtProcesses", []string{
		adkUser, adkPart("plan_generator", `{"text":"First this.","thought":true},{"text":"Then that.","thought":true},{"text":"The plan"}`)}},
	{"5.1 should parse text content from content.parts[]", []string{
		adkPart("plan_generator", `{"text":"Hello from agent"},{"text":"This is a thought","thought":true}`)}},
	{"5.1 should extract function responses", []string{adkPart("section_researcher", adkFound)}},
	{"5.1 should extract function responses, with the call", []string{
		adkPart("section_researcher", adkSearch), adkPart("section_researcher", adkFound), adkPart("section_researcher", `{"text":"Two results."}`)}},
	{"5.1 should detect agent transfers", []string{adkTransfer("dispatcher", "section_researcher")}},
	{"5.2 should render multi-agent transcript with author labels", []string{
		adkTransfer("dispatcher", "plan_generator"), adkPart("plan_generator", `{"text":"The plan"}`),
		adkTransfer("plan_generator", "section_researcher"), adkPart("section_researcher", `{"text":"Qubits."}`)}},
	{"14 A parseAdkEvent, without an id", []string{`{"author":"plan_generator","invocationId":"inv_456","content":{"parts":[{"text":"Hello"}]}}`}},
	{"14 A parseAdkEvent, without an author", []string{adkPart("plan_generator", `{"text":"Hello"}`), `{"id":"evt_2","invocationId":"inv_456","content":{"parts":[{"text":"Hello"}]}}`}},
	{"14 A parseAdkEvent, without an invocationId", []string{adkPart("plan_generator", `{"text":"Hello"}`), `{"id":"evt_2","author":"plan_generator","content":{"parts":[{"text":"Hello"}]}}`}},
	{"14 A parseAdkEvent, no JSON", []string{adkPart("plan_generator", `{"text":"Hello"}`), `{"id":"evt_2","author":`, adkPart("plan_generator", `{"text":"again"}`)}},
	{"14 A isFinalResponse, a function call is none", []string{adkPart("plan_generator", adkSearch)}},
	{"14 A isFinalResponse, a partial event is none", []string{
		`{"id":"evt_1","author":"plan_generator","invocationId":"inv_456","content":{"parts":[{"text":"Hello "}]},"partial":true}`}},
	{"14 B selectAgentTransitions and selectLatestAgentStatus", []string{
		adkTransfer("dispatcher", "section_researcher"), adkPart("section_researcher", adkSearch)}},
}

const (
	adkUser   = `{"id":"evt_0","author":"user","invocationId":"inv_456","content":{"parts":[{"text":"Research quantum computing"}],"role":"user"}}`
	adkSearch = `{"functionCall":{"name":"web_search","args":{"query":"AI"},"id":"fn_123"}}`
	adkFound  = `{"functionResponse":{"name":"web_search","response":{"results":["result1","result2"]},"id":"fn_123"}}`
)

func adkPart(author, parts string) string {
	return fmt.Sprintf(`{"id":"evt_123","author":%q,"invocationId":"inv_456","content":{"parts":[%s]}}`, author, parts)
}

func adkTransfer(from, to string) string {
	return fmt.Sprintf(`{"id":"evt_transfer","author":%q,"invocationId":"inv_456","actions":{"transfer_to_agent":%q}}`, from, to)
}

// wireADK writes an event as the response to POST /run_sse does, with the second as its time if it has none.
func wireADK(second int, event string) string {
	if rest, whole := strings.CutSuffix(event, "}"); whole && !strings.Contains(event, `"timestamp"`) {
		event = fmt.Sprintf(`%s,"timestamp":%d}`, rest, documentStart.Add(time.Duration(second)*time.Second).Unix())
	}
	return "data: " + event + "\n\n"
}

// TestDocument000 replays every example of the document, a front end of the ADK.
func TestDocument000(t *testing.T) {
	designDocument{number: "000", examples: document000, wire: wireADK, secret: []string{"Research quantum computing", "result1", `"AI"`, "OUTCOME", "First this"}}.replay(t)
}
