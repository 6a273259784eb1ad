package a2a

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"slices"
	"strconv"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// Limits on the memory of a stream. The most recent tasks are kept, and the most recent artifacts of each.
// Calls and speakers beyond the limit are not remembered. What was dropped counts as new when it appears
// again. Most of the memory is texts of artifacts (dialect.TextTailSize): 8 MiB.
const (
	maxTasks        = 4 // a stream is about one; a recording may contain several
	maxArtifacts    = 16
	maxPendingCalls = 32
	maxCalls        = 512
	maxSpeakers     = 128
)

// task is the state of a run: an A2A task, or a message without a task.
type task struct {
	id, session  string
	request      string // the JSON-RPC request that the task's first frame answers
	continuedRun string // the run whose answer the task continues; "" if the task is a run of its own

	seen      bool // a frame of the task was decoded
	beganHere bool // its first frame shows that it has no artifacts yet
	ended     bool // the task has ended

	artifacts      []*artifact      // in the order of their first piece
	pendingCalls   []string         // calls whose responses come from outside the run
	awaited        []string         // while input or authentication is required: ids of the calls that wait for it or, without calls, the id of the task
	pauses         wire.Pauses      // calls that wait for a confirmation or a credential
	lastText       uint64           // hash of the last whole text
	answers        wire.Set[uint64] // hashes of the artifacts' whole texts, without thoughts
	lastEvent      string           // id of the last whole ADK event
	lastInArtifact bool             // the last whole ADK event was in an artifact
	errorEvent     string           // id of the last ADK event whose error was reported; another update may have its content
	errorMessage   string           // id of the message that had nothing but that error, or ""
	lastError      event.Failure    // the failure that errorEvent reported, or none
	failed         bool             // the last ADK event reported a failure
	code           string           // error code of the last ADK event, or ""; a task that fails after it has no code of its own

	calls        map[string][]*call // by id; those with the same id are in different branches
	callCount    int
	codes        wire.Set[uint64] // hashes of the code and results that were reported
	lastCode     uint64           // hash of the last code
	speakers     map[speaker]*response
	lastPlaces   map[string]agentPlace // of the agents that spoke in a branch, by name
	pieceSpeaker speaker               // of the last piece that is not marked as partial
	hasAnswer    bool                  // the last ADK event was a whole text in an artifact, after which its agent asks no model
}

// artifact is an artifact whose text may arrive in pieces.
type artifact struct {
	id           string
	task         string // the ID of its task, if an answer has changed the ID
	endedTexts   int    // the number of texts that were completed or replaced
	text         dialect.TextTail
	textHash     maphash.Hash // of text, also if it is too long to be kept
	written      maphash.Hash // of all texts since the last write that replaced the contents; if there was none, its random seed makes it unequal to all
	incomplete   bool         // pieces arrived that no whole text has repeated yet
	missingStart bool         // the first piece was not seen
	ofEvents     bool         // it consists of an ADK agent's events, which a snapshot repeats as a whole
}

// restart forgets the pieces of an artifact.
func (a *artifact) restart() {
	*a = artifact{id: a.id, task: a.task, endedTexts: a.endedTexts, text: a.text}
	a.text.Reset()
}

// holds reports whether the artifact's texts are those of parts.
func (a *artifact) holds(parts parts) bool {
	return a.written.Sum64() == textHash(parts)
}

// nameTexts names the texts in a batch after the artifact, unless it holds the events of an ADK agent, each of which is a text
// of its own. The number tells the texts of Agno's members and steps apart, which all have the ID of one message.
func (a *artifact) nameTexts(b *event.Batch) {
	if !a.ofEvents {
		b.NameTexts(dialect.Name(strconv.Itoa(a.endedTexts) + " " + a.task + a.id))
	}
}

// hasArtifact reports whether an artifact was seen that does not consist of an ADK agent's events.
func (t *task) hasArtifact(id string) bool {
	a := t.artifact(id)
	return a != nil && !a.ofEvents
}

// endTexts ends the texts of a member of a team, because other texts continue under the same ID.
func (t *task) endTexts() {
	for _, a := range t.artifacts {
		a.endedTexts++
		a.restart()
	}
}

// isIncomplete reports whether pieces of an artifact arrived that no whole text has repeated yet.
func (a *artifact) isIncomplete() bool { return a != nil && a.incomplete }

