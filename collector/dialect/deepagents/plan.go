package deepagents

import (
	"strconv"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// maxItems bounds a plan. An item beyond it is not counted.
const maxItems = 256

// plan is how far each item is, by its id. A frame may leave out items of an earlier one, which stand all the same.
type plan map[string]string

// merge takes the items of a frame and counts all that are known.
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
		default: // as the document's own reader has it
			counts.Pending++
		}
	}
	return counts
}
