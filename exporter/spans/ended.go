package spans

import (
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// endedSpan is the span of an ended operation. It does not change once a processor has it, so unlike the SDK's spans it
// needs no lock and no copies.
type endedSpan struct {
	sdktrace.ReadOnlySpan // nil: only for the private method of the interface

	observer        *Observer
	name            string
	kind            trace.SpanKind
	context, parent trace.SpanContext
	started, ended  time.Time
	status          sdktrace.Status
	attributes      []attribute.KeyValue
	events          []sdktrace.Event
	links           []sdktrace.Link

	droppedAttributes, droppedEvents, droppedLinks int
}

func (s *endedSpan) Name() string                     { return s.name }
func (s *endedSpan) SpanContext() trace.SpanContext   { return s.context }
func (s *endedSpan) Parent() trace.SpanContext        { return s.parent }
func (s *endedSpan) SpanKind() trace.SpanKind         { return s.kind }
func (s *endedSpan) StartTime() time.Time             { return s.started }
func (s *endedSpan) EndTime() time.Time               { return s.ended }
func (s *endedSpan) Attributes() []attribute.KeyValue { return s.attributes }
func (s *endedSpan) Links() []sdktrace.Link           { return s.links }
func (s *endedSpan) Events() []sdktrace.Event         { return s.events }
func (s *endedSpan) Status() sdktrace.Status          { return s.status }
func (s *endedSpan) DroppedAttributes() int           { return s.droppedAttributes }
func (s *endedSpan) DroppedLinks() int                { return s.droppedLinks }
func (s *endedSpan) DroppedEvents() int               { return s.droppedEvents }
func (s *endedSpan) ChildSpanCount() int              { return 0 }
func (s *endedSpan) Resource() *resource.Resource     { return s.observer.provider.resource }

func (s *endedSpan) InstrumentationScope() instrumentation.Scope { return s.observer.scope }

func (s *endedSpan) InstrumentationLibrary() instrumentation.Scope { return s.observer.scope }

func (s *endedSpan) addEvent(name string, at time.Time, attributes []attribute.KeyValue) {
	kept, dropped := first(attributes, s.observer.provider.limits.AttributePerEventCountLimit)
	s.events = append(s.events, sdktrace.Event{Name: name, Time: at, Attributes: kept, DroppedAttributeCount: dropped})
}

func (s *endedSpan) addLink(kind string, to trace.SpanContextConfig) {
	kept, dropped := first([]attribute.KeyValue{linkKind.String(kind)}, s.observer.provider.limits.AttributePerLinkCountLimit)
	s.links = append(s.links, sdktrace.Link{SpanContext: trace.NewSpanContext(to), Attributes: kept, DroppedAttributeCount: dropped})
}

// limit applies the SDK's limits: it keeps the first attributes and the last events and links.
func (s *endedSpan) limit(l *sdktrace.SpanLimits) {
	s.attributes, s.droppedAttributes = first(s.attributes, l.AttributeCountLimit)
	s.events, s.droppedEvents = last(s.events, l.EventCountLimit)
	s.links, s.droppedLinks = last(s.links, l.LinkCountLimit)
	if l.AttributeValueLengthLimit >= 0 {
		for i := range s.attributes {
			truncate(&s.attributes[i].Value, l.AttributeValueLengthLimit)
		}
	}
}

// first returns the first elements up to a limit, and the number of the others. A negative limit means no
// limit.
func first[E any](list []E, limit int) (kept []E, dropped int) {
	if limit < 0 || len(list) <= limit {
		return list, 0
	}
	return list[:limit], len(list) - limit
}

// last is like first, but returns the last elements.
func last[E any](list []E, limit int) (kept []E, dropped int) {
	if limit < 0 || len(list) <= limit {
		return list, 0
	}
	dropped = len(list) - limit
	return slices.Clone(list[dropped:]), dropped
}

// truncate cuts the texts of an attribute's value to a number of runes.
func truncate(v *attribute.Value, limit int) {
	switch v.Type() {
	case attribute.STRING:
		*v = attribute.StringValue(firstRunes(v.AsString(), limit))
	case attribute.STRINGSLICE:
		texts := v.AsStringSlice()
		for i, text := range texts {
			texts[i] = firstRunes(text, limit)
		}
		*v = attribute.StringSliceValue(texts)
	}
}

// firstRunes returns the first runes of a text up to a limit.
func firstRunes(text string, limit int) string {
	for at := range text {
		if limit == 0 {
			return text[:at]
		}
		limit--
	}
	return text
}
