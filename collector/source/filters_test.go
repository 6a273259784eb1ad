package source_test

import (
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
)

// passValid is a filter that passes frames that are not rejected.
type passValid struct{}

func (passValid) Append(dst []byte, b *event.Batch) []byte {
	if b.Rejected == "" {
		dst, _ = sse.AppendFrame(dst, sse.Frame{Data: b.Frame.Data})
	}
	return dst
}

func (passValid) AppendID(dst, _ []byte) []byte { return dst }

// constantFilter replaces each frame with the same text.
type constantFilter struct{}

func (constantFilter) Append(dst []byte, _ *event.Batch) []byte { return append(dst, "data: 1\n\n"...) }

func (constantFilter) AppendID(dst, _ []byte) []byte { return dst }

// passAll is a filter that passes all frames.
type passAll struct{}

func (passAll) Append(dst []byte, b *event.Batch) []byte {
	dst, _ = sse.AppendFrame(dst, b.Frame)
	return dst
}

func (passAll) AppendID(dst, _ []byte) []byte { return dst }
