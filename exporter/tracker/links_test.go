package tracker_test

import (
	"fmt"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// answerStream returns the stream of a request that answers questions.
func answerStream(ids ...string) *event.Stream {
	s := proxied()
	s.Nonce, s.Answers = "answering "+fmt.Sprint(ids), ids
	return s
}

func in(s *event.Stream, source, session string) *event.Stream {
	s.Source, s.Session = source, session
	return s
}

// goesOn returns the first frame of a run in a protocol that does not distinguish an answer from another message.
func goesOn(run string) *event.Batch {
	return says("app", of(run), func(b *event.Batch) { b.Add(event.KindRunStarted).Resumes = true })
}

// TestLinks checks the link to the run whose question a run answers.
func TestLinks(t *testing.T) {
	waits := func() []*event.Batch {
		return []*event.Batch{
			says("app", of("e-1"), calls("over", "tool")), says("app", of("e-1"), returns("over", "tool"), pauses("over")),
			says("app", of("e-1"), calls("c1", "delete")), says("app", of("e-1"), pauses("c1"), returns("c1", "delete")),
			says("app", of("e-1"), asks("q1", event.InputConfirmation), asks("", event.InputData), callsOutside("c2", "approve"), final),
		}
	}
	for _, c := range []struct {
		name   string
		stream *event.Stream
		frames []*event.Batch
		want   string
	}{
		{"by the request", answerStream("q1"), nil, "resumes e-1"},
		{"by the request, even for a run of the same id", answerStream("c2"), []*event.Batch{says("app", of("e-1"), final)}, "resumes e-1"},
		{"by the response to a paused call", proxied(), []*event.Batch{says("app", of("e-2"), returns("c1", "delete"), final)}, "resumes e-1"},
		{"by the response to a long-running call", proxied(), []*event.Batch{says("app", of("e-2"), returns("c2", "approve"), final)}, "resumes e-1"},
		{"by the answer to an input", proxied(), []*event.Batch{says("app", of("e-2"), answers("q1"), final)}, "resumes e-1"},
		{"once", answerStream("q1", "c1", "q1"), []*event.Batch{says("app", of("e-2"), returns("c2", "approve"), answers("q1"), final)}, "resumes e-1"},
		{"not for what nobody asked", answerStream("q2"), []*event.Batch{says("app", of("e-2"), returns("c3", "delete"), returns("over", "tool"), returns("", "delete"), answers(""), final)}, ""},
		{"by what comes next in the session", proxied(), []*event.Batch{goesOn("e-2"), says("app", of("e-2"), final)}, "resumes e-1"},
		{"not by itself, read again", proxied(), []*event.Batch{goesOn("e-1"), says("app", of("e-1"), final)}, ""},
		{"not by what comes next in another session", in(proxied(), "briefing", "other"), []*event.Batch{goesOn("e-2"), says("app", of("e-2"), final)}, ""},
		{"not for what it asks itself", proxied(), []*event.Batch{
			says("app", of("e-2"), asks("q1", event.InputData), callsOutside("c1", "delete")), says("app", of("e-2"), answers("q1"), returns("c1", "delete"), final)}, ""},
		{"not for what another session asked", in(answerStream("q1"), "briefing", "other"), nil, ""},
		{"not for what another source asked", in(answerStream("q1"), "other", "session"), nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, asking := watch(), proxied()
			s.feed(asking, waits()...).end(asking, event.EndOfStream)
			s.feed(c.stream, c.frames...).end(c.stream, event.EndOfStream)
			equal(t, linksOf(s.runs[1]), c.want)
			asked := s.runs[0]
			for _, l := range s.runs[1].Links {
				if l.Trace != asked.Trace || l.Root != asked.Root.ID || l.Sampled != asked.Sampled {
					t.Errorf("the link is to span %x of %x, the run that asked is %x of %x", l.Root, l.Trace, asked.Root.ID, asked.Trace)
				}
			}
			if len(s.runs[0].Links) != 0 || s.runs[0].Inputs[0].Status != tracker.InputOpen || s.runs[0].Status != tracker.Interrupted {
				t.Errorf("the run that asked: %+v, %s, links %v", s.runs[0].Inputs[0], s.runs[0].Status, s.runs[0].Links)
			}
		})
	}
}

// TestLinksOfLongCall answers two runs in turn. A call of the first run waits through both.
func TestLinksOfLongCall(t *testing.T) {
	s := watch()
	for i, frames := range [][]*event.Batch{
		{says("app", of("e-1"), calls("c1", "expert")), says("app", of("e-1"), pauses("c1"), asks("q1", event.InputData))},
		{goesOn("e-2"), says("app", of("e-2"), asks("q2", event.InputData))},
		{goesOn("e-3"), says("app", of("e-3"), returns("c1", "expert"), final)},
		{says("app", of("e-4"), returns("c1", "expert"), final)},
	} {
		stream := proxied()
		stream.Nonce = fmt.Sprint("connection ", i)
		s.feed(stream, frames...).end(stream, event.EndOfStream)
	}
	for i, want := range []string{"", "resumes e-1", "resumes e-2", "resumes e-1"} {
		equal(t, linksOf(s.runs[i]), want)
	}
}

