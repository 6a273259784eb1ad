package metrics

import (
	"slices"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/filter"
	"github.com/delegraph/delegraph/exporter/stream/jetstream"
	"github.com/delegraph/delegraph/exporter/stream/replay"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// fromWire maps each label whose values come from agents to the class that caps it.
var fromWire = map[string]string{
	"gen_ai_agent_name": "agent", "agent": "agent", "from_agent": "agent", "to_agent": "agent",
	"gen_ai_tool_name": "tool", "tool": "tool",
	"gen_ai_response_model": "model",
	"gen_ai_workflow_name":  "workflow",
	"name":                  "event",
	"error_type":            "error",
}

// alwaysAdmitted lists our own values of labels that also have values from agents. The caps of
// classes do not replace them.
var alwaysAdmitted = map[string][]string{
	"error_type": words([]event.Failure{
		event.NoFailure, event.ToolError, event.ModelError, event.AgentError, event.FailureTimeout, event.FailureCanceled, event.OtherFailure,
	}),
}

// closedValues lists the possible values of the labels that we define, by label, or by metric and label
// where metrics differ.
var closedValues = map[string][]string{
	"status":                words(tracker.Statuses()),
	"origin":                words([]event.Origin{event.OriginStructured, event.OriginText, event.OriginThought}),
	"outcome":               words(stream.ResumeOutcomes()),
	"answer":                words(stream.RefusalResponses()),
	"component":             words(recovery.Components()),
	"label":                 {"agent", "tool", "model", "workflow", "error", "event"},
	"gen_ai_token_type":     {"input", "output"},
	"gen_ai_token_modality": {"unknown"},
	"gen_ai_operation_name": words([]tracker.OperationKind{tracker.Chat, tracker.InvokeAgent, tracker.InvokeWorkflow}), // for tokens: chat, or the kind of the root operation if usage is known only for the run

	inferenceOf(conventions.Released()): {string(tracker.Chat)},
	inferenceOf(conventions.Latest()):   {string(tracker.Chat)},

	events.of("kind"):            kinds(event.Kinds()),
	internalEvents.of("kind"):    kinds(event.Kinds()),
	inputRequests.of("kind"):     inputKinds,
	inputWait.of("kind"):         inputKinds,
	inputExpired.of("kind"):      inputKinds,
	artifacts.of("kind"):         artifactKinds,
	artifactBytes.of("kind"):     artifactKinds,
	artifactGaps.of("kind"):      artifactKinds,
	chunksRepeated.of("kind"):    artifactKinds,
	planItems.of("status"):       {"pending", "in_progress", "completed", "canceled"},
	operationsExpired.of("kind"): openKinds,
	operationsEvicted.of("kind"): slices.Concat(openKinds, keptKinds),

	parseErrors.of("reason"):       words(event.Reasons()),
	memoryUsed.of("buffer"):        buffers,
	memoryShed.of("buffer"):        buffers,
	unobservedBytes.of("reason"):   {"queue_full", "memory", "panic", "encoding"},
	unreadable.of("reason"):        words(event.UnreadableReasons()),
	unreadRequests.of("reason"):    {"too_large", "malformed", "incomplete", "session", "panic", "memory"},
	cardsUnchanged.of("reason"):    {"too_large", "unreadable", "signed", "memory"},
	relayWithheld.of("reason"):     words(filter.Reasons()),
	spansDropped.of("reason"):      {"queue_full", "rejected", "shutdown", "queue_bytes", "memory"},
	streamDropped.of("reason"):     slices.Concat(words(filter.Reasons()), words(replay.Drops())),
	streamDisconnects.of("reason"): words(stream.Disconnects()),
	streamRefusals.of("reason"):    words(stream.Refusals()),
	storeDropped.of("reason"):      words(jetstream.Drops()),
	storeFeedGaps.of("reason"):     words([]replay.GapReason{replay.GapEvicted, replay.GapLost}),
}

var (
	buffers    = []string{"observe_queues", "headers", "requests", "span_queue", "runs", "content", "replay", "decodings", "subscribers", "large_frames", "relays", "log_and_ended_runs", "streams"}
	inputKinds = words([]event.InputKind{
		event.InputConfirmation, event.InputClarification, event.InputSelection, event.InputData, event.InputCredential, event.InputTool,
	})
	artifactKinds = words([]event.ArtifactKind{event.ArtifactFile, event.ArtifactData, event.ArtifactDataset, event.ArtifactOther})

	// openKinds are runs and operations that are still open. keptKinds are facts that the tracker stores for a run.
	openKinds = []string{tracker.LostRun, string(tracker.InvokeWorkflow), string(tracker.InvokeAgent), string(tracker.InvokeNode), string(tracker.ExecuteTool), string(tracker.Chat)}
	keptKinds = slices.Concat(
		[]string{tracker.LostReport, tracker.LostInput, tracker.LostLink, tracker.LostReply, tracker.LostDepth, tracker.LostOrphan, tracker.LostContent, tracker.LostStream, tracker.LostListener},
		kinds([]event.Kind{
			event.KindTransfer, event.KindThought, event.KindArtifact, event.KindFinal, event.KindConfidence, event.KindCitation, event.KindReasoning, event.KindUsage,
		}))
)

func words[T ~string](values []T) (out []string) {
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}

func kinds(values []event.Kind) (out []string) {
	for _, k := range values {
		out = append(out, k.String())
	}
	return out
}

// inferenceOf returns the key in closedValues for the operation label of inferenceDuration.
func inferenceOf(n conventions.Table) string {
	return newGenAI(n).inferenceDuration.of(label(n.OperationName))
}

// of returns a label's key in closedValues if its values differ between metrics.
func (m metric) of(label string) string { return m.name + " " + label }

// values returns the closed list of a label's values, or nil if agents or the configuration choose
// them.
func (m metric) values(label string) []string {
	if own, ok := closedValues[m.of(label)]; ok {
		return own
	}
	return closedValues[label]
}
