package replay_test

import (
	"fmt"
	"strings"
	"testing"
)

// document002 has the examples of document 002 by section, each as an ADK event. Where the document abbreviates a JSON text
// ("adk-...", comments), it is completed.
var document002 = []documentExample{
	{"Event 1: Coordinator Delegates to All 4 Specialists", []string{briefDelegates}},
	{"Event 2: Function Responses from All 4 Specialists", []string{briefDelegates, briefAnswers}},
	{"Event 3-5: Coordinator Follow-Up and Synthesis, the whole briefing", []string{briefDelegates, briefAnswers, briefAsksAgain, briefAnswersAgain, briefSynthesis}},
	{"Finding 1, the proof layer as expected, in an event", []string{
		`{"author":"coordinator","invocationId":"e-1","content":{"parts":[{"text":"Done."}],"role":"model"},"proof_layer":` + briefLayer + `}`}},
	{"Finding 1, the proof layer as expected, in a response", []string{briefCall("burn_analyst"),
		briefResult("burn_analyst", `"result":"### 1. Summary","proof_layer":`+briefLayer), briefDone}},
	{"Finding 1, as it is", []string{briefText(`**Confidence:** 90%\n**Source:** MTBS\n...`)}},
	{"Finding 3, the stream ends before the synthesis", []string{briefDelegates, briefAnswers, briefAsksAgain}},
	{"Finding 3 Option A, STOP with a function call is no end", []string{
		`{"modelVersion":"gemini-2.0-flash","content":{"parts":[{"functionCall":{"id":"adk-1","name":"burn_analyst","args":{"request":"fire_id:cedar-creek-2022"}}}],"role":"model"},"finishReason":"STOP","invocationId":"e-1","author":"coordinator"}`}},
	{"Finding 4, Burn Analyst", briefSays("burn_analyst", `**Confidence:** 92%\n**Source:** MTBS, Imagery date: 2022-09-15`)},
	{"Finding 4, Trail Assessor", briefSays("trail_assessor", `**Confidence:** 90%\n**Source:** Cedar Creek field assessment 2022-10-25`)},
	{"Finding 4, Cruising Assistant", briefSays("cruising_assistant",
		`**Confidence:** 91%\n**Source:** Cedar Creek timber plot data, PNW salvage deterioration models, Regional market analysis 2025`)},
	{"Finding 4, NEPA Advisor", briefSays("nepa_advisor", `**Confidence:** High (90%) - Direct CFR citations\n**Confidence:** High (95%) - Direct CFR and FSM citations`)},
	{"Q3, what exists", briefSays("nepa_advisor", `**Confidence:** 90%\n**Source:** MTBS, Imagery date: 2022-09-15\n**Regulatory Basis:** 36 CFR 220.6(e)(13)`)},
	{"Phase 1 Option A, neither confidence nor source", briefSays("burn_analyst", `### 1. Summary`)},
	{"Phase 1 Option B", []string{briefCall("burn_analyst"), briefResult("burn_analyst",
		`"result":"...","proof_layer":{"confidence":0.92,"citations":[{"source":"MTBS","reference":"2022-09-15"}],"reasoning_chain":["Loaded sectors","Classified severity"]}`), briefDone}},
	{"Schema 1: Function Call Event", []string{
		`{"modelVersion":"gemini-2.0-flash","content":{"parts":[{"functionCall":{"id":"adk-1","name":"burn_analyst","args":{"request":"fire_id:cedar-creek-2022"}}}],"role":"model"},"finishReason":"STOP","usageMetadata":{"candidatesTokenCount":20,"promptTokenCount":100,"totalTokenCount":120},"avgLogprobs":-0.1,"invocationId":"e-1","author":"coordinator","actions":{"stateDelta":{},"artifactDelta":{}},"longRunningToolIds":[],"id":"ev-1"}`,
		`{"content":{"parts":[{"functionResponse":{"id":"adk-1","name":"burn_analyst","response":{"result":"Done"}}}],"role":"user"},"invocationId":"e-1","author":"coordinator","actions":{"stateDelta":{},"artifactDelta":{}},"id":"ev-2"}`,
		`{"modelVersion":"gemini-2.0-flash","content":{"parts":[{"text":"Done"}],"role":"model"},"finishReason":"STOP","usageMetadata":{"candidatesTokenCount":5,"promptTokenCount":130,"totalTokenCount":135},"avgLogprobs":-0.1,"invocationId":"e-1","author":"coordinator","actions":{"stateDelta":{},"artifactDelta":{}},"id":"ev-3"}`}},
	{"Schema 2, Embedded Proof Layer Format", briefSays("burn_analyst", `### 5. Confidence & Source\n**Confidence:** 92%\n**Source:** MTBS, Imagery date: 2022-09-15\n\n### 4. Recommendations\n- Deploy BAER team...\n\n### 3. Priority Areas\n- CORE-1: Central Fire Origin (HIGH severity)`)},
	{"Schema 3, Final Response Example", []string{briefText(`**Fire Severity:** ... (Confidence: 92%)\n**Infrastructure Damage:** ... (Confidence: 90%)\n**Timber Salvage:** ... (Confidence: 91%)\n**Overall Confidence:** 90%\n**Recommended Actions:**\n1. Deploy BAER team...`)}},
	{"What Backend Should Add, the enhanced return", []string{briefCall("burn_analyst"), briefResult("burn_analyst",
		`"result":"...","proof_layer":{"confidence":0.92,"citations":[{"source":"MTBS","reference":"Imagery 2022-09-15","uri":"data/fixtures/..."}],"reasoning_chain":["Loaded burn severity sectors from Cedar Creek fixture","Classified 8 sectors using dNBR thresholds","Identified 4 high-severity sectors (42% of total area)"]}`), briefDone}},
	{"What Backend Should Add, returned without a result", []string{briefCall("burn_analyst"), briefResult("burn_analyst",
		`"fire_id":"cedar-creek-2022","severity_breakdown":{},"proof_layer":`+briefLayer), briefDone}},
}

