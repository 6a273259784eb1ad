package wire

// Keys of deferred calls in the memory of other streams. No call has such an ID.
const (
	deferredCalls     = "deferred calls"
	deferredQuestions = "deferred questions"
)

// InputTool is the call by which a node of a workflow asks the user. Its event has nothing else.
//
// Source: google/adk/workflow/utils/_workflow_hitl_utils.py of google-adk 2.13, create_request_input_event.
const InputTool = "adk_request_input"

// MissDeferred records that a withheld event may have had calls that its server leaves out of it and sends later, without the mark of the
// event. isEmpty says that nothing else was in the event, so it may have been a question.
func (c *WithheldCalls) MissDeferred(isEmpty bool) {
	c.missedDeferred, c.missedQuestion = true, c.missedQuestion || isEmpty
	if c.shared.Add(deferredCalls); isEmpty {
		c.shared.Add(deferredQuestions)
	}
}

// ShowEmpty records that an event left that may have been a question.
func (c *WithheldCalls) ShowEmpty() { c.emptyLeft = true }

// mayHideDeferred reports whether a withheld event of this task, on any stream, may have had calls that are sent later.
func (c *WithheldCalls) mayHideDeferred() bool {
	return c.missedDeferred || c.missed || c.shared.Contains(deferredCalls)
}

// mayHideQuestion reports whether the event of a question may have been withheld.
func (c *WithheldCalls) mayHideQuestion() bool {
	return !c.emptyLeft || c.missedQuestion || c.missed || c.shared.Contains(deferredQuestions)
}

// isDeferredWithheld reports whether a CallDeferred is of a withheld event, or may be. One that was shown before is of another event.
func (c *WithheldCalls) isDeferredWithheld(call NamedCall) bool {
	key := call.key()
	mayBeHidden := c.mayHideDeferred() && (call.Tool != InputTool || c.mayHideQuestion())
	return c.own.Contains(key) || !c.shownKeys.Contains(key) && (call.ID != "" && c.shared.Contains(call.ID) || c.own.IsFull() || mayBeHidden)
}