// TestLinksAroundAddedRoot checks that a question is linked to a root that was put above the first one, and not to the same run.
func TestLinksAroundAddedRoot(t *testing.T) {
	asking := in(proxied(), "briefing", "session")
	asking.App = ""
	s := watch().feed(asking,
		atRoot("x", of("e-1"), calls("c1", "tool"), asks("q1", event.InputData)), atRoot("x", of("e-1"), pauses("c1")),
		atRoot("x", of("e-1"), concludes), atRoot("y", of("e-1"), callsOutside("c2", "approve")), atRoot("y", of("e-1"), answers("c1")))
	s.end(asking, event.EndOfStream)
	answer := answerStream("c2")
	s.feed(answer, says("y", of("e-2"), final)).end(answer, event.EndOfStream)
	asked := s.runs[0]
	equal(t, linksOf(asked), "")
	if links := s.runs[1].Links; len(links) != 1 || links[0].Root != asked.Root.ID || asked.Root.Kind != tracker.InvokeWorkflow {
		t.Errorf("links %+v, want one to %x", links, asked.Root.ID)
	}
}

func linksOf(r *tracker.Run) string {
	var all []string
	for _, l := range r.Links {
		all = append(all, l.Kind+" "+l.Run)
	}
	return lines(all...)
}

// TestLinksOfOneStream checks links within a file and within a tailed stream.
func TestLinksOfOneStream(t *testing.T) {
	for _, stream := range []*event.Stream{file(), tailed()} {
		s := watch()
		s.feed(stream,
			says("a", of("e-1"), asks("q1", event.InputData), final), says("a", of("e-2"), asks("q2", event.InputData), final),
			says("a", of("e-3"), answers("q1"), answers("q2"), answers("q1"), final)).end(stream, event.EndOfStream)
		equal(t, linksOf(s.runs[2]), lines("resumes e-1", "resumes e-2"))
	}
}

// TestWhatComesNext checks that the next run of a session is linked once to the run that was
// waiting.
func TestWhatComesNext(t *testing.T) {
	s, stream := watch(), in(tailed(), "briefing", "session")
	s.feed(stream,
		goesOn("e-1"), says("a", of("e-1"), asks("q1", event.InputData), answers("q1"), final, runOver),
		goesOn("e-2"), says("a", of("e-2"), asks("q2", event.InputData), runOver),
		goesOn("e-3"), says("a", of("e-3"), final, runOver),
		goesOn("e-4"), says("a", of("e-4"), final, runOver)).end(stream, event.EndOfStream)
	for i, want := range []string{"", "", "resumes e-2", ""} {
		equal(t, linksOf(s.runs[i]), want)
	}
}

// TestSameQuestions checks which of two runs without a session, e-1 and then e-2, an answer resumes if both asked with the same id.
func TestSameQuestions(t *testing.T) {
	from := func(user, answered string, ids ...string) *event.Stream {
		s := in(answerStream(ids...), "briefing", "")
		s.Nonce, s.User, s.AnsweredRun = s.Nonce+user+answered, user, answered
		return s
	}
	for name, c := range map[string]struct {
		first, second, answer *event.Stream
		want                  string
	}{
		"of different users":            {from("b", ""), from("a", ""), from("b", "", "q"), "resumes e-1"},
		"of another user":               {from("b", ""), from("a", ""), from("c", "", "q"), ""},
		"of one user":                   {from("b", ""), from("b", ""), from("b", "", "q"), ""},
		"of unknown users":              {from("", ""), from("", "x"), from("", "", "q"), ""},
		"named by the answer":           {from("", ""), from("", "x"), from("", "e-1", "q"), "resumes e-1"},
		"named by the answer of a user": {from("b", ""), from("a", ""), from("b", "e-2", "q"), "resumes e-2"},
		"named, but unknown":            {from("", ""), from("", "x"), from("", "e-3", "q"), ""},
		"named, but without a question": {from("", ""), from("", "x"), from("", "e-1", "p"), ""},
		"asked again after an answer":   {from("", ""), from("", "", "q"), from("", "", "q", "p"), "resumes e-2"},
		"in a session":                  {in(from("b", ""), "briefing", "s"), in(from("b", "x"), "briefing", "s"), in(from("b", "", "q"), "briefing", "s"), "resumes e-2"},
	} {
		t.Run(name, func(t *testing.T) {
			s := watch()
			for i, stream := range []*event.Stream{c.first, c.second} {
				s.feed(stream, says("a", of(fmt.Sprint("e-", i+1)), asks("q", event.InputData), final)).end(stream, event.EndOfStream)
			}
			s.feed(c.answer, says("a", of("e-3"), final)).end(c.answer, event.EndOfStream)
			equal(t, linksOf(s.runs[2]), c.want)
		})
	}
}

