package deepagents

import (
	"strconv"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// maxItems limits the items of a plan; further items are not counted.
const maxItems = 256

// plan maps the ids of items to their status. Items that a frame leaves out stay valid.
type plan map[string]string

// merge adds the items of a frame and counts all known items.
func (p plan) merge(items strictjson.Value) (counts event.Plan) {
	place := 0
	for item := range items.Elements() {
		id := dialect.Name(item.Get("id").String())
		if id == "" {
			id = "#" + strconv.Itoa(place)
		}
		if _, known := p[id]; known || len(p) < maxItems {
			p[id] = dialect.Name(item.Get("status").String())
		}
		if place++; place >= maxItems {
			break
		}
	}
	for _, status := range p {
		switch status {
		case "in_progress":
			counts.InProgress++
		case "completed":
			counts.Completed++
		case "cancelled", "canceled":
			counts.Canceled++
		default: // like the reference client
			counts.Pending++
		}
	}
	return counts
}
