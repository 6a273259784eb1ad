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

// maxNameBytes bounds the names from the wire that a page shows; the API has them in full.
const maxNameBytes = 200

// oneLine returns text from an agent as one bounded line.
func oneLine(s string) string { return waterfall.Sanitize(s, maxNameBytes) }

// textOrDash returns text, or a dash if it is blank.
func textOrDash(s string) string { return cmp.Or(visible(s), "–") }

// agentName returns the name of an agent, or a placeholder if it has none.
func agentName(s string) string { return cmp.Or(visible(s), "unnamed agent") }

// visible returns what is shown of a name, or "" if that is blank.
func visible(s string) string {
	if s = oneLine(s); strings.TrimSpace(s) == "" {
		return ""
	}
	return s
}

func percent(ratio float64) string { return strconv.FormatFloat(100*ratio, 'g', 4, 64) + " %" }

// percentOf returns a length along the time axis.
func percentOf(part float64) string { return strconv.FormatFloat(100*part, 'f', 2, 64) + "%" }

func tokens(c event.Count) string {
	if !c.Known {
		return "–"
	}
	return grouped(c.N)
}

// grouped formats a number with a narrow space between thousands.
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

// formatTime formats a timestamp for people, and formatRFC3339 for programs.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

// formatMillis formats a timestamp of an operation for people.
func formatMillis(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000") }

// formatHour and formatDay format the two halves of a timestamp in a list.
func formatHour(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("15:04:05")
}

func formatDay(t time.Time) string { return t.UTC().Format("2 Jan 2006") }

func formatRFC3339(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// durationText returns how long a run has lasted.
func durationText(started, ended, now time.Time, status tracker.Status) string {
	switch {
	case started.IsZero():
		return "–"
	case status == tracker.Running:
		return waterfall.FormatDuration(now.Sub(started).Truncate(time.Second))
	case ended.IsZero():
		return "–"
	}
	return waterfall.FormatDuration(ended.Sub(started))
}

// reasonText returns why a run did not complete.
func reasonText(s recent.Summary) string {
	if s.Code == "" {
		return reasonTexts[s.Reason]
	}
	return reasonTexts[s.Reason] + ": " + s.Code
}

// reasonTexts describes why a run did not complete.
var reasonTexts = map[tracker.StatusReason]string{
	tracker.ReasonErrorFrame:    "the agent sent an error",
	tracker.ReasonErrorCode:     "a response carried an error code",
	tracker.ReasonClientLeft:    "the client left",
	tracker.ReasonAgentCanceled: "the agent canceled it",
	tracker.ReasonAwaitingInput: "waiting for input",
	tracker.ReasonStreamEnded:   "the stream ended before the run did",
	tracker.ReasonBrokenOff:     "the connection to the agent broke",
	tracker.ReasonIdle:          "no frames for too long",
	tracker.ReasonEvicted:       "evicted to make room",
	tracker.ReasonShutdown:      "Delegraph stopped",
}

var originTexts = map[event.Origin]string{
	event.OriginStructured: "structured proof",
	event.OriginText:       "answer text",
	event.OriginThought:    "thought (self-assessment)",
}

// confidenceText returns a confidence as stated: a number, words, or both.
func confidenceText(s tracker.Confidence) string {
	switch {
	case s.Known && s.Label != "":
		return percent(s.Value) + ", " + oneLine(s.Label)
	case s.Known:
		return percent(s.Value)
	}
	return textOrDash(s.Label)
}

// subjectText returns the subject of a confidence.
func subjectText(s tracker.Confidence) string {
	of := s.Topic
	if s.Scope != "" {
		of = strings.TrimLeft(of+", "+s.Scope, ", ")
	}
	switch {
	case s.Overall && of != "":
		return "the whole answer: " + oneLine(of)
	case s.Overall:
		return "the whole answer"
	case of == "":
		return "–"
	}
	return oneLine(of)
}

func waitText(in *tracker.InputRequest) string {
	if d, known := in.Wait(); known {
		return waterfall.FormatDuration(d)
	}
	return "–"
}

func sizeText(c event.Count) string {
	if !c.Known {
		return "–"
	}
	return fmt.Sprintf("%s B", grouped(c.N))
}
