package tracker

import "slices"

// question names something that a run asked for: the run that brings the answer is another, mostly on another stream.
type question struct{ source, session, id string }

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
	r.tracker.asked.Add(question{r.Source, r.Session, id}, asker{r.ID, r.Trace, r.Root.ID, r.Sampled})
}

// resume links a run to the earlier one that asked for what it brings.
func (r *openRun) resume(id string) {
	if r.ID != "" { // which at its request it has not yet
		r.name()
	}
	by, known := r.tracker.asked.Get(question{r.Source, r.Session, id})
	link := Link{Kind: resumes, Run: by.run, Trace: by.trace, Root: by.root, Sampled: by.sampled}
	if !known || by.root == r.Root.ID || slices.Contains(r.Links, link) {
		return
	}
	r.keepFact(len(r.Links), LostLink, func() { r.Links = append(r.Links, link) })
}
