package custom

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/proof"
	"github.com/delegraph/delegraph/collector/strictjson"
)

type decoder struct {
	Dialect
	ownName string // name of the run's root agent, if frames do not name it
	run     string
	session string
	names   wire.NameCache
	calls   calls
	ended   map[string]runOutcome // of runs that have ended, by their ids; at most maxEnded

	singleRun bool
}

func (d *decoder) Decode(f dialect.Frame, b *event.Batch) {
	b.Run, b.Session = d.run, d.session
	if !f.JSON.Exists() {
		if d.endMarker != "" && string(f.Data) == d.endMarker {
			b.Type = d.endMarker
			d.addRunEnd(b, ending{})
			return
		}
		b.Rejected = f.Malformed
		return
	}
	if f.JSON.Kind() != strictjson.Object {
		b.Rejected = event.ReasonShape
		return
	}
	name := d.typeOf(f)
	b.Type, b.Internal = name, d.isInternal(name, f.JSON)
	mapped := d.frames[name]
	if mapped == nil {
		b.Type = ""
		b.Add(event.KindOther)
		if b.Internal || lenient.IsInternal(f.Event) {
			d.withholdCalls(f.JSON)
		}
		return
	}
	r := reading{frame: mapped, json: f.JSON, decoder: d, b: b}
	r.setBatch()
	r.report()
	r.checkCall()
}

// typeMembers are members with which many protocols name the type of an object.
var typeMembers = []string{"type", "kind", "event"}

// dataPaths lead to data, and namePaths to names. A text there does not mark a frame as internal.
var (
	dataPaths = []string{pathArguments, pathResult, pathError, pathCode}
	namePaths = []string{pathAgent, pathName, pathTarget, pathModel}
)

// isInternal reports whether a frame is marked as internal, by its type or by an object in it at any
// depth, outside of dataPaths and namePaths.
func (d *decoder) isInternal(name string, v strictjson.Value) bool {
	var skipped []skippedPath
	if f := d.frames[name]; f != nil {
		for _, member := range slices.Concat(dataPaths, namePaths) {
			if p := f.paths[member]; p != nil {
				skipped = append(skipped, skippedPath{p, slices.Contains(dataPaths, member)})
			}
		}
	}
	return lenient.IsInternal([]byte(name)) || containsMark(v, skipped)
}

// skippedPath is a path to what may begin with "internal".
type skippedPath struct {
	path  path
	isAny bool // what it leads to may be an object or a list
}

// containsMark reports whether an object in v, outside of the skipped paths, is marked as internal by the
// value of one of typeMembers.
func containsMark(v strictjson.Value, skipped []skippedPath) bool {
	for member, value := range v.Members() {
		var within []skippedPath
		isSkipped := false
		for _, p := range skipped {
			switch {
			case !member.Is(p.path[0]):
			case len(p.path) > 1:
				within = append(within, skippedPath{p.path[1:], p.isAny})
			case p.isAny || value.Kind() < strictjson.Array:
				isSkipped = true
			}
		}
		if isSkipped {
			continue
		}
		if lenient.MatchesAny(member.Text(), typeMembers) && lenient.ContainsInternal(value) || containsMark(value, within) {
			return true
		}
	}
	for element := range v.Elements() {
		if containsMark(element, nil) {
			return true
		}
	}
	return false
}

// reading is the state of reading one frame of a mapped type.
type reading struct {
	*frame
	*decoder
	json   strictjson.Value
	b      *event.Batch
	isUser bool // the frame is from the user, whose text is neither an answer nor a thought
}

func (r *reading) value(name string) strictjson.Value { return r.paths[name].lookup(r.json) }

// name returns the string or number of a path as a name.
func (r *reading) name(member string) string { return r.nameOf(r.value(member)) }

// nameOf returns a string as a name, or a number: as sent or, if it is an integer, in digits.
func (d *decoder) nameOf(v strictjson.Value) string {
	if v.Kind() != strictjson.Number {
		return d.names.Name(v)
	}
	text := v.Raw()
	if n, isWhole := v.Int(); isWhole {
		text = strconv.AppendInt(nil, n, 10)
	}
	return d.names.Truncate(text, dialect.MaxName)
}

// latest returns the name that v holds or, if there is none, the previous one. A value that is no name is another one, which is
// not known.
func (d *decoder) latest(v strictjson.Value, previous string) string {
	if v.Kind() <= strictjson.Null || v.Is("") {
		return previous
	}
	return d.nameOf(v)
}

// setBatch sets what the frame says about the whole batch: its run, session, agent and time, whether it is partial, and its
// proof layer.
func (r *reading) setBatch() {
	r.decoder.run = r.latest(r.value(pathRun), r.decoder.run)
	r.decoder.session = r.latest(r.value(pathSession), r.decoder.session)
	r.b.Run, r.b.Session = r.decoder.run, r.decoder.session
	if r.isUser = wire.IsUser(r.value(pathAgent)); !r.isUser {
		r.b.Agent = r.name(pathAgent)
	}
	if r.means == "run_started" {
		r.b.Agent = cmp.Or(r.b.Agent, dialect.Name(r.ownName))
	}
	r.b.Time = wire.Time(r.value(pathTime))
	r.b.Partial = r.means == "text_delta"
	r.b.Statements.Layer = r.value(pathProof)
}

