package demo

import (
	"bytes"
	"time"
)

// story is a run of the demo: a question, and the recorded answer of an agent.
type story struct {
	source    string // the source of the agent
	user      int    // the number of the user; users ask at the same time, each one question after another
	question  string
	continues bool // continues the session of the user's previous story

	file     string
	session  string        // the recorded session; "" if no frame names one
	first    time.Duration // before the first frame, which is the answer of a model
	pace     time.Duration // before a frame that states no time
	thinking thinking      // before the frames of a model that state no time
	withheld []string      // prefixes of frames that the proxy withholds because they are internal or unreadable
}

// thinking is the pause before each frame that contains mark, with which a model's answer arrives or begins to arrive.
type thinking struct {
	mark string
	wait time.Duration
}

// pause returns the pause before a frame that states no time. It is a stage direction: the models that answered
// while most recordings were made are scripted and answer at once.
func (s *story) pause(block []byte) time.Duration {
	if s.thinking.mark != "" && bytes.Contains(block, []byte(s.thinking.mark)) {
		return s.thinking.wait
	}
	return s.pace
}

// stories lists the runs of the demo in order. After the last one it starts again.
var stories = []story{
	{source: "fire-briefing", question: "Give me a recovery briefing for Cedar Creek Fire", file: "fire-briefing", first: 1600 * time.Millisecond},
	{
		source: "tender-analysis", question: "Generate a compliance report",
		file: "report-asks", session: "7c1e9d24-5b60-4f3a-8e17-2a9d4c6b8f05",
	},
	{
		source: "tender-analysis", question: "PDF format please", continues: true,
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
	{source: "fire-briefing", user: 1, question: "Close the trails of sector SW-2", file: "approval", first: 1200 * time.Millisecond},
	{
		source: "tender-analysis", user: 1, question: "Analyze risks in three areas: penalties, CSR, auditing",
		file: "tender-subagents", session: "3f2a7b0e-8d55-4a57-9a3c-0d2c9b1f7e11",
	},
	{source: "fire-briefing", user: 1, question: "Which trails of the Bootleg Fire are open?", file: "quota", first: 900 * time.Millisecond, pace: time.Second},
	{
		source: "fire-briefing", user: 1, question: "How badly did Holiday Farm burn?", file: "garbled", first: 1100 * time.Millisecond, pace: time.Second,
		withheld: []string{
			`data: {"author": "coordinator", "author"`,
			`data: {"content": {"parts": [{"functionResponse": {"id": "adk-0c7e9f21-4b83-4d5a-a6e2-1f8d` + "\n",
		},
	},
	{source: "fire-briefing", user: 1, question: "Get me a permit for salvage logging in NE-4", file: "handover", first: 1300 * time.Millisecond},
	{source: "shelters", question: "Which shelters have room?", file: "shelters", pace: 300 * time.Millisecond},
	{source: "supplies", question: "Send water to the high school", file: "supplies", pace: 200 * time.Millisecond},
	{
		source: "air", question: "May the children play outside?",
		file: "air", session: "01a204ee-506b-7275-81fe-a898027de310", pace: 300 * time.Millisecond,
		thinking: thinking{`data: {"model":`, 1400 * time.Millisecond},
	},
	{
		source: "field-report", question: "Write the field report of today",
		file: "field-report", first: 600 * time.Millisecond, pace: 350 * time.Millisecond, thinking: thinking{`"candidatesTokenCount":3,`, 600 * time.Millisecond},
	},
}

// usersPerAgent is the number of users that ask one agent at the same time.
const usersPerAgent = 2

// reaches reports whether a frame passes the proxy to the client.
func (s *story) reaches(block []byte) bool {
	for _, beginning := range s.withheld {
		if bytes.HasPrefix(block, []byte(beginning)) {
			return false
		}
	}
	return true
}

// expected returns the part of an agent's answer that the client gets through the proxy.
func (s *story) expected(said []byte) []byte {
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

// storyFor returns the story whose question is in a request, or else the agent's first story.
func storyFor(source string, request []byte) *story {
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
