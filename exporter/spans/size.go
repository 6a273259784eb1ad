package spans

import (
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// Approximate sizes in memory of the parts of a span, without their texts.
const (
	spanSize      = 1024
	attributeSize = 64
	eventSize     = 96
)

// sizeOf returns the approximate size of a span in memory, in bytes. Attribute keys are constants
// and not counted.
func sizeOf(span sdktrace.ReadOnlySpan) int {
	n := spanSize + len(span.Name()) + len(span.Status().Description) + span.SpanContext().TraceState().Len()*attributeSize
	n += sizeOfAll(span.Attributes())
	for _, e := range span.Events() {
		n += eventSize + len(e.Name) + sizeOfAll(e.Attributes)
	}
	for _, l := range span.Links() {
		n += eventSize + sizeOfAll(l.Attributes)
	}
	return n
}

func sizeOfAll(attributes []attribute.KeyValue) int {
	n := len(attributes) * attributeSize
	for _, a := range attributes {
		switch a.Value.Type() {
		case attribute.STRING:
			n += len(a.Value.AsString())
		case attribute.STRINGSLICE:
			for _, s := range a.Value.AsStringSlice() {
				n += 16 + len(s)
			}
		}
	}
	return n
}
