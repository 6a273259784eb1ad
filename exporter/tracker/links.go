package tracker

import "slices"

// questionKey identifies a request for input. Its answer may come with another run, usually on
// another stream.
type questionKey struct{ source, session, id string }

// sessionKey identifies a session of a source.
type sessionKey struct{ source, session string }

// runRef identifies a run that waits for input.
type runRef struct {
	run     string
	trace   [16]byte
	root    SpanID
	sampled bool
	tool    string // that waits for the answer, or ""
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
	asker := r.ref()
	if call := r.calls[id]; call != nil {
		asker.tool = call.Name
	}
	r.tracker.askers.Add(questionKey{r.Source, r.Session, id}, asker)
}

func (r *openRun) ref() runRef {
	return runRef{run: r.ID, trace: r.Trace, root: r.Root.ID, sampled: r.Sampled}
}

// rememberWaiting remembers, for its session, a run that ended while waiting for input.
func (r *openRun) rememberWaiting() {
	if r.ID != "" && r.Session != "" {
		r.tracker.waitingRuns.Add(sessionKey{r.Source, r.Session}, r.ref())
	}
}

// linkToAsker links the run to the earlier run that asked for the input that this run brings, and
// returns the name of the tool that waits for it, or "".
func (r *openRun) linkToAsker(id string) (tool string) {
	if r.ID != "" { // the id is not known yet when the stream is opened
		r.fixTrace()
	}
	by, known := r.tracker.askers.Get(questionKey{r.Source, r.Session, id})
	if known {
		r.addLink(by)
	}
	return by.tool
}

// linkToWaiting links the run to the last run of its session that ended while waiting, for
// protocols in which the next message is the answer. It does so once.
func (r *openRun) linkToWaiting() {
	in := sessionKey{r.Source, r.Session}
	if by, known := r.tracker.waitingRuns.Peek(in); known && by.run != r.ID { // a run with the same id is the same run, read again
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

func (r *openRun) addLink(by runRef) {
	link := Link{Kind: linkResumes, Run: by.run, Trace: by.trace, Root: by.root, Sampled: by.sampled}
	if by.root == r.Root.ID || slices.Contains(r.Links, link) {
		return
	}
	r.keepFact(len(r.Links), LostLink, func() { r.Links = append(r.Links, link) })
}
