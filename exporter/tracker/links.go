package tracker

import "slices"

// questionKey identifies a request for input. Its answer may come with another run, usually on
// another stream.
type questionKey struct{ source, session, id string }

// sessionKey identifies a session of a source.
type sessionKey struct{ source, session string }

// asker is a run that asked for input.
type asker struct {
	Link
	tool string // that waits for the answer, or ""
}

// linkResumes is the kind of a link to the run whose question a run answers.
const linkResumes = "resumes"

// rememberQuestion remembers which run made a request for input. Beyond the limit the oldest request is
// forgotten, and its answer gets no link. A run whose id may still come is not remembered.
func (r *openRun) rememberQuestion(id string) {
	if id == "" || r.ID == "" && !r.stream.SingleRun {
		return
	}
	r.fixTrace()
	tool := ""
	if call := r.calls[id]; call != nil {
		tool = call.Name
	}
	r.tracker.askers.Add(questionKey{r.Source, r.Session, id}, asker{r.resumesLink(), tool})
}

// resumesLink returns the link of a run that brings the input for which this one waits.
func (r *openRun) resumesLink() Link {
	return Link{Kind: linkResumes, Run: r.ID, Trace: r.Trace, Root: r.Root.ID, Sampled: r.Sampled}
}

// rememberWaiting remembers, for its session, a run that ended while waiting for input.
func (r *openRun) rememberWaiting() {
	if r.ID != "" && r.Session != "" {
		r.tracker.waitingRuns.Add(sessionKey{r.Source, r.Session}, r.resumesLink())
	}
}

// linkToAsker links the run to the earlier run that asked for the input with an id. It returns the name
// of the tool that waits for the input, or "".
func (r *openRun) linkToAsker(id string) (tool string) {
	if r.ID != "" { // the id is not known yet when the stream is opened
		r.fixTrace()
	}
	by, known := r.tracker.askers.Get(questionKey{r.Source, r.Session, id})
	if known {
		r.addLink(by.Link)
	}
	return by.tool
}

// linkToWaiting links the run to the last run of its session that ended while waiting, for
// protocols in which the next message is the answer. It does so once.
func (r *openRun) linkToWaiting() {
	in := sessionKey{r.Source, r.Session}
	if by, known := r.tracker.waitingRuns.Peek(in); known && by.Run != r.ID { // a run with the same id is the same run, read again
		r.tracker.waitingRuns.Remove(in)
		r.fixTrace()
		r.addLink(by)
	}
}

// noteSessionTransfer remembers whether this run transferred control, and reports whether an earlier run
// of its session did. Beyond the limit the oldest sessions are forgotten.
func (r *openRun) noteSessionTransfer() bool {
	in := sessionKey{r.Source, r.Session}
	before := r.tracker.transferSessions.Contains(in)
	if len(r.Transfers) > 0 && r.Session != "" {
		r.tracker.transferSessions.Add(in, struct{}{})
	}
	return before
}

func (r *openRun) addLink(link Link) {
	if link.Root != r.Root.ID && !slices.Contains(r.Links, link) {
		keepFact(r, &r.Links, LostLink, link)
	}
}
