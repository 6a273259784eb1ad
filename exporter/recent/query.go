package recent

import (
	"strings"
	"time"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// Query selects runs. Zero values select all.
type Query struct {
	Source string
	Agent  string // the root agent, or the app
	Status tracker.Status
	Text   string    // part of a session, run id or agent, in any case; or a trace or span id in hexadecimal
	From   time.Time // only runs that started then or later
	To     time.Time // only runs that started earlier
	Sort   Sort
	After  Cursor
	Limit  int // runs
}

// Narrows reports whether the query leaves out runs.
func (q Query) Narrows() bool {
	return q.Source != "" || q.Agent != "" || q.Status != "" || q.Text != "" || !q.From.IsZero() || !q.To.IsZero()
}

// maxSearched is the number of bytes of a name or an id that are searched. Dialects cut names at 256 bytes.
const maxSearched = 512

// selector decides which runs a query selects.
type selector struct {
	query Query
	lower string // of the text
	id    runID  // the text, if it is the id of a trace or a span
}

func newSelector(q Query) selector {
	return selector{query: q, lower: strings.ToLower(q.Text), id: parseRunID(strings.ToLower(q.Text))}
}

// ended reports whether the query selects an ended run.
func (s *selector) ended(r *tracker.Run) bool {
	return s.matches(r, func() bool {
		if s.id.isTrace {
			return s.id.binary == r.Trace
		}
		for _, op := range r.Operations {
			if s.id.isSpan && op.ID == s.id.span() {
				return true
			}
		}
		return false
	})
}

// open reports whether the query selects an open run, whose ids may not be set yet.
func (s *selector) open(o tracker.RunView) bool {
	return s.matches(o.Run(), func() bool {
		return s.id.isTrace && o.Trace() == s.id.binary || s.id.isSpan && o.HasSpan(s.id.span())
	})
}

// matches reports whether the query selects a run. It calls hasID last, because that may look at each operation.
func (s *selector) matches(r *tracker.Run, hasID func() bool) bool {
	q := &s.query
	if q.Source != "" && q.Source != r.Source || q.Status != "" && q.Status != r.Status ||
		q.Agent != "" && q.Agent != r.Agent && q.Agent != r.App && q.Agent != r.Root.Name {
		return false
	}
	if started := r.Root.Started.At; !q.From.IsZero() && (started.IsZero() || started.Before(q.From)) || !q.To.IsZero() && (started.IsZero() || !started.Before(q.To)) {
		return false
	}
	if s.lower == "" {
		return true
	}
	for _, text := range [...]string{r.Session, r.ID, r.Agent, r.App, r.Root.Name} {
		if strings.Contains(strings.ToLower(text[:min(len(text), maxSearched)]), s.lower) {
			return true
		}
	}
	return (s.id.isSpan || s.id.isTrace) && s.id.binary != ([16]byte{}) && hasID()
}
