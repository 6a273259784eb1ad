package tracker

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/delegraph/delegraph/collector/event"
)

// Report is a run as printed by `replay --format=json` and the admin API. Its own keys are always
// present, lists are never null, and null means unknown or none.
type Report struct {
	Run          *string            `json:"run"`
	Dialect      string             `json:"dialect"`
	Source       string             `json:"source"`
	Session      *string            `json:"session"`
	App          *string            `json:"app"`
	Agent        *string            `json:"agent"`
	Status       Status             `json:"status"`
	StatusReason *string            `json:"status_reason"`
	Error        *string            `json:"error"`
	Started      *string            `json:"started"`
	Ended        *string            `json:"ended"`
	Operations   []OperationReport  `json:"operations"`
	Transfers    []TransferReport   `json:"transfers"`
	Confidence   []ConfidenceReport `json:"confidence"`
	Citations    []CitationReport   `json:"citations"`
	Reasoning    []ReasoningReport  `json:"reasoning"`
	Thoughts     []ThoughtReport    `json:"thoughts"`
	Inputs       []InputReport      `json:"inputs"`
	Artifacts    []ArtifactReport   `json:"artifacts"`
	Links        []LinkReport       `json:"links"`
	Plan         *PlanReport        `json:"plan"`
	State        []StateReport      `json:"state"`
	Usage        UsageReport        `json:"usage"`
	Events       int                `json:"events"`
	Internal     int                `json:"internal_events"`
	ParseErrors  int                `json:"parse_errors"`
}

// OperationReport is one operation. Its id is that of its span.
type OperationReport struct {
	ID      string          `json:"id"`
	Parent  *string         `json:"parent"`
	Kind    OperationKind   `json:"kind"`
	Name    *string         `json:"name"`
	Agent   *string         `json:"agent"`
	Status  OperationStatus `json:"status"`
	Error   *string         `json:"error"`
	Failure *string         `json:"failure"`
	Started *string         `json:"started"`
	Ended   *string         `json:"ended"`
	Timing  string          `json:"timing"`

	Seconds        *float64 `json:"duration_seconds"`
	DurationTiming string   `json:"duration_timing"` // source of the duration, with the values of Timing

	// These are left out if the stream does not state them.
	Iteration    *int64   `json:"iteration,omitempty"` // of the agent's loop
	Messages     *int64   `json:"messages,omitempty"`
	Tools        *int64   `json:"tools,omitempty"`
	Iterations   *int64   `json:"reported_iterations,omitempty"`
	Progress     *float64 `json:"progress,omitempty"`
	RequestModel string   `json:"request_model,omitempty"`
}

// TransferReport is one transfer of control.
type TransferReport struct {
	From  *string `json:"from"`
	To    string  `json:"to"`
	Event *string `json:"event"`
	Loop  bool    `json:"loop,omitempty"`
}

// ConfidenceReport is one stated confidence. Value, Low and High are from 0 to 1. Value is null if the stream
// gives only words or a range.
type ConfidenceReport struct {
	Agent   *string      `json:"agent"`
	Value   *float64     `json:"value"`
	Low     *float64     `json:"low,omitempty"`
	High    *float64     `json:"high,omitempty"`
	Topic   string       `json:"topic,omitempty"` // the bold label of the line that states it
	Scope   string       `json:"scope"`
	Label   string       `json:"label"`
	Origin  event.Origin `json:"origin"`
	Overall bool         `json:"overall"`
}

// CitationReport is one citation.
type CitationReport struct {
	Agent     *string `json:"agent"`
	Source    string  `json:"source"`
	Reference *string `json:"reference"`
	URI       *string `json:"uri"`
}

// ReasoningReport is the length of one reasoning chain.
type ReasoningReport struct {
	Agent *string `json:"agent"`
	Steps int     `json:"steps"`
}

// ThoughtReport counts the thoughts of one type.
type ThoughtReport struct {
	Agent *string `json:"agent"`
	Type  string  `json:"type"`
	Count int     `json:"count"`
}

// InputReport is one request for input.
type InputReport struct {
	ID          *string         `json:"id"`
	Kind        event.InputKind `json:"kind"`
	Status      InputStatus     `json:"status"`
	WaitSeconds *float64        `json:"wait_seconds"`
}

// ArtifactReport is one artifact.
type ArtifactReport struct {
	Name     string             `json:"name"`
	Kind     event.ArtifactKind `json:"kind"`
	Bytes    *int64             `json:"bytes"`
	Complete bool               `json:"complete"`
}

// LinkReport identifies a run that this one continues. Operation is the ID of its first operation.
type LinkReport struct {
	Kind      string  `json:"kind"`
	Run       *string `json:"run"`
	Operation string  `json:"operation"`
}

// PlanReport counts the items of a run's plan by status.
type PlanReport struct {
	Pending    int `json:"pending"`
	InProgress int `json:"in_progress"`
	Completed  int `json:"completed"`
	Canceled   int `json:"canceled"`
}

// StateReport describes the session state that an agent reported last: names and size, never
// values.
type StateReport struct {
	Agent     *string  `json:"agent"`
	Operation string   `json:"operation"`
	Keys      []string `json:"keys"`
	Bytes     *int64   `json:"bytes"`
}

// UsageReport counts the tokens of all model responses.
type UsageReport struct {
	Input  *int64 `json:"input_tokens"`
	Output *int64 `json:"output_tokens"`
}

