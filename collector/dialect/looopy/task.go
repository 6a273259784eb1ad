package looopy

import (
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

// task is one turn of one agent: a run, or part of one. Tasks interleave on a stream, so all that is known of one stands here.
type task struct {
	id     string
	run    string // the id of the task that all this is part of, its own where it is the run
	parent string // the task that it works for, ""
	agent  string
	model  string // as its beginning names it
	within string // the call by which its parent started it, where that is known

	orphan   bool // of a run: nobody has said yet that it is one
	heard    bool // of a run: frames went out under its id
	begun    bool // by the protocol's word
	ended    bool // by the protocol's word
	complete bool // task-complete has come
	final    bool // its answer has come
	said     uint64
	calls    []call
	response
}

func (t *task) isRun() bool { return t.run == t.id }

// hear finds the task that a frame is of, and takes what it says of its place; nil where a frame names none and none was heard of.
func (d *decoder) hear(fr frame, b *event.Batch) *task {
	if !fr.hasTask() {
		// The artifact store does not know whose tool writes: that of the task that was heard last, unless a parent is named.
		if len(fr.parent.Text()) > 0 {
			return d.taskOf(fr.parent.Text())
		}
		return d.last
	}
	t := d.taskOf(fr.task.Text())
	d.last = t
	agent := agentOf(fr.path)
	if fr.kind == kindTaskCreated && !fr.internal {
		if len(agent) == 0 {
			agent = fr.metadata.Get("agentId").Text()
		}
		t.model = d.name(fr.metadata.Get("model").Text())
		t.orphan = t.orphan && !fr.data.Get("initiator").Is("user")
	}
	var parent *task
	if t.parent == "" && len(fr.parent.Text()) > 0 {
		parent = d.taskOf(fr.parent.Text())
	}
	d.learn(t, parent, agent, b)
	return t
}

// taskOf returns the task of an id. One that was never heard of is a run until somebody says that it is part of another; frames
// of a turn that is resumed come before its beginning.
func (d *decoder) taskOf(id []byte) *task {
	var name string
	if d.last != nil && d.last.id == string(id) {
		name = d.last.id // most frames are of the same task as the one before
	} else {
		name = dialect.Name(string(id))
	}
	t, known := d.tasks.Get(name)
	if !known {
		t = &task{id: name, run: name, orphan: !d.answer}
		d.tasks.Add(name, t)
	}
	return t
}

// learn takes whose part a task is and who works on it. The first word counts: an agent does not change its name.
func (d *decoder) learn(t, parent *task, agent []byte, b *event.Batch) {
	settled := t.parent != "" && t.agent != ""
	if t.agent == "" && string(agent) != "user" {
		t.agent = d.name(agent)
	}
	if parent != nil {
		d.adopt(t, parent, b)
	}
	if settled || t.parent == "" || t.agent == "" {
		return
	}
	if caller, known := d.tasks.Get(t.parent); known {
		if c := caller.callOf(t.agent); c != nil {
			t.within, c.taken = c.id, true
		}
	}
}

// adopt makes a task part of another, with all that is part of it. One that has ended as a run of its own stays one, and a task
// cannot be part of itself.
func (d *decoder) adopt(t, parent *task, b *event.Batch) {
	if t.parent != "" || t.ended || parent.run == t.id {
		return
	}
	t.parent = parent.id
	if !t.heard {
		t.run = parent.run
		return
	}
	for _, part := range d.tasks.Values() {
		if part.run == t.id {
			part.run = parent.run
		}
	}
	e := b.Add(event.KindAdopted)
	e.ID, e.Name = t.id, t.agent
}

// place says whose frame it is.
func (d *decoder) place(t *task, b *event.Batch) {
	b.Session = d.session
	if t == nil {
		return
	}
	b.Run, b.Agent = t.run, t.agent
	if !t.isRun() {
		b.Branch, b.Within = t.id, t.within
		if t.parent != t.run {
			b.Parent = t.parent
		}
	}
	if run, known := d.tasks.Get(t.run); known {
		run.heard = true
		b.Orphan = run.orphan
	}
}

func (d *decoder) subtaskCreated(t *task, fr frame, b *event.Batch) {
	if id := fr.data.Get("subtaskId").Text(); len(id) > 0 {
		d.learn(d.taskOf(id), t, fr.data.Get("agentId").Text(), b)
	}
	if len(b.Events) == 0 {
		b.Add(event.KindOther)
	}
}

// pause and conclude tell the call by which a task was started how the task stands: servers say of the call that it succeeded
// whatever became of the agent.
func (d *decoder) pause(t *task, paused bool) {
	if c := d.callTo(t); c != nil {
		c.paused = paused
	}
}

func (d *decoder) conclude(t *task, failure event.Failure, code string) {
	if c := d.callTo(t); c != nil {
		c.paused, c.failure, c.code = false, failure, code
	}
}

func (d *decoder) callTo(t *task) *call {
	if t.within == "" {
		return nil
	}
	caller, known := d.tasks.Get(t.parent)
	if !known {
		return nil
	}
	return caller.call(t.within)
}