// call is a tool call of an ADK agent. Some models count their calls, so those of agents in different branches may have the same id.
type call struct {
	id           string
	event        string // id of the event that made it
	inArtifact   bool   // the event was in an artifact
	tool         string
	by           speaker
	target       string // of a transfer
	longRunning  bool
	paused       bool // it waits for a confirmation or a credential, and its next response only says so
	acknowledged bool // a response or a request says that it waits
	answered     bool
}

// isRepeatedBy reports whether a call in an event is the same call again, and not another one with its ID: some models count
// their calls anew with each response. A repeat is never of another tool or in another branch. It comes before the call's response, or in an
// event with the same id, or in the artifact in which Python's server repeats a status.
func (c *call) isRepeatedBy(eventID, branch, tool string, m adkMetadata) bool {
	if m.isEvent && branch != "" && branch != c.by.branch || tool != c.tool && c.tool != "" {
		return false
	}
	return !c.answered || !m.isEvent || c.inArtifact != m.inArtifact || eventID != "" && eventID == c.event
}

// callOf returns the call with an id, or nil. It prefers a call in the branch, then one of the tool, then one without a response. The tool
// "" stands for any.
func (t *task) callOf(id, branch, tool string) (found *call) {
	best := -1
	for _, c := range t.calls[id] {
		rank := 0
		if c.by.branch == branch {
			rank += 4
		}
		if tool == "" || c.tool == tool {
			rank += 2
		}
		if !c.answered {
			rank++
		}
		if rank > best {
			found, best = c, rank
		}
	}
	return found
}

// keepCall remembers a call. It forgets the one with the same id in the same branch, unless that is another tool's and has no response.
func (t *task) keepCall(c *call) {
	same := t.calls[c.id]
	i := slices.IndexFunc(same, func(other *call) bool {
		return other.by.branch == c.by.branch && (other.tool == c.tool || other.answered)
	})
	switch {
	case i >= 0:
		same[i] = c
	case c.id != "" && t.callCount < maxCalls:
		t.calls[c.id] = append(same, c)
		t.callCount++
	}
}

func newTask(id, session, request string) *task {
	return &task{
		id: id, session: session, request: request,
		calls: make(map[string][]*call), speakers: make(map[speaker]*response), lastPlaces: make(map[string]agentPlace),
	}
}

// task returns the state of a task, which it creates if necessary, and makes it the most recent
// one.
func (d *decoder) task(id, session strictjson.Value) *task {
	d.last = d.openTask(id, session)
	return d.last
}

// openTask returns the state of a task, which it creates if necessary.
func (d *decoder) openTask(id, session strictjson.Value) *task {
	name := d.name(id)
	t, known := d.tasks.Get(name)
	if !known {
		t = newTask(name, "", requestOf(d.request))
		if d.continuesAnswer(t.request, session) {
			t.continuedRun = d.last.run()
		}
		d.tasks.Add(name, t)
	}
	if len(session.Text()) > 0 {
		t.session = d.name(session)
	}
	return t
}

// begins reports whether an update is the first of its task, and a snapshot, and no earlier stream had the task.
func (d *decoder) begins(u update) bool {
	if u.shape != shapeTask {
		return false
	}
	t, known := d.tasks.Peek(d.taskID(u.body))
	return (!known || !t.seen) && (!d.joined && !d.resumed || readStatus(u.body).state == submitted)
}

// mayHaveBegunBefore reports whether earlier streams may have had a part of the task of an update.
func (d *decoder) mayHaveBegunBefore(u update) bool {
	t, known := d.tasks.Peek(d.taskID(u.body))
	return d.resumed && !(known && t.beganHere)
}

// run returns the ID of the task's run.
func (t *task) run() string { return cmp.Or(t.continuedRun, t.id) }

// requestOf returns the ID of a JSON-RPC request, which may be a string or a number, or "".
func requestOf(id strictjson.Value) string {
	if id.Kind() <= strictjson.Null {
		return ""
	}
	return dialect.Name(string(id.Raw()))
}

// continuesAnswer reports whether a task of which nothing is known continues the answer of the last one. Agno's answers change the ID of
// their task when a member of a team, or the agent of a step, begins. A recording may hold several answers.
func (d *decoder) continuesAnswer(request string, session strictjson.Value) bool {
	if d.last == nil || d.last.ended || len(d.last.awaited) > 0 {
		return false
	}
	return d.answer || request != "" && request == d.last.request && len(session.Text()) > 0 && d.name(session) == d.last.session
}

// begins reports whether a state starts a run.
func (t *task) begins(s state) bool { return s == submitted && (!t.seen || t.ended) }