// TestQuestionsOfAContinuedRun checks that a run takes over the other questions of the run that it continues.
func TestQuestionsOfAContinuedRun(t *testing.T) {
	s, both, one := watch(), in(proxied(), "briefing", ""), in(answerStream("q1"), "briefing", "")
	other := in(answerStream("q2"), "briefing", "")
	s.feed(both, says("a", of("e-1"), asks("q1", event.InputData), asks("q2", event.InputData))).end(both, event.EndOfStream)
	s.feed(one, says("a", of("e-2"), asks("q2", event.InputData))).end(one, event.EndOfStream)
	s.feed(other, says("a", of("e-3"), final)).end(other, event.EndOfStream)
	equal(t, linksOf(s.runs[2]), "resumes e-2")
}

// TestAnsweredQuestion checks that a question that has its answer does not make a later one with the same id ambiguous.
func TestAnsweredQuestion(t *testing.T) {
	s := watch()
	for i, stream := range []*event.Stream{proxied(), answerStream("q1"), proxied(), answerStream("q1")} {
		b := says("a", of(fmt.Sprint("e-", i)), final)
		if i%2 == 0 {
			b = says("a", of(fmt.Sprint("e-", i)), asks("q1", event.InputData))
		}
		s.feed(in(stream, "briefing", ""), b).end(stream, event.EndOfStream)
	}
	equal(t, linksOf(s.runs[3]), "resumes e-2")
}

// TestARunReadAgain checks that a run that is read again is not linked to itself.
func TestARunReadAgain(t *testing.T) {
	s, stream, again := watch(), tailed(), tailed()
	s.feed(stream, says("a", of("e-1"), asks("q1", event.InputData))).end(stream, event.EndOfStream)
	s.feed(again, says("a", of("e-1"), answers("q1"), final)).end(again, event.EndOfStream)
	equal(t, linksOf(s.runs[1]), "")
}

// TestARunWithoutAnID checks that a run without an id is linked to only if it answers a request: in
// any other stream its id may still come.
func TestARunWithoutAnID(t *testing.T) {
	for stream, want := range map[*event.Stream]int{proxied(): 1, tailed(): 0} {
		s, next := watch(), answerStream("q1")
		s.feed(stream, says("a", asks("q1", event.InputData))).end(stream, event.EndOfStream)
		s.feed(next, says("a", of("e-2"), final)).end(next, event.EndOfStream)
		if links := s.runs[1].Links; len(links) != want {
			t.Errorf("links %v, want %d", links, want)
		}
	}
}

// TestToolOfAnAnsweredCall checks that a result without a name has that of the call in the run that
// waited for it.
func TestToolOfAnAnsweredCall(t *testing.T) {
	s, stream, next := watch(), proxied(), answerStream("q1")
	s.feed(stream, says("a", of("e-1"), calls("c1", "pay"), pauses("c1"), asks("q1", event.InputConfirmation))).end(stream, event.EndOfStream)
	s.feed(next, says("a", of("e-2"), returns("c1", ""), final)).end(next, event.EndOfStream)
	findOperation(t, s.runs[1], tracker.ExecuteTool, "pay")
}

// TestLinksAreBounded checks the limits on links and on remembered questions.
func TestLinksAreBounded(t *testing.T) {
	s := watch(func(s *tracker.Settings) { s.MaxFacts, s.MaxOpenRuns = 3, 5 })
	var questions []string
	for i := range 9 {
		stream := proxied()
		s.feed(stream, says("a", of(fmt.Sprint("e-", i)), asks(fmt.Sprint("q", i), event.InputData))).end(stream, event.EndOfStream)
		questions = append(questions, fmt.Sprint("q", i))
	}
	next := answerStream(questions...)
	s.feed(next).end(next, event.EndOfStream)
	equal(t, linksOf(s.runs[9]), lines("resumes e-4", "resumes e-5", "resumes e-6"))
	equal(t, lines(s.lost...), lines("evicted link", "evicted link"))
}

// TestGoesOn checks that the agents in a path are not invoked again if an earlier run of the session transferred control.
func TestGoesOn(t *testing.T) {
	again := func() *event.Batch { return at2("kid", "boss@1/kid@1", "", responds("m"), calls("c", "tool")) }
	s := watch()
	s.feed(proxied(), again()).stop()
	first := proxied()
	s.feed(first, at2("boss", "boss@1", "", responds("m"), handsOver("", "kid")), at2("kid", "boss@1/kid@1", "", concludes)).end(first, event.EndOfStream)
	s.feed(proxied(), again()).stop()
	equal(t, outline(s.runs[0]), `
incomplete, shutdown
invoke_workflow app unfinished 0-1000
  invoke_workflow boss unfinished 0-1000
    invoke_agent kid unfinished 0-1000
      chat m ok 0-1
      execute_tool tool unfinished 1-1000`)
	equal(t, outline(s.runs[2]), `
incomplete, shutdown
invoke_workflow app unfinished 0-1000
  invoke_agent kid unfinished 0-1000
    chat m ok 0-1
    execute_tool tool unfinished 1-1000`)
}