const (
	briefDelegates = `{"modelVersion":"gemini-2.0-flash","content":{"parts":[
{"functionCall":{"id":"adk-3ea2f26d-9a45-4d32-8544-c60c1afca831","args":{"request":"fire_id:cedar-creek-2022"},"name":"burn_analyst"}},
{"functionCall":{"id":"adk-b44d14f4-fa1e-406a-90f0-6b0fb1a88661","args":{"request":"fire_id:cedar-creek-2022"},"name":"trail_assessor"}},
{"functionCall":{"id":"adk-3","args":{"request":"fire_id:cedar-creek-2022"},"name":"cruising_assistant"}},
{"functionCall":{"id":"adk-4","args":{"request":"fire_id:cedar-creek-2022"},"name":"nepa_advisor"}}],"role":"model"},
"invocationId":"e-a3237f79-5ffa-4fb8-b6b3-f71faa15d712","author":"coordinator","timestamp":1767081391.059711}`
	briefAnswers = `{"content":{"parts":[
{"functionResponse":{"id":"adk-3ea2f26d-9a45-4d32-8544-c60c1afca831","name":"burn_analyst","response":{"result":"### 1. Summary\n...\n### 5. Confidence & Source\n**Confidence:** 92%\n**Source:** MTBS, Imagery date: 2022-09-15\n"}}},
{"functionResponse":{"id":"adk-b44d14f4-fa1e-406a-90f0-6b0fb1a88661","name":"trail_assessor","response":{"result":"### 1. Summary\n...\n### 4. Confidence & Source\n**Confidence:** 90%\n**Source:** Cedar Creek field assessment 2022-10-25\n"}}},
{"functionResponse":{"id":"adk-3","name":"cruising_assistant","response":{"result":"**Confidence:** 91%\n**Source:** Cedar Creek timber plot data, PNW salvage deterioration models, Regional market analysis 2025\n"}}},
{"functionResponse":{"id":"adk-4","name":"nepa_advisor","response":{"result":"**Confidence:** High (90%) - Direct CFR citations\n"}}}],"role":"user"},
"invocationId":"e-a3237f79-5ffa-4fb8-b6b3-f71faa15d712","author":"coordinator","timestamp":1767081397.518132}`
	briefAsksAgain = `{"modelVersion":"gemini-2.0-flash","content":{"parts":[
{"functionCall":{"id":"adk-5","args":{"request":"timber"},"name":"nepa_advisor"}},{"functionCall":{"id":"adk-6","args":{"request":"trails"},"name":"nepa_advisor"}}],"role":"model"},
"invocationId":"e-a3237f79-5ffa-4fb8-b6b3-f71faa15d712","author":"coordinator","timestamp":1767081405.1}`
	briefAnswersAgain = `{"content":{"parts":[
{"functionResponse":{"id":"adk-5","name":"nepa_advisor","response":{"result":"**Confidence:** High (95%) - Direct CFR and FSM citations\n"}}},
{"functionResponse":{"id":"adk-6","name":"nepa_advisor","response":{"result":"**Confidence:** High (90%) - Direct CFR citations\n"}}}],"role":"user"},
"invocationId":"e-a3237f79-5ffa-4fb8-b6b3-f71faa15d712","author":"coordinator","timestamp":1767081412.2}`
	briefSynthesis = `{"modelVersion":"gemini-2.0-flash","content":{"parts":[{"text":"**Fire Severity:** ... (Confidence: 92%)\n\n**Infrastructure Damage:** ... (Confidence: 90%)\n\n**Timber Salvage:** ... (Confidence: 91%)\n\n**NEPA Pathway:** ... (Confidence: 95% for timber, 90% for trails)\n\n**Overall Confidence:** 90%\n\n**Recommended Actions:**\n1. Deploy BAER team...\n2. Establish hazard zones...\n..."}],"role":"model"},
"finishReason":"STOP","author":"coordinator","timestamp":1767081419.786536}`
	briefLayer = `{"confidence":0.90,"reasoning_chain":["Step 1","Step 2"],"citations":[{"source":"MTBS","reference":"..."}]}`
)

