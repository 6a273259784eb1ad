package wire

// deferredCalls is the key of MissDeferred in the memory of other streams. No call has this ID.
const deferredCalls = "deferred calls"

// MissDeferred records that a withheld event may have had calls that its server leaves out of it and sends later, without the mark of the
// event.
func (c *WithheldCalls) MissDeferred() {
	c.missedDeferred = true
	c.shared.Add(deferredCalls)
}

// mayHideDeferred reports whether a withheld event of this task, on any stream, may have had calls that are sent later.
func (c *WithheldCalls) mayHideDeferred() bool {
	return c.missedDeferred || c.missed || c.shared.Contains(deferredCalls)
}

// isDeferredWithheld reports whether a CallDeferred is of a withheld event, or may be. One that was shown before is of another event.
func (c *WithheldCalls) isDeferredWithheld(call NamedCall) bool {
	key := call.key()
	return c.own.Contains(key) || !c.shownKeys.Contains(key) && (call.ID != "" && c.shared.Contains(call.ID) || c.own.IsFull() || c.mayHideDeferred())
}
