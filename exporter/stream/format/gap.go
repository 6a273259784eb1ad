package format

import "github.com/delegraph/delegraph/exporter/stream/replay"

// gapName is what formats call what the native one calls an event of that name.
const gapName = "delegraph.gap"

// gap is what a reader is told of frames that are gone.
type gap struct {
	Reason    replay.Reason `json:"reason"`
	Requested string        `json:"requested,omitempty"`
	Oldest    string        `json:"oldest,omitempty"`
	Head      string        `json:"head"`
}

func gapOf(g *replay.Gap) *gap { return &gap{g.Reason, g.Requested, g.Oldest, g.Head} }
