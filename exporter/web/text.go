package web

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/exporter/waterfall"
)

// longestShown is how many bytes of a name from the wire a page shows; the API has it whole.
const longestShown = 200

// shown makes one line of what an agent sent.
func shown(s string) string { return waterfall.Text(s, longestShown) }

// orDash shows what is known.
func orDash(s string) string { return cmp.Or(visible(s), "–") }

// named shows the name of an agent that may have none.
func named(s string) string { return cmp.Or(visible(s), "unnamed agent") }

// visible is what is shown of a name; "" where that is nothing but space.
func visible(s string) string {
	if s = shown(s); strings.TrimSpace(s) == "" {
		return ""
	}
	return s
}

func percent(ratio float64) string { return strconv.FormatFloat(100*ratio, 'g', 4, 64) + " %" }

// share is a length along the time axis.
func share(part float64) string { return strconv.FormatFloat(100*part, 'f', 2, 64) + "%" }

func tokens(c event.Count) string {
	if !c.Known {
		return "–"
	}
	return grouped(c.N)
}

// grouped writes a number with a narrow space between thousands.
func grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "\u202f" + text[i:]
	}
	return text
}

func counts[N int | uint64](n N, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return grouped(int64(n)) + " " + what + "s"
}

// clock is a moment as people read it, and stamp as programs do.
func clock(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

// hour and day are the two halves of a moment in a list.
func hour(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("15:04:05")
}

func day(t time.Time) string { return t.UTC().Format("2 Jan 2006") }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// took is how long a run has lasted.
func took(started, ended, now time.Time, status tracker.Status) string {
	switch {
	case started.IsZero():
		return "–"
	case status == tracker.Running:
		return waterfall.Span(now.Sub(started).Truncate(time.Second))
	case ended.IsZero():
		return "–"
	}
	return waterfall.Span(ended.Sub(started))
}

// why says why a run did not complete.
func why(s recent.Summary) string {
	if s.Code == "" {
		return reasons[s.Reason]
	}
	return reasons[s.Reason] + ": " + s.Code
}

// reasons say in words why a run did not complete.
var reasons = map[tracker.StatusReason]string{
	tracker.ErrorFrame:    "the agent sent an error",
	tracker.ErrorCode:     "a response carried an error code",
	tracker.ClientLeft:    "the client left",
	tracker.AgentCanceled: "the agent canceled it",
	tracker.AwaitingInput: "it waits for an answer",
	tracker.StreamEnded:   "the stream ended before the run did",
	tracker.BrokenOff:     "the connection to the agent broke",
	tracker.Idle:          "nothing came for too long",
	tracker.Evicted:       "let go of to make room",
	tracker.Shutdown:      "Delegraph stopped",
}

var origins = map[event.Origin]string{
	event.OriginStructured: "a structured proof",
	event.OriginText:       "the text of the answer",
	event.OriginThought:    "a thought, which judges itself",
}

// stated is a confidence as it stood: a number, words, or both.
func stated(s tracker.Statement) string {
	switch {
	case s.Known && s.Label != "":
		return percent(s.Value) + ", " + shown(s.Label)
	case s.Known:
		return percent(s.Value)
	}
	return orDash(s.Label)
}

// about is what a confidence is said of.
func about(s tracker.Statement) string {
	of := s.Topic
	if s.Scope != "" {
		of = strings.TrimLeft(of+", "+s.Scope, ", ")
	}
	switch {
	case s.Overall && of != "":
		return "the whole answer: " + shown(of)
	case s.Overall:
		return "the whole answer"
	case of == "":
		return "–"
	}
	return shown(of)
}

func wait(in *tracker.Input) string {
	if d, known := in.Wait(); known {
		return waterfall.Span(d)
	}
	return "–"
}

func size(c event.Count) string {
	if !c.Known {
		return "–"
	}
	return fmt.Sprintf("%s B", grouped(c.N))
}
