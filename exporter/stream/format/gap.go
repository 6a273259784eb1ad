package format

import "github.com/delegraph/delegraph/exporter/stream/replay"

// gapName is the name of a gap, as in the native format.
const gapName = "delegraph.gap"

// gap tells a reader that frames are missing.
type gap struct {
	Reason    replay.GapReason `json:"reason"`
	Requested string           `json:"requested,omitempty"`
	Oldest    string           `json:"oldest,omitempty"`
	Head      string           `json:"head"`
}

func gapOf(g *replay.Gap) *gap { return &gap{g.Reason, g.Requested, g.Oldest, g.Head} }