// Report returns the report of the run as it is now.
func (r *Run) Report() Report {
	return Report{
		Run: stringOrNull(r.ID), Dialect: r.Dialect, Source: r.Source, Session: stringOrNull(r.Session), App: stringOrNull(r.App), Agent: stringOrNull(r.Agent),
		Status: r.Status, StatusReason: stringOrNull(string(r.Reason)), Error: stringOrNull(r.Root.ErrorType()),
		Started: timestamp(r.Root.Started), Ended: timestamp(r.Root.Ended),
		Operations: list(r.Operations, (*Operation).report),
		Transfers: list(r.Transfers, func(t Transfer) TransferReport {
			return TransferReport{stringOrNull(t.From), t.To, stringOrNull(t.EventID), t.Loop}
		}),
		Confidence: list(r.Confidence, Confidence.report),
		Citations: list(r.Citations, func(c Citation) CitationReport {
			return CitationReport{stringOrNull(c.Agent), c.Source, stringOrNull(c.Reference), stringOrNull(c.URI)}
		}),
		Reasoning: list(r.Reasoning, func(s Reasoning) ReasoningReport { return ReasoningReport{stringOrNull(s.Agent), s.Steps} }),
		Thoughts:  list(r.Thoughts, func(t ThoughtCount) ThoughtReport { return ThoughtReport{stringOrNull(t.Agent), t.Type, t.Count} }),
		Inputs:    list(r.Inputs, (*InputRequest).report),
		Artifacts: list(r.Artifacts, func(a Artifact) ArtifactReport {
			return ArtifactReport{a.Name, a.Kind, number(a.Bytes), a.Complete}
		}),
		Links:       list(r.Links, func(l Link) LinkReport { return LinkReport{l.Kind, stringOrNull(l.Run), hex.EncodeToString(l.Root[:])} }),
		Plan:        planReport(r.Plan),
		State:       stateReports(r.Operations),
		Usage:       UsageReport{number(r.Usage.Input), number(r.Usage.Output)},
		Events:      r.Events,
		Internal:    r.Internal,
		ParseErrors: r.ParseErrors,
	}
}

func planReport(p event.Plan) *PlanReport {
	if p == (event.Plan{}) {
		return nil
	}
	return &PlanReport{p.Pending, p.InProgress, p.Completed, p.Canceled}
}

func stateReports(operations []*Operation) []StateReport {
	shown := []StateReport{}
	for _, op := range operations {
		if s := op.Details.OrZero().State; len(s.Keys) > 0 || s.Bytes.Known {
			shown = append(shown, StateReport{stringOrNull(op.Name), hex.EncodeToString(op.ID[:]), list(s.Keys, strings.Clone), number(s.Bytes)})
		}
	}
	return shown
}

func (op *Operation) report() OperationReport {
	details := op.Details.OrZero()
	r := OperationReport{
		ID: hex.EncodeToString(op.ID[:]), Parent: op.parentID(), Kind: op.Kind, Name: stringOrNull(op.Name), Agent: stringOrNull(op.Agent),
		Status: op.Status, Error: stringOrNull(op.ErrorType()), Failure: stringOrNull(string(op.Failure)), Started: timestamp(op.Started), Ended: timestamp(op.Ended), Timing: op.Timing.String(),
		Iteration: number(details.Loop.Iteration), Messages: number(details.Loop.Messages), Tools: number(details.Loop.Tools),
		Iterations: number(details.ReportedIterations), RequestModel: details.RequestModel,
	}
	if details.Progress.Known {
		r.Progress = &details.Progress.Value
	}
	took, by := op.Duration()
	if r.DurationTiming = by.String(); by != TimingUnknown {
		seconds := took.Seconds()
		r.Seconds = &seconds
	}
	return r
}

func (op *Operation) parentID() *string {
	if op.Parent == (SpanID{}) {
		return nil
	}
	return stringOrNull(hex.EncodeToString(op.Parent[:]))
}

func (s Confidence) report() ConfidenceReport {
	r := ConfidenceReport{Agent: stringOrNull(s.Agent), Topic: s.Topic, Scope: s.Scope, Label: s.Label, Origin: s.Origin, Overall: s.Overall}
	if s.Known {
		r.Value = &s.Value
	}
	if s.Low.Known {
		r.Low = &s.Low.Value
	}
	if s.High.Known {
		r.High = &s.High.Value
	}
	return r
}

func (in *InputRequest) report() InputReport {
	r := InputReport{ID: stringOrNull(in.ID), Kind: in.Kind, Status: in.Status}
	if wait, ok := in.Wait(); ok {
		seconds := wait.Seconds()
		r.WaitSeconds = &seconds
	}
	return r
}

// JSON returns the report as one line of JSON.
func (r Report) JSON() ([]byte, error) { return json.Marshal(r) }

func stringOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func number(c event.Count) *int64 {
	if !c.Known {
		return nil
	}
	return &c.N
}

func timestamp(m Timestamp) *string {
	if m.At.IsZero() {
		return nil
	}
	return stringOrNull(m.At.UTC().Format(time.RFC3339Nano))
}

func list[T, R any](items []T, report func(T) R) []R {
	out := make([]R, 0, len(items))
	for _, item := range items {
		out = append(out, report(item))
	}
	return out
}