// report adds the events of the frame.
func (r *reading) report() {
	r.beginUnnamedRun()
	switch r.means {
	case "run_started":
		delete(r.ended, r.b.Run)
		r.b.Add(event.KindRunStarted)
	case "run_ended", "run_failed":
		r.endRun()
	case "agent_started":
		r.b.Add(event.KindAgentStarted)
	case "agent_ended", "agent_failed":
		r.addEnd(event.KindAgentEnded, event.AgentError)
	case "transfer":
		if target := r.name(pathTarget); target != "" {
			e := r.b.Add(event.KindTransfer)
			e.Name, e.CallID = target, r.name(pathCall)
		}
	case "tool_started":
		e := r.b.Add(event.KindToolStarted)
		e.Name, e.CallID = r.name(pathName), r.name(pathCall)
		e.SetPayload(r.value(pathArguments))
	case "tool_progress":
		r.b.Add(event.KindToolProgress).CallID = r.name(pathCall)
	case "tool_ended", "tool_failed":
		e := r.addEnd(event.KindToolEnded, event.ToolError)
		e.Name, e.CallID, e.TurnMayEnd = r.name(pathName), r.name(pathCall), true
		e.SetPayload(r.value(pathResult))
	case "text", "text_delta", "answer":
		r.addText(event.KindText)
	case "thought":
		r.addText(event.KindThought)
	case "model_ended":
		e := r.addEnd(event.KindModelEnded, event.ModelError)
		e.Model, e.FinishReason, e.Usage = r.name(pathModel), r.name(pathFinish), r.usage()
	case "input_requested":
		r.requestInput()
	case "input_answered":
		r.b.Add(event.KindInputAnswered).CallID = r.name(pathCall)
	}
	r.addConfidence()
	if r.means == "answer" && !r.isUser {
		r.b.Add(event.KindFinal)
	}
	if len(r.b.Events) == 0 {
		r.b.Add(event.KindOther)
	}
}

// requestInput reports a question. It pauses the tool call with its ID, if there is one.
func (r *reading) requestInput() {
	asking := r.call()
	if asking.id != "" {
		if isOpen, isWithheld := r.calls.startOf(asking); isOpen || isWithheld {
			r.b.Add(event.KindToolPaused).CallID = asking.id
		}
	}
	e := r.b.Add(event.KindInputRequested)
	e.CallID, e.Input = asking.id, event.InputClarification
}

func (r *reading) addText(kind event.Kind) {
	if !r.isUser {
		r.b.AddText(kind, r.value(pathText))
	}
}

func (r *reading) endRun() {
	if e := r.addRunEnd(r.b, r.ending(event.AgentError)); e != nil {
		e.Model, e.Usage = r.name(pathModel), r.usage()
	}
}

// addEnd adds an event for the end of something. If the frame reports a failure, the event has the error.
func (r *reading) addEnd(kind event.Kind, class event.Failure) *event.Event {
	e := r.b.Add(kind)
	how := r.ending(class)
	e.Error, e.Code = how.failure, how.code
	return e
}

// ending returns how something has ended according to the frame. class is the class of a failure.
func (r *reading) ending(class event.Failure) ending {
	if !r.hasFailed() {
		return ending{}
	}
	return ending{class, wire.MostSpecific(wire.Code(r.value(pathCode)), wire.ErrorCode(r.value(pathError)))}
}

// hasFailed reports whether the frame reports a failure: by its meaning, by its status, or by an
// error other than null, false and "".
func (r *reading) hasFailed() bool {
	if strings.HasSuffix(r.means, "_failed") || slices.Contains(r.failureStatuses, r.value(pathStatus).String()) {
		return true
	}
	failure := r.value(pathError)
	isTrue, isBool := failure.Bool()
	return failure.Kind() > strictjson.Null && !failure.Is("") && (!isBool || isTrue)
}

func (r *reading) usage() event.Usage {
	return event.Usage{Input: dialect.Count(r.value(pathInput)), Output: dialect.Count(r.value(pathOutput))}
}

// addConfidence reports the confidence of the answer, if the frame has one. A text of the user is no answer.
func (r *reading) addConfidence() {
	value := r.value(pathConfidence)
	stated, unreadable := proof.Confidence(value)
	if len(stated) == 0 && value.Kind() == strictjson.String {
		r.b.Substitute(value, "null") // it may be any text
	}
	if r.isUser {
		return
	}
	for _, c := range stated {
		c.Overall = c.Overall || c.Scope == ""
		e := r.b.Add(event.KindConfidence)
		e.Name, e.Confidence = r.b.Agent, c
	}
	r.b.Unreadable = append(r.b.Unreadable, unreadable...)
}