var briefDone = briefText("Done.")

func briefText(text string) string {
	return `{"modelVersion":"gemini-2.0-flash","content":{"parts":[{"text":"` + text + `"}],"role":"model"},"finishReason":"STOP","invocationId":"e-1","author":"coordinator"}`
}

func briefCall(name string) string {
	return fmt.Sprintf(`{"modelVersion":"gemini-2.0-flash","content":{"parts":[{"functionCall":{"id":"adk-1","name":%q,"args":{"request":"fire_id:cedar-creek-2022"}}}],"role":"model"},"invocationId":"e-1","author":"coordinator"}`, name)
}

func briefResult(name, members string) string {
	return fmt.Sprintf(`{"content":{"parts":[{"functionResponse":{"id":"adk-1","name":%q,"response":{%s}}}],"role":"user"},"invocationId":"e-1","author":"coordinator"}`, name, members)
}

// briefSays returns the answer of a specialist.
func briefSays(name, text string) []string {
	return []string{briefCall(name), briefResult(name, `"result":"`+text+`"`), briefDone}
}

// TestDocument002 replays every example of the document, the captured fire briefing. The questions to specialists and their
// answers do not reach the public.
func TestDocument002(t *testing.T) {
	designDocument{number: "002", examples: document002, wire: func(second int, event string) string {
		return wireADK(second, strings.ReplaceAll(event, "\n", ""))
	}, secret: []string{"cedar-creek-2022", "Imagery", "fixtures", "Step 1"}}.replay(t)
}
