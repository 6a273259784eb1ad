package exporter_test

import (
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// transcript records the calls of a sink: streams by their nonces, frames by their types, with "!" for errors of frames that cannot
// be read.
type transcript struct{ strings.Builder }

func (s *transcript) Open(of *event.Stream) { fmt.Fprintf(s, "+%s ", of.Nonce) }
func (s *transcript) Consume(b *event.Batch) {
	mark := ""
	if b.Rejected != "" && len(b.Events) > 0 {
		mark = "!"
	}
	fmt.Fprintf(s, "%s:%s%s ", b.Stream.Nonce, b.Type, mark)
}
func (s *transcript) Close(of *event.Stream, end event.End, at time.Time) {
	fmt.Fprintf(s, "-%s,%d@%d ", of.Nonce, end, at.Unix())
}

// TestListeners sends one run over several streams, one step a second. In the steps, a and b are streams, s is a
// session, and x is a frame's type:
//   - "+a" opens the answer to a request
//   - "+a?" opens a listener, which is a stream that listens to the run
//   - "+a?<" opens a listener that was requested before everything else
//   - "+a?r" opens a listener that gets earlier frames again
//   - "+a?o" opens a listener that gets earlier frames again and names the run differently
//   - "+s#" opens a stream of the run's session, and "+s#r" one that replays it
//   - "+a!" opens the answer to a message to the run
//   - "+a%" opens the answer to a request in the background, and "+a?%" a stream that resumes its run
//   - "a:x" is a frame of the run, "a:x^" a snapshot, and "a:x!" an error
//   - "a:x=" is a frame that states the state x, and "a:x^=" a snapshot of that state;
//     "a:x=0" states that the run has ended for good
//   - "a:x~" is a piece
//   - "a:x<" is a frame that came before all others
//   - "a:x?" is a frame that names no run, "a:x2" one of another run, and "a:x-" one that cannot be compared
//   - "a:x?*" is an error in a frame that names no run and that cannot be read
//   - "a:E" is the end of the run, "a:O" its end before its outcome, and "a:Q" states that it waits for input
//   - "-a" is a stream that the agent ends, "-a/" one whose connection breaks, and "-a." one whose client leaves
//   - "..." is the time that a run waits for a client to come back
func TestListeners(t *testing.T) {
	for _, c := range []struct{ name, steps, want string }{
		{"one", "+a a:x a:x a:y -a", "+a a:x a:x a:y -a,0@5 "},
		{"a second hears the rest", "+a a:x +b? b:s^ a:y b:y a:z b:z -b -a", "+a a:x +b a:y a:z -b,0@9 -a,0@10 "},
		{"the second hears it first", "+a a:x +b? b:s^ b:y b:z a:y a:z -a -b", "+a a:x +b a:y a:z -b,0@10 -a,0@10 "},
		{"the first falls behind", "+a +b? a:v b:s^ b:y a:x a:y b:z a:z -a -b", "+a +b a:v a:y a:x a:z -b,0@11 -a,0@11 "},
		{"the first is heard late", "+a +b? a:v b:s^ b:x b:x a:x< a:x a:x -a -b", "+a +b a:v a:x a:x a:x -b,0@11 -a,0@11 "},
		{"the first leaves", "+a a:x +b? a:y b:y -a. b:z -b", "+a a:x +b a:y a:z -b,0@8 -a,0@8 "},
		{"the first leaves, then the second", "+a a:x +b? b:y -a. b:z -b. ...", "+a a:x +b a:y a:z -b,1@7 -a,1@7 "},
		{"the second leaves after the end", "+a a:x +b? b:y a:y -a -b.", "+a a:x +b a:y -b,1@7 -a,0@6 "},
		{"the first is ended too early", "+a a:x +b? b:y -a b:z -b. ...", "+a a:x +b a:y a:z -b,1@7 -a,1@7 "},
		{"the same again", "+a a:x a:x +b? a:x b:x a:x b:x -b -a", "+a a:x a:x +b a:x a:x -b,0@9 -a,0@10 "},
		{"what came before is not what comes", "+a a:x +b? b:s^ -a. b:x -b", "+a a:x +b a:x -b,0@7 -a,0@7 "},
		{"a snapshot alone", "+b? b:s^ b:y -b", "+b b:s b:y -b,0@4 "},
		{"two snapshots", "+b? +c? b:s^ c:s^ b:y c:y -b -c", "+b +c b:s b:y -c,0@8 -b,0@8 "},
		{"a snapshot of a run that is over", "+a a:x a:w= -a +b? b:w^= -b +c? c:w^= -c", "+a a:x a:w -a,0@4 +b -b,0@7 +c -c,0@10 "},
		{"a snapshot of a run that goes on later", "+a a:w= -a +b? b:w^= b:y -b", "+a a:w -a,0@3 +b b:y -b,0@7 "},
		{"a snapshot of a run that is over, and its client leaves", "+a a:w= -a +b? b:w^= -b. ... +c? c:w^= -c", "+a a:w -a,0@3 +b -b,1@6 +c -c,0@10 "},
		{"a listener to a run that is over, and its answer", "+a a:w= -a +b? b:w^= +c! b:y c:y c:z b:z -c -b", "+a a:w -a,0@3 +b b:y b:z -b,0@12 "},
		{"a snapshot of another state", "+a a:w= -a +b? b:v^= -b +c? c:v^= -c", "+a a:w -a,0@3 +b b:v -b,0@6 +c -c,0@9 "},
		{"a run begins with the state of one that is over", "+a a:w= -a +b b:w^= -b", "+a a:w -a,0@3 +b b:w -b,0@6 "},
		{"a snapshot of a run that cannot continue", "+a a:w=0 -a +b? b:v^=0 b:y -b +c? c:w^= -c ... +d? d:v^=0 -d", "+a a:w -a,0@3 +b -b,0@7 +c -c,0@10 +d -d,0@14 "},
		{"a snapshot of a run that could not continue, requested before its end", "+a a:w=0 -a +b?< b:v^=0 b:y -b", "+a a:w -a,0@3 +b -b,0@7 "},
		{"a request begins a run that could not continue", "+a a:w=0 -a +b? b:v^=0 +c c:x c:v=0 b:y -c +d? d:w^=0 -d -b", "+a a:w -a,0@3 +b +c c:x c:v -c,0@10 +d -d,0@13 -b,0@14 "},
		{"a snapshot of an unknown run", "+b? b:w^= -b", "+b b:w -b,0@3 "},
		{"after all have left", "+a a:x -a. ... +b? b:s^ b:y -b", "+a a:x -a,1@3 +b b:s b:y -b,0@8 "},
		{"the second is heard when all is over", "+a a:x +b? a:y a:z -a b:s^ b:y b:z -b", "+a a:x +b a:y a:z -b,0@10 -a,0@10 "},
		{"the second has news when all is over", "+a a:x +b? a:y -a b:s^ b:y b:z b:u -b", "+a a:x +b a:y a:z a:u -b,0@10 -a,0@10 "},
		{"two have news when all is over", "+a a:x +b? +c? -a b:s^ c:s^ b:y c:y b:z c:z -c -b", "+a a:x +b +c a:y a:z -c,0@12 -b,0@13 -a,0@13 "},
		{"the second is answered when all is over", "+a a:x a:y -a +b?< b:s^ b:y -b", "+a a:x a:y -a,0@4 +b -b,0@8 "},
		{"the second is answered and has news when all is over", "+a a:x a:y -a +b?< b:s^ b:y b:z -b", "+a a:x a:y -a,0@4 +b b:z -b,0@9 "},
		{"the second is refused", "+a a:x +b? b:e? a:y -b -a", "+a a:x +b a:y -b,0@6 -a,0@7 "},
		{"the second's own error", "+a a:x +b? b:s^ b:e! -b a:y -a", "+a a:x +b -b,0@6 a:y -a,0@8 "},
		{"an error that both hear", "+a a:x +b? b:s^ b:e! a:e! -b -a", "+a a:x +b a:e -b,0@7 -a,0@8 "},
		{"an error after the first left", "+a a:x +b? b:s^ -a. b:e! -b", "+a a:x +b a:e -b,0@7 -a,0@7 "},
		{"a message to a run that goes on", "+a a:x +b! a:y b:y b:z -b a:z -a", "+a a:x a:y a:z -a,0@9 "},
		{"a message to a run that is over", "+a a:x -a +b! b:x -b", "+a a:x -a,0@3 +b b:x -b,0@6 "},
		{"another answer names the same run", "+a a:x +b b:x -b -a", "+a a:x +b b:x -b,0@5 -a,0@6 "},
		{"a client comes back in time", "+a a:x +b?r a:y -a. b:x b:y b:z -b", "+a a:x +b a:y a:z -b,0@9 -a,0@9 "},
		{"a client comes back too late", "+a a:x a:y -a. ... +b?r b:x b:y b:z -b", "+a a:x a:y -a,1@4 +b -b,0@10 "},
		{"a client comes back after it left", "+a a:x a:y -a. +b?r b:x b:y b:z -b", "+a a:x a:y +b a:z -b,0@9 -a,0@9 "},
		{"a client comes back, by another name", "+a a:x a:y -a. +b?o b:x b:y b:z -b", "+a a:x a:y +b a:z -b,0@9 -a,0@9 "},
		{"a client comes back and leaves again", "+a a:x -a. +b?r b:x b:y -b. ...", "+a a:x +b a:y -b,1@7 -a,1@7 "},
		{"a client comes back twice", "+a a:x -a. +b?r b:x -b. +c?r c:x c:y -c ...", "+a a:x +b -b,1@6 +c a:y -c,0@10 -a,0@10 "},
		{"a client left and nobody comes", "+a a:x -a.", "+a a:x -a,1@3 "},
		{"a client leaves when it has the end", "+a a:x a:E -a. +b?r b:x b:E -b", "+a a:x a:E -a,1@4 +b -b,0@8 "},
		{"a client that left subscribes", "+a a:x -a. +b? b:s^ b:y -b", "+a a:x +b a:s a:y -b,0@7 -a,0@7 "},
		{"a client that left subscribes, and the state is the same", "+a a:w= a:x -a. +b? b:w^= b:y -b", "+a a:w a:x +b a:w a:y -b,0@8 -a,0@8 "},
		{"a client that left sends a message", "+a a:x -a. +b! b:y -b", "+a a:x a:y -a,0@6 "},
		{"a client left before the first frame", "+a -a.", "+a -a,1@2 "},
		{"in the background, a stream breaks off", "+a% a:x -a +b?% b:x b:y b:E -b", "+a a:x +b a:y a:E -b,0@8 -a,0@8 "},
		{"in the background, a connection breaks", "+a% a:x -a/ +b?% b:y b:E -b", "+a a:x +b a:y a:E -b,0@7 -a,0@7 "},
		{"in the background, streams break off twice", "+a% a:x -a +b?% b:x -b +c?% c:y c:E -c ...", "+a a:x +b -b,0@6 +c a:y a:E -c,0@10 -a,0@10 "},
		{"in the background, a stream ends with a question", "+a% a:Q -a +b! b:y -b", "+a a:Q -a,0@3 +b b:y -b,0@6 "},
		{"in the background, a client leaves when it has the question", "+a% a:Q -a. +b! b:y -b", "+a a:Q -a,1@3 +b b:y -b,0@6 "},
		{"in the background, a question is answered and the stream breaks off", "+a% a:Q a:x= -a +b?% b:y b:E -b", "+a a:Q a:x +b a:y a:E -b,0@8 -a,0@8 "},
		{"in the background, nobody resumes", "+a% a:x -a ...", "+a a:x -a,0@3 "},
		{"in the background, a connection breaks and nobody resumes", "+a% a:x -a/ ...", "+a a:x -a,4@3 "},
		{"in the background, a run that is over", "+a% a:E -a +b?% b:E -b", "+a a:E -a,0@3 +b -b,0@6 "},
		{"a resumed run that no stream began", "+b?% b:x -b +c?% c:x c:E -c", "+b b:x +c b:E -c,0@7 -b,0@7 "},
		{"a run that is over is read again", "+a a:x a:y -a +b?r b:x b:y -b", "+a a:x a:y -a,0@4 +b -b,0@8 "},
		{"a session beside its run", "+s# +a a:x s:x a:y -a s:y s:E -s.", "+s +a a:x a:y -a,0@6 -s,1@9 "},
		{"a session goes on when the client has left", "+s# +a a:x s:x -a. s:y s:E -s.", "+s +a a:x a:y a:E -a,0@7 -s,1@8 "},
		{"a session before its run", "+s# +a s:x s:y a:x a:y s:E -a s:z -s.", "+s +a a:x a:y a:E -a,0@8 -s,1@10 "},
		{"a run that only a session brings", "+s# s:x s:E s:x -s.", "+s s:x s:E -s,1@5 "},
		{"a session after the run", "+a a:x -a +s# s:x s:y -s.", "+a a:x -a,0@3 +s -s,1@7 "},
		{"a session when the client has left", "+a a:x -a. +s# s:y s:E -s.", "+a a:x +s a:y a:E -a,0@6 -s,1@7 "},
		{"a session that was joined in the middle", "+s# s:n? -s.", "+s -s,1@3 "},
		{"a session is replayed beside its run", "+a% a:x +s#r s:x a:y s:y s:E a:E -a -s", "+a a:x +s a:y a:E -a,0@9 -s,0@10 "},
		{"a replay is ahead of its run", "+s#r s:x +a% a:x a:y -a. s:z s:E -s", "+s +a a:x a:y a:z a:E -a,0@8 -s,0@9 "},
		{"a session is replayed after its run", "+a% a:x a:E -a +s#r s:x s:E -s", "+a a:x a:E -a,0@4 +s -s,0@8 "},
		{"a session with a run of the past is replayed", "+s#r s:x s:y s:E -s", "+s -s,0@5 "},
		{"a client comes back and gets a replay", "+a% a:x a:y -a. +s#r s:x s:y s:z s:E -s", "+a a:x a:y +s a:z a:E -a,0@9 -s,0@10 "},
		{"a replay has several pieces in one", "+a% a:x a:y~ a:z~ -a. +s#r s:x s:u~ s:v s:E -s", "+a a:x a:y a:z +s a:v a:E -a,0@10 -s,0@11 "},
		{"a replay has something new in one piece", "+a% a:x a:y~ a:z~ -a. +s#r s:x s:u~ s:n s:w~ s:E -s", "+a a:x a:y a:z +s a:n a:w a:E -a,0@11 -s,0@12 "},
		{"a replay is ahead of its run, whose client leaves", "+a% a:x +s#r s:x s:y~ a:y~ -a. s:z~ s:E -s", "+a a:x +s a:y a:z a:E -a,0@9 -s,0@10 "},
		{"a replay ends the run before its client has left", "+a% a:x +s#r s:x s:E -a. -s", "+a a:x +s a:E -a,1@6 -s,0@7 "},
		{"a session beside another, and the first is left", "+s# +u# s:x u:x -s. u:y u:E -u.", "+s +u s:x s:y s:E -s,0@7 -u,1@8 "},
		{"a session beside another that is behind", "+s# +u# s:x -s. u:x u:y u:E -u.", "+s +u s:x s:y s:E -s,0@7 -u,1@8 "},
		{"a session beside another, and the agent ends the first", "+s# +u# s:x u:x -s u:y u:E -u.", "+s +u s:x s:y s:E -s,0@7 -u,1@8 "},
		{"a session's client comes back", "+s# s:x -s. +u# u:y u:E -u.", "+s s:x +u s:y s:E -s,0@6 -u,1@7 "},
		{"a session's client does not come back", "+s# s:x -s. ...", "+s s:x -s,1@3 "},
		{"a session beside a listener, and its client leaves", "+s# s:x +b?r b:x -s. b:y b:E -b", "+s s:x +b s:y s:E -b,0@8 -s,0@8 "},
		{"a session between runs beside a listener, and its client leaves", "+s# s:x +b?r b:x s:x2 s:E2 -s. b:y b:E -b", "+s s:x +b s:x s:E s:y s:E -b,0@10 -s,0@10 "},
		{"a listener ends before its session", "+s# s:x +b?r b:x b:y -b s:y s:E s:x2 s:E2 -s.", "+s s:x +b s:y -b,0@6 s:E s:x s:E -s,1@11 "},
		{"a session ends before its listener", "+s# s:x +b?r b:x s:y s:E -s b:y b:E -b", "+s s:x +b s:y s:E -b,0@10 -s,0@10 "},
		{"a session brings the next run before a listener ends", "+s# s:x +b?r s:x2 b:y -b s:y2 s:E2 -s.", "+s s:x +b s:x s:y -b,0@6 s:y s:E -s,1@9 "},
		{"a session, and the outcome of its run", "+s# s:x s:O s:y s:x2 s:E2 -s.", "+s s:x s:O s:y s:x s:E -s,1@7 "},
		{"a session, and the outcome of another's run", "+s# +a a:x s:x -a. s:O s:y -s.", "+s +a a:x a:O -a,0@6 -s,1@8 "},
		{"a frame that cannot be compared", "+a a:x +b? b:x- b:y a:y- -b -a", "+a a:x +b a:y a:y -b,0@7 -a,0@8 "},
		{"a frame that cannot be compared, of a run that is over", "+a a:x -a +b?r b:x- -b", "+a a:x -a,0@3 +b -b,0@6 "},
		{"a frame that cannot be compared, in a session", "+a a:x +s# s:y- s:y a:y -a -s.", "+a a:x +s a:y -a,0@7 -s,1@8 "},
		{"an error that cannot be read", "+a a:x +b? b:e?* a:e?* -b -a", "+a a:x +b b:e a:e! -b,0@6 -a,0@7 "},
		{"frames of no run", "+a a:n? a:x a:n? -a", "+a a:n a:x a:n -a,0@5 "},
	} {
		var got string
		synctest.Test(t, func(*testing.T) { got = listened(c.steps) })
		if got != c.want {
			t.Errorf("%s: %s\n got %s\nwant %s", c.name, c.steps, got, c.want)
		}
	}
}

// listened returns what the next sink sees of the steps of TestListeners. After the last one no run waits any longer.
func listened(steps string) string {
	var told transcript
	s := exporter.NewDeduplicator(&told, losses{})
	streams := map[string]*event.Stream{}
	for i, step := range strings.Fields(steps) {
		now := time.Unix(int64(i+1), 0)
		switch step[0] {
		case '.':
			time.Sleep(time.Hour)
			synctest.Wait()
		case '+':
			of := &event.Stream{Source: "s", Nonce: step[1:2], OpenedAt: now, SingleRun: true, Identity: event.Identity{Session: "session"}}
			switch {
			case strings.Contains(step, "#"):
				of.SingleRun, of.JoinedSession, of.Replays = false, "session", strings.HasSuffix(step, "r")
			case strings.HasSuffix(step, "?%"):
				of.SingleRun, of.JoinedRun, of.ReplayedRun, of.InBackground = false, "t", "t", true
			case strings.HasSuffix(step, "%"):
				of.InBackground = true
			case strings.HasSuffix(step, "?r"):
				of.SingleRun, of.JoinedRun, of.ReplayedRun = false, "t", "t"
			case strings.HasSuffix(step, "?o"):
				of.SingleRun, of.JoinedRun, of.ReplayedRun = false, "other", "other"
			case strings.Contains(step, "?"):
				of.SingleRun, of.JoinedRun = false, "t"
				if strings.HasSuffix(step, "<") {
					of.OpenedAt = time.Unix(0, 0)
				}
			case strings.HasSuffix(step, "!"):
				of.Answers = []string{"t"}
			}
			streams[of.Nonce] = of
			s.Open(of)
		case '-':
			end := event.EndOfStream
			if strings.HasSuffix(step, ".") {
				end = event.EndClientLeft
			} else if strings.HasSuffix(step, "/") {
				end = event.EndBroken
			}
			s.Close(streams[step[1:2]], end, now)
		default:
			b := &event.Batch{Stream: streams[step[:1]], Type: step[2:3], Run: "t", ContentHash: uint64(step[2]), Received: now}
			if strings.HasSuffix(step, "<") {
				b.Received = time.Unix(0, 0)
			}
			switch b.Type {
			case "E":
				b.Add(event.KindRunEnded)
			case "O":
				b.Add(event.KindRunEnded).AwaitsOutcome = true
			case "Q":
				b.StateHash, b.AwaitsInput = b.ContentHash, true
			}
			b.Snapshot, b.StreamError = strings.Contains(step, "^"), strings.HasSuffix(step, "!")
			b.Partial = strings.HasSuffix(step, "~")
			if strings.HasSuffix(step, "=") {
				b.StateHash = b.ContentHash
			} else if strings.HasSuffix(step, "=0") {
				b.StateHash = event.StateEnded
			}
			if strings.HasSuffix(step, "*") {
				b.Rejected = event.ReasonShape
				b.Add(event.KindError).Error = event.AgentError
			}
			if strings.HasSuffix(step, "-") {
				b.ContentHash = 0
			} else if strings.Contains(step, "?") {
				b.Run, b.ContentHash = "", 0
			} else if strings.HasSuffix(step, "2") {
				b.Run = "u"
			}
			s.Consume(b)
		}
	}
	s.EndDelayed()
	return told.String()
}

// TestListenersOfOtherRuns checks that runs of other sources, runs with other ids, and streams of many runs stay separate.
func TestListenersOfOtherRuns(t *testing.T) {
	var told transcript
	s := exporter.NewDeduplicator(&told, losses{})
	a, b := &event.Stream{Source: "s", Nonce: "a", SingleRun: true}, &event.Stream{Source: "other", Nonce: "b", Identity: event.Identity{JoinedRun: "t"}}
	c, tail := &event.Stream{Source: "s", Nonce: "c", Identity: event.Identity{JoinedRun: "u"}}, &event.Stream{Source: "s", Nonce: "d"}
	for _, of := range []*event.Stream{a, b, c, tail} {
		s.Open(of)
		for _, run := range []string{"t", "u"} {
			if of == tail || (run == "u") == (of == c) {
				s.Consume(&event.Batch{Stream: of, Type: run, Run: run, ContentHash: 1})
			}
		}
	}
	if got, want := told.String(), "+a a:t +b b:t +c c:u +d d:t d:u "; got != want {
		t.Errorf("merged streams: %s, want %s", got, want)
	}
}

// losses counts evictions by kind.
type losses map[string]int

func (l losses) CountEvicted(kind string) { l[kind]++ }

// TestListenersBounds sends more frames of a run, and more runs of a source, than are remembered. A listener that is not behind
// the forgotten frames passes no frame twice.
func TestListenersBounds(t *testing.T) {
	next, lost := &sinkCounter{}, losses{}
	s := exporter.NewDeduplicator(next, lost)
	first := &event.Stream{Source: "s", SingleRun: true}
	s.Open(first)
	frame := func(of *event.Stream, i int) {
		s.Consume(&event.Batch{Stream: of, Run: "t", ContentHash: uint64(i + 1), Received: time.Unix(int64(i), 0)})
	}
	for i := range 5000 {
		frame(first, i)
	}
	second := &event.Stream{Source: "s", Identity: event.Identity{JoinedRun: "t"}, OpenedAt: time.Unix(4900, 0)}
	s.Open(second)
	for i := 4900; i < 5000; i++ {
		frame(second, i)
	}
	if next.consumed != 5000 {
		t.Errorf("%d frames were passed on", next.consumed)
	}
	for i := range 2000 {
		of := &event.Stream{Source: "s", SingleRun: true}
		s.Open(of)
		s.Consume(&event.Batch{Stream: of, Run: fmt.Sprint(i), ContentHash: 1})
	}
	s.Open(&event.Stream{Source: "s", SingleRun: true, Identity: event.Identity{Answers: []string{"t"}}})
	if next.opened != 2003 {
		t.Errorf("%d streams were passed on: a run is still remembered after 2000 others", next.opened)
	}
	if want := (losses{tracker.LostStream: 1001}); !maps.Equal(lost, want) {
		t.Errorf("evicted: %v, want %v", lost, want)
	}
}

// TestReplayOfMany replays a session whose run has more frames than are remembered. Only the new ones are passed on.
func TestReplayOfMany(t *testing.T) {
	next := &sinkCounter{}
	s := exporter.NewDeduplicator(next, losses{})
	first := &event.Stream{Source: "s", SingleRun: true, Identity: event.Identity{Session: "u", InBackground: true}}
	again := &event.Stream{Source: "s", OpenedAt: time.Unix(5000, 0), Identity: event.Identity{JoinedSession: "u", Replays: true, InBackground: true}}
	frames := func(of *event.Stream, n int) {
		s.Open(of)
		for i := range n {
			s.Consume(&event.Batch{Stream: of, Run: "t", ContentHash: uint64(i + 1), Received: of.OpenedAt})
		}
		s.Close(of, event.EndClientLeft, time.Unix(6000, 0))
	}
	if frames(first, 3000); next.consumed != 3000 {
		t.Errorf("%d frames of the answer were passed on", next.consumed)
	}
	if frames(again, 3010); next.consumed != 3010 {
		t.Errorf("%d frames were passed on after the replay, want 3010", next.consumed)
	}
	s.EndDelayed()
}

// TestMissedStarts brings a piece on a stream that began after its start. The piece is taken from the stream that
// brought the start, while that stream is open.
func TestMissedStarts(t *testing.T) {
	next := &sinkCounter{}
	s := exporter.NewDeduplicator(next, losses{})
	first := &event.Stream{Source: "s", SingleRun: true, Identity: event.Identity{NewRun: true}}
	second := &event.Stream{Source: "s", Identity: event.Identity{JoinedRun: "t"}}
	bring := func(of *event.Stream, said uint64, missed bool, want int) {
		t.Helper()
		if s.Consume(&event.Batch{Stream: of, Run: "t", ContentHash: said, MissedStart: missed}); next.consumed != want {
			t.Errorf("after frame %d, %d frames were passed on, want %d", said, next.consumed, want)
		}
	}
	s.Open(first)
	bring(first, 1, false, 1)
	s.Open(second)
	bring(second, 2, true, 1)
	bring(second, 3, false, 1) // in order, it comes after the piece
	bring(first, 2, false, 2)
	bring(first, 3, false, 3)
	s.Close(first, event.EndClientLeft, time.Time{})
	bring(second, 4, true, 4)
}

// TestTooManyListeners opens more listeners of a run than allowed, and checks that the last one passes nothing on. Then it opens
// more streams of a source than are compared, and checks that the last one and its listener become a run of their own.
func TestTooManyListeners(t *testing.T) {
	const most, mostStreams = 1000, 10_000
	next, lost := &sinkCounter{}, losses{}
	s := exporter.NewDeduplicator(next, lost)
	bring := func(run string, said uint64, joins bool) *event.Stream {
		of := &event.Stream{Source: "s", SingleRun: !joins}
		if joins {
			of.JoinedRun = run
		}
		s.Open(of)
		s.Consume(&event.Batch{Stream: of, Run: run, ContentHash: said})
		return of
	}
	bring("t", 1, false)
	var last *event.Stream
	for range most {
		last = bring("t", 1, true)
	}
	if want := (losses{tracker.LostListener: 1}); next.consumed != 1 || !maps.Equal(lost, want) {
		t.Errorf("%d frames were passed on, evicted %v, want %v", next.consumed, lost, want)
	}
	s.Close(last, event.EndOfStream, time.Unix(1, 0))
	for i := range mostStreams - most {
		bring(fmt.Sprint(i%500), uint64(i+1), i >= 500)
	}
	clear(lost)
	next.consumed = 0
	bring("another", 1, false)
	bring("another", 1, true)
	bring("0", 1, true)
	if want := (losses{tracker.LostStream: 2, tracker.LostListener: 1}); next.consumed != 2 || !maps.Equal(lost, want) {
		t.Errorf("%d frames were passed on, evicted %v, want %v", next.consumed, lost, want)
	}
}

// sinkCounter counts the calls of a sink.
type sinkCounter struct {
	opened, consumed int
	closed           atomic.Int64 // timers may close several streams at once
}

func (h *sinkCounter) Open(*event.Stream)                        { h.opened++ }
func (h *sinkCounter) Consume(*event.Batch)                      { h.consumed++ }
func (h *sinkCounter) Close(*event.Stream, event.End, time.Time) { h.closed.Add(1) }
