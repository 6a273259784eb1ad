package custom

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/generous"
	"github.com/delegraph/delegraph/collector/strictjson"
)

type decoder struct {
	Dialect
	self    string // the name of the run's own agent, where frames do not say it
	run     string
	session string
	names   wire.Names
}

func (d *decoder) Decode(f dialect.Frame, b *event.Batch) {
	b.Run, b.Session = d.run, d.session
	if !f.JSON.Exists() {
		if d.end != "" && string(f.Data) == d.end {
			b.Type = d.end
			b.Add(event.KindRunEnded)
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
	means := d.frames[name]
	if means == nil {
		b.Type = ""
		b.Add(event.KindOther)
		return
	}
	r := reading{frame: means, json: f.JSON, decoder: d, b: b}
	r.place()
	r.state()
}

// selfDescriptions are members in which agents of many protocols say what a frame is.
var selfDescriptions = []string{"type", "kind", "event"}

// within is what is known of frames within a frame, whatever the mapping.
var within = event.Table{
	Discriminators: []string{"type", "kind"},
	Envelopes:      []string{"result", "event", "rawEvent", "raw_event"},
}

// isInternal reports whether a frame calls itself internal, by its type or in a member in which a reader might look for that.
func (d *decoder) isInternal(name string, v strictjson.Value) bool {
	if generous.Internal([]byte(name)) {
		return true
	}
	for member, value := range v.Members() {
		text := member.Text()
		if value.Kind() != strictjson.Object && generous.Among(text, selfDescriptions) && generous.HoldsInternal(value) {
			return true
		}
		if generous.Among(text, within.Envelopes) && generous.NamesInternal(&within, value) {
			return true
		}
	}
	return false
}

// reading is a frame of a mapped type being read.
type reading struct {
	*frame
	*decoder
	json strictjson.Value
	b    *event.Batch
	user bool // a person speaks, whose words are no answer
}

func (r *reading) value(of string) strictjson.Value { return r.paths[of].in(r.json) }

// name returns a string or a whole number as a name.
func (r *reading) name(of string) string {
	v := r.value(of)
	if n, is := v.Int(); is {
		return strconv.FormatInt(n, 10)
	}
	return r.names.Of(v)
}

// place reads where in the stream the frame belongs.
func (r *reading) place() {
	r.decoder.run = cmp.Or(r.name(pathRun), r.decoder.run)
	r.decoder.session = cmp.Or(r.name(pathSession), r.decoder.session)
	r.b.Run, r.b.Session = r.decoder.run, r.decoder.session
	agent := r.value(pathAgent)
	if r.user = wire.IsUser(agent); !r.user {
		r.b.Agent = r.names.Of(agent)
	}
	if r.means == "run_started" {
		r.b.Agent = cmp.Or(r.b.Agent, dialect.Name(r.self))
	}
	r.b.Time = reportedTime(r.value(pathTime))
	r.b.Partial = r.means == "text_delta"
	r.b.Statements.Layer = r.value(pathProof)
}

func reportedTime(v strictjson.Value) time.Time {
	if v.Kind() == strictjson.Number {
		return wire.NumberTime(v)
	}
	return dialect.TextTime(v)
}

// state adds what the frame says.
func (r *reading) state() {
	switch r.means {
	case "run_started":
		r.b.Add(event.KindRunStarted)
	case "run_ended", "run_failed":
		r.endRun()
	case "agent_started":
		r.b.Add(event.KindAgentStarted)
	case "agent_ended", "agent_failed":
		r.end(event.KindAgentEnded, event.AgentError)
	case "transfer":
		if target := r.name(pathTarget); target != "" {
			e := r.b.Add(event.KindTransfer)
			e.Name, e.CallID = target, r.name(pathCall)
		}
	case "tool_started":
		e := r.b.Add(event.KindToolStarted)
		e.Name, e.CallID = r.name(pathName), r.name(pathCall)
		e.SetPayload(r.value(pathArguments))
	case "tool_ended", "tool_failed":
		e := r.end(event.KindToolEnded, event.ToolError)
		e.Name, e.CallID, e.Settled = r.name(pathName), r.name(pathCall), true
		e.SetPayload(r.value(pathResult))
	case "text", "text_delta", "answer":
		r.addText(event.KindText)
	case "thought":
		r.addText(event.KindThought)
	case "model_ended":
		e := r.end(event.KindModelEnded, event.ModelError)
		e.Model, e.FinishReason, e.Usage = r.name(pathModel), r.name(pathFinish), r.usage()
	case "input_requested":
		e := r.b.Add(event.KindInputRequested)
		e.CallID, e.Input = r.name(pathCall), event.InputClarification
	case "input_answered":
		r.b.Add(event.KindInputAnswered).CallID = r.name(pathCall)
	}
	r.addConfidence()
	if r.means == "answer" && !r.user {
		r.b.Add(event.KindFinal)
	}
	if len(r.b.Events) == 0 {
		r.b.Add(event.KindOther)
	}
}

func (r *reading) addText(kind event.Kind) {
	if !r.user {
		r.b.AddText(kind, r.value(pathText))
	}
}

func (r *reading) endRun() {
	if r.hasFailed() {
		r.end(event.KindError, event.AgentError)
	}
	e := r.end(event.KindRunEnded, event.AgentError)
	e.Model, e.Usage = r.name(pathModel), r.usage()
}

// end states that something has ended, and how.
func (r *reading) end(kind event.Kind, class event.Failure) *event.Event {
	e := r.b.Add(kind)
	if r.hasFailed() {
		e.Error, e.Code = class, wire.Specific(wire.Code(r.value(pathCode)), wire.ErrorCode(r.value(pathError)))
	}
	return e
}

// hasFailed reports whether the frame says that what it ends has failed: by its type, by its status, or by an error that is none of null,
// false and "".
func (r *reading) hasFailed() bool {
	if strings.HasSuffix(r.means, "_failed") || slices.Contains(r.failed, r.value(pathStatus).String()) {
		return true
	}
	failure := r.value(pathError)
	said, isSwitch := failure.Bool()
	return failure.Kind() > strictjson.Null && !failure.Is("") && (!isSwitch || said)
}

func (r *reading) usage() event.Usage {
	return event.Usage{Input: count(r.value(pathInput)), Output: count(r.value(pathOutput))}
}

func count(v strictjson.Value) event.Count {
	n, known := v.Int()
	if !known || n < 0 {
		return event.Count{}
	}
	return event.Count{N: n, Known: true}
}

// maxLabel bounds the words of a confidence, in bytes.
const maxLabel = 64

// addConfidence states how sure the answer is, if the frame says so.
func (r *reading) addConfidence() {
	v := r.value(pathConfidence)
	c := event.Confidence{Overall: true, Origin: event.OriginStructured}
	switch text, isPercent := strings.CutSuffix(v.String(), "%"); v.Kind() {
	case strictjson.Number:
		n, _ := v.Float()
		c.Value, c.Known = ratio(n, n > 1)
	case strictjson.String:
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil {
			c.Label = event.Bounded(strings.ToLower(v.String()), maxLabel)
			break
		}
		c.Value, c.Known = ratio(n, isPercent || n > 1)
	default:
		return
	}
	if !c.Known && c.Label == "" {
		r.b.Unreadable = append(r.b.Unreadable, event.UnreadableScale)
		return
	}
	e := r.b.Add(event.KindConfidence)
	e.Name, e.Confidence = r.b.Agent, c
}

func ratio(n float64, percent bool) (float64, bool) {
	if percent {
		n /= 100
	}
	return n, n >= 0 && n <= 1
}
