package aisdk

import (
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
)

// withholding says what was withheld, so that what continues it is withheld too.
type withholding struct {
	knownIDs  wire.SharedSet // of what was withheld, and of texts that are thoughts, on any stream of the agent
	answers   bool           // the request continues a message, with answers to its questions or calls
	continues bool           // an earlier stream may have begun the current message
}

func newWithholding(s *event.Stream) withholding {
	w := withholding{answers: len(s.Answers) > 0, knownIDs: wire.NewSharedSet(s, "aisdk")}
	w.continues = w.answers || s.RequestDialect == ""
	w.knownIDs.SetScopes("agent") // a request that resumes an answer does not always name its chat
	return w
}

// sharedID identifies a part, call or question in knownIDs.
type sharedID struct{ kind, id string }

func sharedCall(id string) sharedID { return sharedID{"call", id} }

func sharedApproval(id string) sharedID { return sharedID{"approval", id} }

func markedText(id string) sharedID { return sharedID{"thought", id} }

func (s sharedID) String() string { return s.kind + " " + s.id }

// withhold makes later frames withheld that continue something unknown. Without an ID, that is anything.
func (d *decoder) withhold(s sharedID) {
	d.knownIDs.Add(s.String())
	d.missedStart = d.missedStart || s.id == ""
}

// mayBeWithheld reports whether the start of something whose start is unknown may have been withheld.
func (d *decoder) mayBeWithheld(s sharedID) bool {
	return d.missedStart || d.knownIDs.MayContain(s.String())
}

// isWithheldElsewhere reports whether a start repeats or replaces something that an earlier stream withheld. A stream that has the
// whole message says itself what is internal.
func (d *decoder) isWithheldElsewhere(s sharedID) bool {
	return d.continues && d.knownIDs.Contains(s.String())
}
