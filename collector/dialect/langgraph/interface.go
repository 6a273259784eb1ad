package langgraph

import (
	"slices"

	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// interfaceTypes are the types of the elements of a user interface that a node pushes. interfaceKey is the member of a state
// that holds them by default. The metadata of an element names the node and the message to which the element belongs. That of LangGraph.js names
// only the message, as id.
//
// Source: langgraph/graph/ui.py; langgraph-sdk/src/react-ui/server/server.ts.
var (
	interfaceTypes = []string{"ui", "remove-ui"}
	interfaceRefs  = append(slices.Clone(refMembers), "id")
)

const interfaceKey = "ui"

func isInterface(v strictjson.Value) bool {
	return lenient.MatchesAny(v.Get("type").Text(), interfaceTypes) && v.Get("id").Exists()
}

// checkInterface decides whether an element is of an internal node or of a withheld message. It records the element's ID,
// because a later element with the same ID may be merged with it.
func (d *decoder) checkInterface(is traits, v strictjson.Value, found *findings) {
	metadata := v.Get("metadata")
	found.internal = found.internal || is.isLabeled || is.isWithheld || hasInternalName(metadata)
	for name, value := range metadata.Members() {
		found.internal = found.internal || lenient.MatchesAny(name.Text(), interfaceRefs) && mayName(&d.withheld, value)
	}
	message := metadata.First(interfaceRefs...)
	switch id := v.Get("id"); {
	case found.internal:
		d.withholdID(id, true)
	case d.isPushed && message.Kind() == strictjson.String && !d.shown.contains(message): // a node pushes an element before it returns the message
		found.doubtful = true
	default:
		d.shown.note(id, 0)
		d.noteReference(v, message)
	}
}

// reference is an object of a frame that names the message to which it belongs.
type reference struct {
	owner, message strictjson.Value
	part           strictjson.Value // the part around it without which the frame can leave, or nothing
}

// noteReference records that an object belongs to a message.
func (d *decoder) noteReference(owner, message strictjson.Value) {
	if message.Kind() == strictjson.String {
		d.references = append(d.references, reference{owner: owner, message: message})
	}
}

// checkReferences withholds what belongs to a withheld message that comes later in the same frame.
func (d *decoder) checkReferences(found *findings) {
	var last strictjson.Value
	for _, one := range d.references {
		if !mayName(&d.withheld, one.message) {
			continue
		}
		if id := one.owner.Get("id"); isInterface(one.owner) {
			d.withholdID(id, true)
			d.shown.remove(id.String())
		}
		switch {
		case !d.cutsAll || !one.part.Exists():
			found.internal = true
		case one.part != last:
			last, d.lostPart = one.part, true
			d.keptParts--
			d.cuts = append(d.cuts, one.part)
		}
	}
}
