package aisdk

import (
	"regexp"
	"strconv"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

type decoder struct {
	agent string // the configured name: the protocol has none

	runState

	atEnd   bool   // the last chunk was the end of an answer
	lastRun string // the last run that has ended

	names wire.NameCache
}

// runState is the state of the current answer.
type runState struct {
	run               string // the ID of the message that the answer makes or continues
	started           bool   // its start was reported
	openMessages      int    // starts without a finish
	finalReported     bool   // and no message or step has started since
	failure           event.Failure
	code              string // of the failure
	steps             steps
	stepCount         int  // of the answer so far
	hadOpenSteps      bool // several steps were unfinished at the same time
	hadParallelModels bool // models have responded at the same time, and not in the call of another step
	parts             parts
	forgottenParts    wire.Set[partKey] // parts without an end that are no longer in parts, although their starts left
	partCount         int               // of the answer so far
	calls             calls
	cited             wire.Set[string] // IDs of the sources that the answer has named
	withheld
}

// Decode decodes a chunk. A stream that resumes an answer repeats the answer's chunks.
func (d *decoder) Decode(f dialect.Frame, b *event.Batch) {
	b.Agent, b.Run = d.agent, d.run
	d.decode(f, b)
	if b.Run != "" {
		b.ContentHash = wire.ContentHash(f)
		b.Piece = b.Type == typeTextDelta || b.Type == typeReasoningDelta || b.Type == typeToolInputDelta
	}
}

func (d *decoder) decode(f dialect.Frame, b *event.Batch) {
	if string(f.Data) == typeDone {
		b.Type = typeDone
		d.done(b)
		return
	}
	switch {
	case !f.JSON.Exists():
		b.Rejected = f.Malformed
		d.missedStart = d.missedStart || f.MayContainObject()
		if isBrokenError(f.Data) {
			d.atEnd = false
			d.addFailure(event.AgentError, "", b)
		}
		return
	case f.JSON.Get("type").Kind() != strictjson.String:
		b.Rejected = event.ReasonShape
		d.missedStart = true
		return
	}
	k := kindOf(f.JSON)
	if k == nil {
		b.UnknownKind = dialect.UnknownKind(f.JSON.Get("type").Text())
		b.Add(event.KindOther)
		d.missedStart = d.missedStart || lenient.HasInternalDiscriminator(&table, f.JSON)
		return
	}
	b.Type, d.atEnd = k.name, false
	d.check(k, f.JSON, wire.IsFiltered(b, prefilter))
	k.decode(d, f.JSON, b)
	d.record(k, f.JSON, b)
	if len(b.Events) == 0 {
		b.Add(event.KindOther)
	}
}

// isBrokenError reports whether data looks like an error whose text was inserted without escaping.
func isBrokenError(data []byte) bool { return brokenError.Match(data) }

var brokenError = regexp.MustCompile(`^\s*\{\s*"type"\s*:\s*"error"\s*,\s*"errorText"`)

var prefilter = lenient.NewPrefilter(&table)

// start reads the ID of the message. The first ID that a start has names the run. Merged answers have several starts,
// and an answer may begin with parts that the application defines.
func (d *decoder) start(v strictjson.Value, b *event.Batch) {
	if d.run == "" {
		d.run = d.name(v.Get("messageId"))
		b.Run = d.run
	}
	d.openMessages++
	d.finalReported = false
	if !d.started {
		d.started = true
		b.Add(event.KindRunStarted)
	}
}

// finish ends an answer, unless the application merges it into another one with an open step. The client has to
// execute the calls without a result. Tokens are known only if the metadata contains the SDK's counts.
func (d *decoder) finish(v strictjson.Value, b *event.Batch) {
	d.openMessages = max(0, d.openMessages-1)
	isMerged := d.isMerged()
	if !isMerged {
		for _, call := range d.calls.pause() {
			b.Add(event.KindToolPaused).CallID = call
		}
	}
	if used := readUsage(v.Get("messageMetadata")); used != (event.Usage{}) {
		b.Add(event.KindUsage).Usage = used
	}
	switch reason := v.Get("finishReason"); {
	case d.failure != event.NoFailure:
	case reason.Is("error"):
		d.addFailure(event.AgentError, "", b)
	case reason.Is("content-filter"):
		d.addFailure(event.ModelError, "content-filter", b)
	case !isMerged && !d.finalReported:
		d.finalReported = true
		b.Add(event.KindFinal)
	}
}

// isMerged reports whether another message goes on.
func (d *decoder) isMerged() bool { return d.openMessages > 0 && len(d.steps) > 0 }

// abort reports that the server stopped the answer, at its client's request or because of a time limit.
func (d *decoder) abort(_ strictjson.Value, b *event.Batch) {
	d.addFailure(event.FailureCanceled, "", b)
}

// fail reports an error, after which the SDK's client reads no further.
func (d *decoder) fail(v strictjson.Value, b *event.Batch) {
	d.addFailure(event.AgentError, wire.TextCode(v.Get("errorText").Text()), b)
}

// addFailure reports a failure. The first one decides how the run ends.
func (d *decoder) addFailure(failure event.Failure, code string, b *event.Batch) {
	if d.failure == event.NoFailure {
		d.failure, d.code = failure, code
	}
	for _, open := range d.steps.responding() { // which one failed is unknown
		open.failed = true
	}
	e := b.Add(event.KindError)
	e.Error, e.Code = failure, code
}

// done ends the run.
func (d *decoder) done(b *event.Batch) {
	if d.atEnd { // the end is repeated
		b.Run = d.lastRun
		b.Add(event.KindOther)
		d.runState = runState{}
		return
	}
	d.atEnd, d.lastRun = true, d.run
	e := b.Add(event.KindRunEnded)
	e.Error, e.Code = d.failure, d.code
	d.runState = runState{}
}

func (d *decoder) other(strictjson.Value, *event.Batch) {}

// name returns a string of the wire, cut to dialect.MaxName.
func (d *decoder) name(v strictjson.Value) string { return d.names.Name(v) }

// key returns an ID to compare with others. A number is equal to its digits in a string: a lenient reader may take 7 for "7". Long
// IDs differ although only their beginning is kept. A missing ID is "".
func (d *decoder) key(v strictjson.Value) string {
	text := v.Raw()
	switch v.Kind() {
	case strictjson.None, strictjson.Null:
		return ""
	case strictjson.String:
		text = v.Text()
	}
	if len(text) <= dialect.MaxName {
		return d.names.Truncate(text, dialect.MaxName)
	}
	return dialect.Name(string(text)) + " " + strconv.FormatUint(wire.Hash(string(text)), 16)
}
