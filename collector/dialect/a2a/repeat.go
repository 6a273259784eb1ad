package a2a

import (
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/generous"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// maxWithheld bounds the messages and artifacts of a stream that are known to have stayed in. Beyond it no snapshot of a task leaves.
const maxWithheld = 1024

// withheld are the messages and artifacts of a stream that stayed in, by their ids: wholly, or only a piece, with which others may go on.
type withheld struct {
	whole map[string]bool
	over  bool
}

func (w *withheld) add(id string, whole bool) {
	switch _, known := w.whole[id]; {
	case known:
		w.whole[id] = w.whole[id] || whole
	case len(w.whole) >= maxWithheld:
		w.over = true
	case w.whole == nil:
		w.whole = map[string]bool{id: whole}
	default:
		w.whole[id] = whole
	}
}

// glance is the table's.
var glance = generous.NewGlance(&table)

// isWithheld reports whether the filter holds back a frame for what it calls itself.
func isWithheld(f dialect.Frame) bool {
	internal, unknown := generous.Judge(&table, glance, f.JSON)
	return internal || unknown || generous.Internal(f.Event)
}

// repeatNot notes what stays in, and holds back a frame that repeats it or goes on with it. Of a snapshot only what calls itself internal is
// noted: the rest may have left before.
func (d *decoder) repeatNot(f dialect.Frame, u update, b *event.Batch) {
	held, snapshot := u.secret || isWithheld(f), u.shape == shapeTask
	piece, _ := u.body.Get("append").Bool()
	d.eachNamed(u.body, func(id string, named strictjson.Value) {
		whole, known := d.withheld.whole[id]
		switch {
		case held && (!snapshot || generous.NamesInternal(&table, named)):
			d.withheld.add(id, !piece)
		case known && (whole || snapshot || !piece):
			b.Internal = true
		}
	})
	b.Internal = b.Internal || u.secret || snapshot && d.withheld.over
}

// The members of an update in which messages and artifacts stand, and those that name them, in JavaScript and in Python.
var (
	holders  = []string{"status", "message", "history", "artifact", "artifacts"}
	messages = []string{"messageId", "message_id"}
	works    = []string{"artifactId", "artifact_id"}
)

// eachNamed calls found with each message and artifact of an update.
func (d *decoder) eachNamed(v strictjson.Value, found func(id string, named strictjson.Value)) {
	for name, value := range v.Members() {
		switch text := name.Text(); {
		case generous.Among(text, messages):
			d.found("message ", value, v, found)
		case generous.Among(text, works):
			d.found("artifact ", value, v, found)
		case generous.Among(text, holders):
			d.eachNamed(value, found)
		}
	}
	for element := range v.Elements() {
		d.eachNamed(element, found)
	}
}

func (d *decoder) found(sort string, id, named strictjson.Value, found func(string, strictjson.Value)) {
	if name := d.name(id); name != "" {
		found(sort+name, named)
	}
}
