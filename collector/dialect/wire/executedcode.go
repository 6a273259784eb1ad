package wire

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// AppendCode appends a piece of code that an ADK agent's model runs, or its result. calls are the other calls of its frame. An agent runs
// one piece of code after the other, and need not give it an ID. A result without an ID is then of the latest code at its place.
func AppendCode(calls []NamedCall, as CallRole, id strictjson.Value, place CallPlace) []NamedCall {
	call := NamedCall{ID: dialect.Name(id.String()), As: as, Place: place}
	call.Place.isOfCode = true
	call.IsPaired = as == CodeEnds && slices.ContainsFunc(calls, func(other NamedCall) bool { return other.As == CodeBegins })
	return append(calls, call)
}

// IsResult reports whether a role in the parts of an event is that of a result.
func IsResult(role CallRole) bool { return role == CallRepeated || role == CodeEnds }

func (c NamedCall) isCode() bool { return c.As == CodeBegins || c.As == CodeEnds }

// isCodeWithheld reports whether code or its result was withheld, or may have been.
func (c *WithheldCalls) isCodeWithheld(call NamedCall) bool {
	switch {
	case call.ID != "" && c.own.Contains(call.ID):
		return true
	case call.As == CodeBegins, call.IsPaired, call.ID != "" && c.shownKeys.Contains(call.ID):
		return false
	}
	return call.ID != "" && c.shared.Contains(call.ID) || c.latest.mayHide(call.Place, c.missed)
}

// withholdCode remembers code or a result in a withheld frame.
func (c *WithheldCalls) withholdCode(call NamedCall) {
	latest := callHidden
	if call.As == CodeBegins {
		latest = pieceHidden // until its result
	}
	if c.latest.set(call.Place, latest); call.ID != "" && !c.shownKeys.Contains(call.ID) {
		c.own.Add(call.ID)
		c.shared.Add(call.ID)
	}
}

// showCode remembers code that leaves.
func (c *WithheldCalls) showCode(call NamedCall) {
	if c.latest.set(call.Place, callShown); call.ID != "" {
		c.shownKeys.Add(call.ID)
	}
}
