package tracker

import "slices"

// questionKey identifies a request for input. The id is looked up within the run if run is set, else within the session,
// else within the user. If none is known, all runs without one share a key. Without run and session, two runs may use the
// same id.
type questionKey struct{ source, session, user, run, id string }

// sessionKey identifies a session of a source.
type sessionKey struct{ source, session string }

// asker is a run that asked for input.
type asker struct {
	Link
	tool      string // that waits for the answer, or ""
	answered  bool
	ambiguous bool // another run may wait for an answer with the same id
}

// linkResumes is the kind of a link from a run that brings an answer to the run that asked for it.
const linkResumes = "resumes"

// rememberQuestion remembers which run made a request for input. Beyond the limit it forgets the oldest
// request, and the answer to that one gets no link. It does not remember a run whose id may still come.
// If two runs of a session use the same id, the later one waits for the answer. Without a session, such an
// id identifies neither run, unless the earlier request was answered or the later run continues the earlier one.
func (r *openRun) rememberQuestion(id string) {
	if id == "" || r.ID == "" && !r.stream.SingleRun {
		return
	}
	r.fixTrace()
	tool := ""
	if call := r.calls[id]; call != nil {
		tool = call.Name
	}
	by, key := &asker{Link: r.resumesLink(), tool: tool}, r.questionKey(id)
	if before, known := r.tracker.askers.Peek(key); known && r.Session == "" {
		by.ambiguous = before.ambiguous || !before.answered && !r.isRootID(before.Root) && !slices.Contains(r.Links, before.Link)
	}
	r.tracker.askers.Add(key, by)
	if r.ID != "" {
		r.tracker.askers.Add(questionKey{source: r.Source, run: r.ID, id: id}, by)
	}
}

// isRootID reports whether an id is that of the run's root operation, or of the one before another was put above it.
func (r *openRun) isRootID(id SpanID) bool {
	return r.key != "" && (id == spanID(r.key, "run") || id == spanID(r.key, "workflow"))
}

func (r *openRun) questionKey(id string) questionKey {
	if r.Session != "" {
		return questionKey{source: r.Source, session: r.Session, id: id}
	}
	return questionKey{source: r.Source, user: r.stream.User, id: id}
}

// askerOf returns the run that waits for the input with an id, or nil if that is unknown. If the stream's request
// names the run, the result is that run or nil.
func (r *openRun) askerOf(id string) *asker {
	key, isNamed := r.questionKey(id), r.stream.AnsweredRun != ""
	if isNamed {
		key = questionKey{source: r.Source, run: r.stream.AnsweredRun, id: id}
	}
	by, known := r.tracker.askers.Get(key)
	if !known || by.ambiguous && !isNamed {
		return nil
	}
	return by
}

// resumesLink returns the link that a run gets if it brings the input for which this run waits.
func (r *openRun) resumesLink() Link {
	return Link{Kind: linkResumes, Run: r.ID, Trace: r.Trace, Root: r.Root.ID, Sampled: r.Sampled}
}

// rememberWaiting remembers, for its session, a run that ended while waiting for input.
func (r *openRun) rememberWaiting() {
	if r.ID != "" && r.Session != "" {
		r.tracker.waitingRuns.Add(sessionKey{r.Source, r.Session}, r.resumesLink())
	}
}

// linkToAnswered links the run to the earlier run that asked for the input with an id, which this run answers.
func (r *openRun) linkToAnswered(id string) {
	if by := r.answeredAsker(id); by != nil && !r.isRootID(by.Root) {
		r.addLink(by.Link)
		r.knowsAsker = true
	}
}

// linkToCaller returns the name of the tool of a call of an earlier run that has its response in this run, or "". It links the run to
// that run, unless it is known which run this one answers: a call may wait through several runs.
func (r *openRun) linkToCaller(id string) (tool string) {
	by := r.answeredAsker(id)
	if by == nil {
		return ""
	}
	if !r.knowsAsker {
		r.addLink(by.Link)
	}
	return by.tool
}

// answeredAsker is askerOf for an input that this run answers.
func (r *openRun) answeredAsker(id string) *asker {
	if r.ID != "" { // the id is not known yet when the stream is opened
		r.fixTrace()
	}
	by := r.askerOf(id)
	if by != nil {
		by.answered = true
	}
	return by
}

// linkToWaiting links the run to the last run of its session that ended while waiting, for
// protocols in which the next message is the answer. It does so once.
func (r *openRun) linkToWaiting() {
	in := sessionKey{r.Source, r.Session}
	if by, known := r.tracker.waitingRuns.Peek(in); known && by.Run != r.ID { // a run with the same id is the same run, read again
		r.tracker.waitingRuns.Remove(in)
		r.fixTrace()
		r.addLink(by)
		r.knowsAsker = true
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
	if !r.isRootID(link.Root) && !slices.Contains(r.Links, link) {
		keepFact(r, &r.Links, LostLink, link)
	}
}
