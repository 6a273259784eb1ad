package tracker

import "slices"

// question names something that a run asked for: the run that brings the answer is another, mostly on another stream.
type question struct{ source, session, id string }

// conversation is a session of a source.
type conversation struct{ source, session string }

// asker is the run that asked.
type asker struct {
	run     string
	trace   [16]byte
	root    SpanID
	sampled bool
}

// resumes is the kind of a link to the run whose question a run answers.
const resumes = "resumes"

// ask remembers a question. Where there are too many, the oldest is forgotten, and its answer will link to nothing.
func (r *openRun) ask(id string) {
	if id == "" || r.ID == "" {
		return
	}
	r.name()
	r.tracker.asked.Add(question{r.Source, r.Session, id}, r.asker())
}

func (r *openRun) asker() asker { return asker{r.ID, r.Trace, r.Root.ID, r.Sampled} }

// leftWaiting remembers a run that ended without an answer.
func (r *openRun) leftWaiting() {
	if r.ID != "" && r.Session != "" {
		r.tracker.waiting.Add(conversation{r.Source, r.Session}, r.asker())
	}
}

// resume links a run to the earlier one that asked for what it brings.
func (r *openRun) resume(id string) {
	if r.ID != "" { // which at its request it has not yet
		r.name()
	}
	if by, known := r.tracker.asked.Get(question{r.Source, r.Session, id}); known {
		r.resumes(by)
	}
}

// resumeSession links a run to the last one in its session that was left waiting, for protocols in which what is said next is
// the answer. It is so once.
func (r *openRun) resumeSession() {
	in := conversation{r.Source, r.Session}
	if by, known := r.tracker.waiting.Peek(in); known && by.run != r.ID { // the same is one that is read again
		r.tracker.waiting.Remove(in)
		r.name()
		r.resumes(by)
	}
}

// goesOn reports whether an earlier run of the session handed control over, and remembers whether this one did. The sessions of the
// oldest such runs are forgotten.
func (r *openRun) goesOn() bool {
	in := conversation{r.Source, r.Session}
	before := r.tracker.handed.Contains(in)
	if len(r.Transfers) > 0 && r.Session != "" {
		r.tracker.handed.Add(in, struct{}{})
	}
	return before
}

func (r *openRun) resumes(by asker) {
	link := Link{Kind: resumes, Run: by.run, Trace: by.trace, Root: by.root, Sampled: by.sampled}
	if by.root == r.Root.ID || slices.Contains(r.Links, link) {
		return
	}
	r.keepFact(len(r.Links), LostLink, func() { r.Links = append(r.Links, link) })
}
