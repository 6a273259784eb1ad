package demo

import (
	"bytes"
	"time"
)

// story is a run: what a client asks for, and what the agent answered when it was recorded.
type story struct {
	source   string // whose agent is asked
	user     int    // who asks: all do at once, each one thing after another
	question string
	goesOn   bool // in the session of the story that the user asked for before

	file     string
	session  string        // that it was recorded in; "" where no frame names one
	pace     time.Duration // of frames that state no time
	withheld []string      // how the frames begin that do not reach a client: what nobody can read, and what is internal
}

// stories are asked for in this order, and again when they are over.
var stories = []story{
	{source: "fire-briefing", question: "Give me a recovery briefing for Cedar Creek Fire", file: "fire-briefing"},
	{
		source: "tender-analysis", question: "Generate a compliance report",
		file: "report-asks", session: "7c1e9d24-5b60-4f3a-8e17-2a9d4c6b8f05",
	},
	{
		source: "tender-analysis", question: "PDF format please", goesOn: true,
		file: "report-resumed", session: "7c1e9d24-5b60-4f3a-8e17-2a9d4c6b8f05",
	},
	{source: "fire-weather", question: "What is the outlook for Cedar Creek?", file: "outlook", session: "ctx-weather"},
	{
		source: "evacuation-notice", question: "Evacuation notice for sector SW-2",
		file: "evacuation-notice", session: "session-notice", pace: 250 * time.Millisecond,
		withheld: []string{"event: debug\n", "event: trace\ndata: {\"type\":\"message\""},
	},
	{
		source: "burned-area", question: "How large is the burned area?",
		file: "burned-area", session: "c4056b27-5504-4afb-8355-7de971268422", pace: 300 * time.Millisecond,
	},
	{source: "parcels", question: "Which parcels burn?", file: "parcels", session: "thread-parcels", pace: 400 * time.Millisecond},
	{source: "fire-briefing", user: 1, question: "Close the trails of sector SW-2", file: "approval"},
	{
		source: "tender-analysis", user: 1, question: "Analyze risks in three areas: penalties, CSR, auditing",
		file: "tender-subagents", session: "3f2a7b0e-8d55-4a57-9a3c-0d2c9b1f7e11",
	},
	{source: "fire-briefing", user: 1, question: "Which trails of the Bootleg Fire are open?", file: "quota", pace: time.Second},
	{
		source: "fire-briefing", user: 1, question: "How badly did Holiday Farm burn?", file: "garbled", pace: time.Second,
		withheld: []string{
			`data: {"author": "coordinator", "author"`,
			`data: {"content": {"parts": [{"functionResponse": {"id": "adk-0c7e9f21-4b83-4d5a-a6e2-1f8d` + "\n",
		},
	},
	{source: "fire-briefing", user: 1, question: "Get me a permit for salvage logging in NE-4", file: "handover"},
}

// users is how many ask one agent at once.
const users = 2

// reaches says whether a frame reaches a client of the agent.
func (s *story) reaches(block []byte) bool {
	for _, beginning := range s.withheld {
		if bytes.HasPrefix(block, []byte(beginning)) {
			return false
		}
	}
	return true
}

// heard is what a client hears of what an agent said.
func (s *story) heard(said []byte) []byte {
	if len(s.withheld) == 0 {
		return said
	}
	var heard []byte
	for _, block := range bytes.SplitAfter(said, []byte("\n\n")) {
		if s.reaches(block) {
			heard = append(heard, block...)
		}
	}
	return heard
}

// asked is the story of an agent that a request asks for; whatever else it asks for, the agent has one thing to tell.
func asked(source string, request []byte) *story {
	var first *story
	for i := range stories {
		s := &stories[i]
		switch {
		case s.source != source:
		case bytes.Contains(request, []byte(s.question)):
			return s
		case first == nil:
			first = s
		}
	}
	return first
}
