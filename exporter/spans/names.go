package spans

import "go.opentelemetry.io/otel/attribute"

// Names of our own. Those of the GenAI conventions are in a conventions.Table.
const (
	runID       = attribute.Key("delegraph.run.id")
	runStatus   = attribute.Key("delegraph.run.status")
	runReason   = attribute.Key("delegraph.run.status_reason")
	dialectName = attribute.Key("delegraph.dialect")
	sourceName  = attribute.Key("delegraph.source")
	timingWorth = attribute.Key("delegraph.timing")
	// What kind of thing failed, where error.type says why.
	failureClass = attribute.Key("delegraph.failure")
	toolIsAgent  = attribute.Key("delegraph.tool.is_agent")
	// The response is taken for this call's by name and order, since the wire joins the two by nothing.
	toolInferred   = attribute.Key("delegraph.tool.response_inferred")
	reasoningSteps = attribute.Key("delegraph.reasoning.steps")
	// Confidences, citations and reasoning chains beyond the limit of one operation; those beyond the limit of one span's events
	// are in OTLP's own dropped_events_count.
	statementsDropped = attribute.Key("delegraph.statements.dropped")

	// What a link is for: linkTransfer, or one of the tracker's kinds of links to other runs.
	linkKind = attribute.Key("delegraph.link.kind")

	// Seconds, the least time of receipt less time reported: how far the agent's clock is behind ours, with the shortest delay.
	clockOffset = attribute.Key("delegraph.clock.offset")

	// What the protocol itself says of a run at its end: seconds, and tool calls. Neither has a say in what is measured.
	reportedDuration  = attribute.Key("delegraph.run.reported_duration")
	reportedToolCalls = attribute.Key("delegraph.run.reported_tool_calls")

	contentTruncated = attribute.Key("delegraph.content.truncated")

	// What a run means to do: items of its plan by how far they were at last.
	planPending    = attribute.Key("delegraph.plan.pending")
	planInProgress = attribute.Key("delegraph.plan.in_progress")
	planCompleted  = attribute.Key("delegraph.plan.completed")
	planCanceled   = attribute.Key("delegraph.plan.canceled")

	// Shared state as an agent left it: names of its members and its size, never a value.
	stateKeys  = attribute.Key("delegraph.state.keys")
	stateBytes = attribute.Key("delegraph.state.bytes")

	// Where an agent's loop stands: on a model's response, at its request; on an agent, at last.
	loopIteration = attribute.Key("delegraph.loop.iteration")
	loopMessages  = attribute.Key("delegraph.loop.messages")
	loopTools     = attribute.Key("delegraph.loop.tools")

	// Rounds of an agent's loop, as the protocol counts them at the agent's end.
	reportedIterations = attribute.Key("delegraph.loop.reported_iterations")

	thoughtTypes = attribute.Key("delegraph.thought.types")
	toolProgress = attribute.Key("delegraph.tool.progress")

	inputEvent   = "delegraph.input"
	inputID      = attribute.Key("delegraph.input.id")
	inputKind    = attribute.Key("delegraph.input.kind")
	inputStatus  = attribute.Key("delegraph.input.status")
	inputRouting = attribute.Key("delegraph.input.routing")
	inputWait    = attribute.Key("delegraph.input.wait") // seconds

	// The ends of a range, which has no score.
	confidenceLow  = attribute.Key("delegraph.confidence.low")
	confidenceHigh = attribute.Key("delegraph.confidence.high")

	citationEvent     = "delegraph.citation"
	citationSource    = attribute.Key("delegraph.citation.source")
	citationReference = attribute.Key("delegraph.citation.reference")
	citationURI       = attribute.Key("delegraph.citation.uri")
)

// linkTransfer is the kind of a link to the call by which control came.
const linkTransfer = "transfer"

// proofConfidence is the name under which a stated confidence is an evaluation.
const proofConfidence = "proof.confidence"
