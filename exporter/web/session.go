package web

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/exporter/waterfall"
)

// maxSessionRuns bounds the runs that the page of a session shows.
const maxSessionRuns = 200

// sessionView is the page of a session: its runs on one time axis and in a table, the earliest first.
type sessionView struct {
	frame
	recent.Session
	ID, Source string
	Lines      []sessionLine
	Axis       sessionAxis
}

// sessionLine is a run in the table.
type sessionLine struct {
	recent.SessionRun
	Took    string
	Reason  string
	Resumes []runLink // runs that it continues
	Waits   []wait
}

// wait is a request for input.
type wait struct {
	Kind, Text string
	Resumed    []runLink // the runs that resumed the one that asked
}

// runLink is a link to a run of the session. Key is empty if that run is not kept.
type runLink struct {
	Key, Text string
	After     string // time from the request for input to its start; "" if unknown
}

// session shows a session. Its address has a query, because a path segment cannot hold every id.
func (s Settings) session(w http.ResponseWriter, r *http.Request) {
	values, err := parameters(r.URL, "id", "source")
	if err != nil {
		writeText(w, http.StatusBadRequest, err.Error())
		return
	}
	id, source := values.Get("id"), values.Get("source")
	found, known := s.Runs.Session(source, id, maxSessionRuns)
	if !known {
		s.write(w, http.StatusNotFound, sessionPage, sessionView{frame: s.frame("No such session", "", false)})
		return
	}
	now := s.Now()
	s.write(w, http.StatusOK, sessionPage, sessionView{
		frame: s.frame("Session "+textOrDash(id), "", true), Session: found, ID: id, Source: source,
		Lines: sessionLines(found.Runs, now), Axis: newSessionAxis(found, now),
	})
}

func sessionLines(runs []recent.SessionRun, now time.Time) []sessionLine {
	at, resumed := map[tracker.SpanID]int{}, map[tracker.SpanID][]int{}
	for i, run := range runs {
		at[run.Root] = i
		for _, l := range run.Links {
			resumed[l.Root] = append(resumed[l.Root], i)
		}
	}
	lines := make([]sessionLine, 0, len(runs))
	for _, run := range runs {
		line := sessionLine{SessionRun: run, Took: sessionRunTook(run, now), Reason: reasonText(run.Summary)}
		for _, l := range run.Links {
			to := runLink{Text: "a run that is not kept"}
			if i, kept := at[l.Root]; kept {
				to = linkTo(runs[i])
			}
			line.Resumes = append(line.Resumes, to)
		}
		for _, in := range run.Inputs {
			line.Waits = append(line.Waits, newWait(in, run, runs, resumed[run.Root], now))
		}
		lines = append(lines, line)
	}
	return lines
}

func linkTo(run recent.SessionRun) runLink {
	if run.Started.IsZero() {
		return runLink{Key: run.Key, Text: "a run that started at an unknown time"}
	}
	return runLink{Key: run.Key, Text: "the run of " + formatHour(run.Started)}
}

// newWait describes a request for input. The tracker knows which runs resumed a run, but not which of its requests
// they answered.
func newWait(in tracker.InputRequest, run recent.SessionRun, runs []recent.SessionRun, resumed []int, now time.Time) wait {
	out := wait{Kind: string(in.Kind), Text: string(in.Status)}
	took, known := in.Wait()
	switch {
	case known:
		out.Text += " after " + waterfall.FormatDuration(took)
	case in.Status != tracker.InputOpen:
	case run.Status == tracker.Running:
		if !in.Requested.At.IsZero() {
			out.Text += " for " + waterfall.FormatDuration(now.Sub(in.Requested.At).Truncate(time.Second))
		}
	case len(resumed) > 0:
		out.Text += " at the end; resumed by"
		for _, i := range resumed[:min(len(resumed), maxNamed)] {
			by := linkTo(runs[i])
			if started := runs[i].Started; !in.Requested.At.IsZero() && started.After(in.Requested.At) {
				by.After = waterfall.FormatDuration(started.Sub(in.Requested.At))
			}
			out.Resumed = append(out.Resumed, by)
		}
	case run.Status == tracker.Interrupted:
		out.Text += ", and no kept run resumed this one"
	default:
		out.Text += " at the end"
	}
	return out
}

// sessionRunTook returns how long a run lasted, or "" if that is unknown.
func sessionRunTook(run recent.SessionRun, now time.Time) string {
	if _, _, known := runInterval(run, now); !known {
		return ""
	}
	return durationText(run.Started, run.Ended, now, run.Status)
}

// runInterval returns when a run began and ended; an open run lasts until now. If one of the times is unknown,
// known is false, and from and to are both the known one, or zero.
func runInterval(run recent.SessionRun, now time.Time) (from, to time.Time, known bool) {
	from, to = run.Started, run.Ended
	if run.Status == tracker.Running {
		to = now
	}
	known = !from.IsZero() && !to.IsZero() && run.Timing != tracker.TimingUnknown
	switch {
	case run.Status == tracker.Running && from.IsZero():
		to = time.Time{}
	case from.IsZero():
		from = to
	case to.IsZero():
		to = from
	}
	if to.Before(from) {
		to = from
	}
	return from, to, known
}

// Story returns how the runs ended.
func (v sessionView) Story() string {
	var parts []string
	for _, status := range statuses() {
		if n := v.Statuses[status]; n > 0 {
			parts = append(parts, grouped(int64(n))+" "+strings.ReplaceAll(string(status), "_", " "))
		}
	}
	return strings.Join(parts, ", ")
}

// Span returns the time from the first start to the last end, or "" if one of them is unknown or a run is still open.
func (v sessionView) Span() string {
	if v.Started.IsZero() || v.Ended.IsZero() || v.Open() > 0 || v.Ended.Before(v.Started) {
		return ""
	}
	return waterfall.FormatDuration(v.Ended.Sub(v.Started))
}

// Open returns the number of open runs.
func (v sessionView) Open() int { return v.Statuses[tracker.Running] }

// Older returns the number of kept runs that the page does not show.
func (v sessionView) Older() int { return v.Kept - len(v.Runs) }

// Failures returns the number of failed runs.
func (v sessionView) Failures() int { return v.Statuses[tracker.Failed] + v.Statuses[tracker.TimedOut] }

// Running reports whether the run is still open.
func (l sessionLine) Running() bool { return l.Status == tracker.Running }

// waiting returns the first open request for input of a run that ended while it waited, or nil.
func waiting(run recent.SessionRun) *tracker.InputRequest {
	if run.Status != tracker.Interrupted {
		return nil
	}
	if i := slices.IndexFunc(run.Inputs, func(in tracker.InputRequest) bool { return in.Status == tracker.InputOpen }); i >= 0 {
		return &run.Inputs[i]
	}
	return nil
}
