package deepagents

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// maxDepth bounds the nesting of JSON that stands in a string.
const maxDepth = 128

// inside is a value that is sent as JSON in a string. A text that is no JSON, perhaps because the server cut it, is a string.
func (d *decoder) inside(v strictjson.Value) strictjson.Value {
	if v.Kind() != strictjson.String {
		return v
	}
	d.text = v.AppendText(d.text[:0])
	if d.doc.Parse(d.text, maxDepth) != nil {
		return v
	}
	return d.doc.Root()
}

// pseudonym stands for a thread. Whoever knows the thread's own id may go on with its work, so that it is told to nobody.
func pseudonym(thread []byte) string {
	if len(thread) == 0 {
		return ""
	}
	sum := sha256.Sum256(thread)
	return "thread-" + hex.EncodeToString(sum[:8])
}

// toolFailure reads how a call ended. Only "ok" is documented.
func toolFailure(status strictjson.Value) event.Failure {
	switch status.String() {
	case "", "ok", "success", "completed":
		return event.NoFailure
	case "cancelled", "canceled":
		return event.FailureCanceled
	}
	return event.ToolError
}

// runFailure reads how the run ended.
func runFailure(status strictjson.Value) event.Failure {
	switch status.String() {
	case "", "completed", "interrupted":
		return event.NoFailure
	case "cancelled", "canceled":
		return event.FailureCanceled
	}
	return event.AgentError
}

// longest bounds a duration that is believed.
const longest = 30 * 24 * time.Hour

func milliseconds(v strictjson.Value) event.Duration {
	n, ok := v.Int()
	if !ok || n < 0 || n > longest.Milliseconds() {
		return event.Duration{}
	}
	return event.Duration{D: time.Duration(n) * time.Millisecond, Known: true}
}

// Times outside these years are not what a running agent says of its events.
var (
	earliest = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

func reportedTime(v strictjson.Value) time.Time {
	t, err := time.Parse(time.RFC3339Nano, v.String())
	if err != nil || t.Before(earliest) || t.After(latest) {
		return time.Time{}
	}
	return t.UTC()
}

// maxName bounds names and ids, in bytes: they end in span attributes and label values.
const maxName = 256

// cut makes a name of a text: UTF-8, and no longer than a name may be.
func cut(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxName)], "") }