// begin marks a task as seen. A submitted task starts a run, unless a client subscribes to it.
func (t *task) begin(s state, subscribed bool, b *event.Batch) {
	if t.begins(s) && !subscribed {
		*t = *newTask(t.id, t.session, t.request)
		b.Add(event.KindRunStarted)
	}
	t.seen = true
}

// finish ends a task.
func (t *task) finish(failure event.Failure, code string, b *event.Batch) {
	t.ended, t.artifacts, t.awaited, t.pendingCalls = true, nil, nil, nil
	switch {
	case failure == event.NoFailure && t.failed: // the last agent failed instead of answering
	case failure == event.NoFailure:
		b.Add(event.KindFinal)
	default:
		e := b.Add(event.KindError)
		e.Error, e.Code = failure, code
	}
	e := b.Add(event.KindRunEnded)
	e.Error, e.Code = failure, code
}

// requestInput handles a task that waits for input. The task waits for the open calls, also for those that begin meanwhile, or, if there
// are none, for an answer to the task itself.
func (t *task) requestInput(st status, b *event.Batch) {
	for _, id := range t.pendingCalls {
		if len(t.awaited) < maxPendingCalls && !slices.Contains(t.awaited, id) {
			t.awaited = append(t.awaited, id)
		}
	}
	if len(t.awaited) > 0 {
		return
	}
	t.awaited = append(t.awaited, t.id)
	e := b.Add(event.KindInputRequested)
	if e.CallID, e.Input = t.id, event.InputClarification; st.state == authRequired {
		e.Input = event.InputCredential
	}
	if !fromUser(st.message) {
		e.SetQuestion(event.Question{Prompt: st.parts.joinedText()})
	}
}

// resume reports everything that the task waited for as answered, because the task is being worked on
// again.
func (t *task) resume(b *event.Batch) {
	for _, id := range t.awaited {
		b.Add(event.KindInputAnswered).CallID = id
		t.removePendingCall(id)
	}
	t.awaited = t.awaited[:0]
}

// addPendingCall adds a call unless it is pending already. addCall cannot always tell, because calls beyond maxCalls are not
// remembered.
func (t *task) addPendingCall(id string) {
	if id != "" && len(t.pendingCalls) < maxPendingCalls && !slices.Contains(t.pendingCalls, id) {
		t.pendingCalls = append(t.pendingCalls, id)
	}
}

func (t *task) removePendingCall(id string) {
	t.pauses.Answer(id)
	if i := slices.Index(t.pendingCalls, id); i >= 0 {
		t.pendingCalls = slices.Delete(t.pendingCalls, i, i+1)
	}
}

// artifact returns the known artifact with an id, or nil.
func (t *task) artifact(id string) *artifact {
	if i := slices.IndexFunc(t.artifacts, func(a *artifact) bool { return a.id == id }); i >= 0 {
		return t.artifacts[i]
	}
	return nil
}

// openArtifact returns the artifact with an id, which it creates if necessary. At the limit it
// replaces the oldest artifact whose text is whole or, if there is none, the oldest.
func (t *task) openArtifact(id string) *artifact {
	if a := t.artifact(id); a != nil {
		return a
	}
	if len(t.artifacts) == maxArtifacts {
		oldest := max(0, slices.IndexFunc(t.artifacts, func(a *artifact) bool { return !a.incomplete }))
		t.artifacts = slices.Delete(t.artifacts, oldest, oldest+1)
	}
	a := &artifact{id: id}
	if t.continuedRun != "" {
		a.task = t.id + " "
	}
	t.artifacts = append(t.artifacts, a)
	return a
}

// seed is the seed of all hashes, which are only compared within the process.
var seed = maphash.MakeSeed()

// isNewText reports whether the text of parts differs from the task's last whole text, and
// remembers it.
func (t *task) isNewText(parts parts) bool {
	sum := textHash(parts)
	isNew := sum != t.lastText
	t.lastText = sum
	return isNew
}

func textHash(parts parts) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	hashTexts(&h, parts)
	return h.Sum64()
}

func hashTexts(h *maphash.Hash, parts parts) {
	for p := range parts.all() {
		if p.kind == partText || p.kind == partThought {
			hashText(h, p.text.Text())
		}
	}
}

// wordsHash returns the hash of a text as hashText adds it.
func wordsHash(text []byte) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	hashText(&h, text)
	return h.Sum64()
}

// hashText adds a text to a hash, without white space: some agents trim the text that they repeat.
func hashText(h *maphash.Hash, text []byte) {
	for word := range bytes.FieldsSeq(text) {
		_, _ = h.Write(word) // never fails
	}
}
