package looopy

import (
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// task is one turn of one agent: a run, or part of one. Tasks interleave on a stream, so each keeps
// its own state.
type task struct {
	id        string
	run       string // id of the task that is the run
	parent    string // id of the task that started it, or ""
	agent     string
	authors   []string // other agents that its frames name
	model     string   // from task-created
	startedBy string   // id of the call that started it, or ""

	orphan          bool // of a run: a later frame may make it part of another
	reported        bool // of a run: frames were reported under its id
	started         bool // task-created was seen
	ended           bool // an end was seen
	sawTaskComplete bool
	answerReported  bool
	lastText        uint64 // hash of the last whole text
	calls           []call
	response
}

func (t *task) isRun() bool { return t.run == t.id }

// findTask returns the task of a frame and records what the frame says about its place. It returns
// nil if the frame names no task and there is no previous one.
func (d *decoder) findTask(fr frame, b *event.Batch) *task {
	if !fr.hasTask() {
		// The artifact store does not know whose tool writes. Without a parent, assume the task of
		// the previous frame.
		if len(fr.parent.Text()) > 0 {
			return d.taskOf(fr.parent.Text())
		}
		return d.last
	}
	t := d.taskOf(fr.task.Text())
	d.last = t
	if fr.kind == kindTaskCreated && !fr.internal && t.ended {
		*t = d.newTask(t.id) // another turn to which the application gave the same id
	}
	agent := agentOf(fr.path)
	if fr.kind == kindTaskCreated && !fr.internal {
		for _, named := range []strictjson.Value{fr.metadata.Get("agentId"), fr.data.Get("agentId")} {
			if len(agent) == 0 {
				agent = named.Text()
			}
			t.addAuthor(d.name(named.Text()), d.name(agent))
		}
		t.model = d.name(fr.metadata.Get("model").Text())
		t.orphan = t.orphan && !fr.data.Get("initiator").Is("user")
	}
	var parent *task
	if t.parent == "" && len(fr.parent.Text()) > 0 {
		parent = d.taskOf(fr.parent.Text())
	}
	d.setPlace(t, parent, agent, b)
	return t
}

// taskOf returns the task with an id. A new task counts as a run until a frame says that it is part
// of another. Frames of a resumed turn may precede its task-created.
func (d *decoder) taskOf(id []byte) *task {
	var name string
	if d.last != nil && d.last.id == string(id) {
		name = d.last.id // most frames belong to the same task as the frame before
	} else {
		name = dialect.Name(string(id))
	}
	t, known := d.tasks.Get(name)
	if !known {
		created := d.newTask(name)
		t = &created
		d.tasks.Add(name, t)
	}
	return t
}

func (d *decoder) newTask(id string) task { return task{id: id, run: id, orphan: !d.singleRun} }

// runOf returns the task that is the run of a task, or nil.
func (d *decoder) runOf(t *task) *task {
	run, _ := d.tasks.Get(t.run)
	return run
}

// setPlace records the parent and the agent of a task. Later values do not replace them: a task does
// not change its agent.
func (d *decoder) setPlace(t, parent *task, agent []byte, b *event.Batch) {
	hadPlace := t.parent != "" && t.agent != ""
	if t.agent == "" && string(agent) != "user" {
		t.agent = d.name(agent)
	}
	t.addAuthor(d.name(agent), t.agent)
	if parent != nil {
		d.adopt(t, parent, b)
	}
	if hadPlace || t.parent == "" || t.agent == "" {
		return
	}
	if caller, known := d.tasks.Get(t.parent); known {
		if c := caller.findCall(t.agent); c != nil {
			t.startedBy, c.hasTask = c.id, true
		}
	}
}

// addAuthor records a name that a frame of the task gives, unless it is that of its agent.
func (t *task) addAuthor(name, agent string) {
	if name != "" && name != agent {
		t.authors = wire.AddAuthor(t.authors, name)
	}
}

// adopt makes a task and its parts part of another task. It changes nothing if the task has a parent,
// has ended, or would become part of itself.
func (d *decoder) adopt(t, parent *task, b *event.Batch) {
	if t.parent != "" || t.ended || parent.run == t.id {
		return
	}
	t.parent = parent.id
	if !t.reported {
		t.run = parent.run
		return
	}
	for _, part := range d.tasks.Values() {
		if part.run == t.id {
			part.run = parent.run
		}
	}
	e := b.Add(event.KindChildRun)
	e.ID, e.Name = t.id, t.agent
}

// setRun sets the session, run and agent of the batch.
func (d *decoder) setRun(t *task, b *event.Batch) {
	b.Session = d.session
	if t == nil {
		return
	}
	b.Run, b.Agent = t.run, t.agent
	if len(t.authors) > 0 && t.agent != "" {
		b.AddAuthors(b.JSON, t.agent)
	}
	b.AddAuthors(b.JSON, t.authors...)
	if !t.isRun() {
		b.Branch, b.EnclosingCall = t.id, t.startedBy
		if t.parent != t.run {
			b.ParentBranch = t.parent
		}
	}
	if run := d.runOf(t); run != nil {
		run.reported = true
		b.Orphan = run.orphan
	}
}

func (d *decoder) subtaskCreated(t *task, fr frame, b *event.Batch) {
	if id := fr.data.Get("subtaskId").Text(); len(id) > 0 {
		d.setPlace(d.taskOf(id), t, fr.data.Get("agentId").Text(), b)
	}
}

// pause records in the call that started a task whether the task waits for input.
func (d *decoder) pause(t *task, paused bool) {
	if c := d.startingCall(t); c != nil {
		c.paused = paused
	}
}

// conclude records in the call that started a task how the task ended: servers report the call as
// successful even if the agent failed.
func (d *decoder) conclude(t *task, failure event.Failure, code string) {
	if c := d.startingCall(t); c != nil {
		c.paused, c.failure, c.code = false, failure, code
	}
}

// startingCall returns the call that started a task, or nil.
func (d *decoder) startingCall(t *task) *call {
	if t.startedBy == "" {
		return nil
	}
	caller, known := d.tasks.Get(t.parent)
	if !known {
		return nil
	}
	return caller.call(t.startedBy)
}
