package agui

import (
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/generous"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// thing is what several frames make together, which leaves with its beginning or not at all.
type thing uint8

const (
	nothing thing = iota
	aMessage
	aCall
	aPhase // of reasoning
	aThought
	aThinking // a thought before 1.0, which has no id
	anActivity
	aSubagent
	aStep
	aRun
	aResult // of a call
	aListed // a message of a snapshot, whatever it was as events
)

// which is one of a sort. Without an id it is its owner's last.
type which struct {
	of        thing
	id, owner string
}

// maxHeld bounds each of the things of a run that stay in, and those that began. Beyond the first nothing begins any more.
const maxHeld = 1024

// guard keeps in what goes on with a beginning that stayed in.
type guard struct {
	held  map[which]bool
	begun map[which]bool // but for messages, whose pieces never leave without a beginning
}

func (g *guard) full() bool { return len(g.held) >= maxHeld }

func (g *guard) hold(all ...which) {
	if g.held == nil {
		g.held = make(map[which]bool)
	}
	for _, w := range all {
		delete(g.begun, w)
		if !g.full() {
			g.held[w] = true
		}
	}
}

func (g *guard) begin(w which) {
	if g.begun == nil {
		g.begun = make(map[which]bool)
	}
	if len(g.begun) < maxHeld && w.of != aMessage {
		g.begun[w] = true
	}
}

// holdsLast says whether what an owner's frames without an id go on with may stay in. Those without an owner may be anybody's.
func (g *guard) holdsLast(of thing, owner string) bool {
	for w := range g.held {
		if w.of == of && w.id == "" && (w.owner == "" || owner == "" || w.owner == owner) {
			return true
		}
	}
	return false
}

// verdict is what a frame's connection with others says of it.
type verdict uint8

const (
	fine     verdict = iota
	internal         // it is part of something that stays in
	stray            // it may be: nobody saw its beginning
)

// judge notes the beginning of a thing, and says whether a frame may leave for all that the others say.
func (d *decoder) judge(k *kind, f dialect.Frame) verdict {
	v, owner := f.JSON, d.owner(f.JSON)
	if k.name == typeRunStarted {
		return d.judgeRun(f)
	}
	last := which{of: k.of, owner: owner}
	w := last
	if k.id != "" {
		w.id = d.name(v.Get(k.id))
	}
	if w.id != "" && k.of != aStep {
		w.owner = "" // an id is enough
	}
	held := d.guard.held[which{of: aRun}] || owner != "" && d.guard.held[which{of: aSubagent, id: owner}] || w.id != "" && d.guard.held[w] || d.isListed(k, w) || d.within(k, v, owner)
	switch {
	case k.of == nothing, w.id == "" && k.of == aMessage: // of messages in chunks the decoder knows which goes on
	case k.begins || k.chunk && w.id != "":
		if held = held || withheld(f) || d.guard.full() || len(d.inner) >= maxHeld; held {
			d.hold(w, last)
			d.blind = true
			return internal
		}
		delete(d.guard.held, last)
		d.guard.begin(w)
		if k.chunk {
			d.guard.begin(last)
		}
	default:
		unseen := d.blind && k.of != aMessage && !d.guard.begun[w]
		held = held || w.id == "" && d.guard.holdsLast(k.of, owner)
		if !held && k.of != aMessage && !d.guard.begun[w] && withheld(f) {
			d.hold(w) // where no beginning was seen, it may have been this
			d.blind, held = true, true
		}
		if k.ends {
			delete(d.guard.begun, w)
			delete(d.guard.held, last)
		}
		if !held && unseen {
			return stray
		}
	}
	if held {
		return internal
	}
	return fine
}

// judgeRun notes a run within the one at hand that stays in, as a subagent. Of the stream's own runs runStarted does, since each forgets the
// one before.
func (d *decoder) judgeRun(f dialect.Frame) verdict {
	run, parent, nested := d.nests(f.JSON)
	switch {
	case !nested:
	case d.guard.held[which{of: aRun}] || d.guard.held[which{of: aSubagent, id: parent}] || filtered(f):
		d.hold(which{of: aSubagent, id: run})
		return internal
	}
	return fine
}

// within says whether a frame is part of another thing that stays in.
func (d *decoder) within(k *kind, v strictjson.Value, owner string) bool {
	if len(d.guard.held)+len(d.inner) == 0 {
		return false
	}
	for _, parent := range [...]struct {
		member string
		of     []thing
	}{
		{"parentMessageId", []thing{aMessage, aListed}}, {"parentToolCallId", []thing{aCall}}, {"parentSubagentRunId", []thing{aSubagent}},
		{"entityId", []thing{aMessage, aCall, aThought, aListed}},
	} {
		id := d.name(v.Get(parent.member))
		for _, of := range parent.of {
			if w := (which{of: of, id: id}); id != "" && (d.guard.held[w] || d.inner[w]) {
				return true
			}
		}
	}
	return (k.of == aThought || k.of == aThinking) && d.guard.holdsLast(aPhase, owner)
}

// named are the members that name things, in a frame of a type that nobody knows too.
var named = []struct {
	member string
	of     []thing
}{{"messageId", []thing{aMessage, aPhase, aThought, anActivity}}, {"toolCallId", []thing{aCall}}, {"subagentRunId", []thing{aSubagent}}}

// unseen notes a frame that stays in and of which nobody can say what it began: perhaps what it names, unless that is known. From
// here on of what is no message only that goes on which is known to have begun, and no chunk without an id does.
func (d *decoder) unseen(v strictjson.Value) {
	d.blind = true
	for _, one := range named {
		id := d.name(v.Get(one.member))
		for _, of := range one.of {
			w := which{of: of, id: id}
			known := id == "" || d.guard.begun[w] || d.guard.full()
			switch of {
			case aMessage:
				known = known || d.messages.named(id) != nil
			case aSubagent: // most name theirs
				known = known || d.agents.known(id) || !strings.Contains(strings.ToLower(v.Get("type").String()), "subagent")
			}
			if !known {
				d.hold(w)
			}
		}
	}
	d.messages.close("", true)
	for w := range d.guard.begun {
		if w.id == "" && (w.of == aCall || w.of == aThought) {
			delete(d.guard.begun, w)
		}
	}
}

var role = []string{"role"}

// glance is the table's.
var glance = generous.NewGlance(&table)

// filtered reports whether the filter holds back a frame, for whatever it says of itself. It asks what the filter asks: otherwise the rest of
// what the frame begins would leave without it.
func filtered(f dialect.Frame) bool {
	internal, unknown := generous.Judge(&table, glance, f.JSON)
	return internal || unknown || len(f.Event) > 0 && !slices.Contains(table.Events, string(f.Event))
}

// withheld reports whether a frame stays in that begins something.
func withheld(f dialect.Frame) bool {
	if filtered(f) {
		return true
	}
	for name, value := range f.JSON.Members() {
		if generous.Among(name.Text(), role) && value.Kind() > strictjson.Null && value.Kind() != strictjson.String {
			return true
		}
	}
	return false
}
