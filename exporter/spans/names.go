package spans

import "go.opentelemetry.io/otel/attribute"

// Delegraph's own attribute names. Those of the GenAI conventions are in a conventions.Table.
const (
	runID       = attribute.Key("delegraph.run.id")
	runStatus   = attribute.Key("delegraph.run.status")
	runReason   = attribute.Key("delegraph.run.status_reason")
	dialectName = attribute.Key("delegraph.dialect")
	sourceName  = attribute.Key("delegraph.source")
	timing      = attribute.Key("delegraph.timing")
	// Seconds, reported by the protocol for an operation of unknown times. The span's length is
	// meaningless then.
	reportedDuration = attribute.Key("delegraph.reported_duration")
	// Class of the failure; error.type has the most specific code that is known.
	failureClass = attribute.Key("delegraph.failure")
	toolIsAgent  = attribute.Key("delegraph.tool.is_agent")
	// The response was matched to the call by name and order, because the stream has no ids.
	toolInferred   = attribute.Key("delegraph.tool.response_inferred")
	reasoningSteps = attribute.Key("delegraph.reasoning.steps")
	// Confidences, citations and reasoning chains beyond the limit of one operation. Those beyond the
	// limit of a span's events are in OTLP's own dropped_events_count.
	statementsDropped = attribute.Key("delegraph.statements.dropped")

	// Kind of a link: linkTransfer, or one of the tracker's kinds of links to other runs.
	linkKind = attribute.Key("delegraph.link.kind")

	// Seconds: the smallest difference between the time of receipt and the reported time. It is how far
	// the agent's clock is behind ours, plus the shortest delay.
	clockOffset = attribute.Key("delegraph.clock.offset")

	// What the protocol reports at the end of a run: seconds, and tool calls. No duration or count of
	// calls uses them.
	runReportedDuration  = attribute.Key("delegraph.run.reported_duration")
	runReportedToolCalls = attribute.Key("delegraph.run.reported_tool_calls")

	contentTruncated = attribute.Key("delegraph.content.truncated")

	// Items of a run's plan by their last status.
	planPending    = attribute.Key("delegraph.plan.pending")
	planInProgress = attribute.Key("delegraph.plan.in_progress")
	planCompleted  = attribute.Key("delegraph.plan.completed")
	planCanceled   = attribute.Key("delegraph.plan.canceled")

	// Shared state as an agent last reported it: names of its members and its size, never values.
	stateKeys  = attribute.Key("delegraph.state.keys")
	stateBytes = attribute.Key("delegraph.state.bytes")

	// State of an agent's loop: for a model response, when the model was called; for an agent, the
	// last one.
	loopIteration = attribute.Key("delegraph.loop.iteration")
	loopMessages  = attribute.Key("delegraph.loop.messages")
	loopTools     = attribute.Key("delegraph.loop.tools")

	// Rounds of an agent's loop, as the protocol reports them at its end.
	reportedIterations = attribute.Key("delegraph.loop.reported_iterations")

	thoughtTypes = attribute.Key("delegraph.thought.types")
	toolProgress = attribute.Key("delegraph.tool.progress")

	inputEvent   = "delegraph.input"
	inputID      = attribute.Key("delegraph.input.id")
	inputKind    = attribute.Key("delegraph.input.kind")
	inputStatus  = attribute.Key("delegraph.input.status")
	inputRouting = attribute.Key("delegraph.input.routing")
	inputWait    = attribute.Key("delegraph.input.wait") // seconds

	// Only with traces.content: the question, and as JSON the options and the schema of an answer.
	inputPrompt  = attribute.Key("delegraph.input.prompt")
	inputOptions = attribute.Key("delegraph.input.options")
	inputSchema  = attribute.Key("delegraph.input.schema")

	// Bounds of a confidence that is stated as a range. It has no score.
	confidenceLow  = attribute.Key("delegraph.confidence.low")
	confidenceHigh = attribute.Key("delegraph.confidence.high")

	citationEvent     = "delegraph.citation"
	citationSource    = attribute.Key("delegraph.citation.source")
	citationReference = attribute.Key("delegraph.citation.reference")
	citationURI       = attribute.Key("delegraph.citation.uri")
)

// linkTransfer is the kind of a link to the call that transferred control.
const linkTransfer = "transfer"

// proofConfidence is the evaluation name of a stated confidence.
const proofConfidence = "proof.confidence"
