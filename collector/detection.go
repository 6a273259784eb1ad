package collector

import (
	"slices"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/sse"
)

// enqueue buffers a frame until its stream's dialect is known. If the frame reveals the dialect, or the
// frames have waited too long, it lets Next return them.
func (d *StreamDecoder) enqueue(frame pendingFrame) {
	var found dialect.Dialect
	if frame.rejected == "" {
		found = d.detect(frame.Frame)
	}
	late := len(d.pending) > 0 && frame.received.Sub(d.pending[0].received) > maxUndecidedTime
	if found == nil && (late || len(d.pending) == maxUndecided || d.pendingSize()+len(frame.Data) > d.settings.MaxFrame) {
		if found = d.detector.MostLikely(); found == nil {
			d.flushCount = len(d.pending)
		}
	}
	if found != nil {
		d.decide(found)
		d.pending = append(d.pending, frame) // not copied: Next returns it before the reader reuses its bytes
		d.flushCount = len(d.pending)
		return
	}
	frame.ID, frame.Event = slices.Clone(frame.ID), slices.Clone(frame.Event)
	if len(frame.Data) < minOwnedFrame {
		frame.Data = slices.Clone(frame.Data)
	}
	d.pending = append(d.pending, frame)
}

// detect returns the dialect that recognizes a frame, or nil. After a panic it returns nil.
func (d *StreamDecoder) detect(frame sse.Frame) (found dialect.Dialect) {
	defer d.settings.Panics.Recover(recovery.Detector, nil)
	return d.detector.Detect(d.parse(d.begin(frame, time.Time{})))
}

// decide sets the stream's dialect.
func (d *StreamDecoder) decide(found dialect.Dialect) {
	d.stream.Dialect = found.Name()
	d.decoder, d.table = found.New(d.stream), found.Table()
}

// isForeign reports whether the stream belongs to a dialect other than the one named to Decode. It switches
// to the other one instead if the named dialect is only a guess from the path, or if its name may also mean
// the other one.
func (d *StreamDecoder) isForeign(f dialect.Frame) bool {
	if d.foreign || d.rivals == nil {
		return d.foreign
	}
	defer d.settings.Panics.Recover(recovery.Detector, nil) // a dialect that panics does not recognize the frame
	answer := d.configured.Detect(f)
	if answer >= dialect.Yes {
		d.rivals = nil
	}
	if answer != dialect.No {
		return false
	}
	other := dialect.NewDetector(d.rivals, dialect.Yes).Detect(f)
	if other == nil {
		return false
	}
	if namesake, has := d.configured.(dialect.Namesake); d.input.DialectFromPath || has && namesake.OtherName() == other.Name() {
		d.rivals = nil
		d.decide(other)
		return false
	}
	d.foreign = true
	if d.settings.OnForeign != nil {
		d.settings.OnForeign(d.stream, other.Name())
	}
	return true
}

// Examine detects the dialect of a frame that the caller made from an incomplete block. It returns the
// frame's batch, and whether a dialect is sure of it. It does not decode the frame, which becomes the last
// one for MustWithhold and ReleaseLarge.
func (d *StreamDecoder) Examine(frame sse.Frame) (b *event.Batch, isSure bool) {
	d.takeTurn(frame)
	isSure = d.detect(frame) != nil
	return d.last, isSure
}

// MustWithhold reports whether a client must not get the last frame although no dialect recognized it.
// It tries each candidate dialect. A frame is withheld if one of them finds it internal, decodes it to a
// type that clients do not get, or has one of the frame's members in Table.InternalMembers. MustWithhold
// returns true after a panic.
func (d *StreamDecoder) MustWithhold() (withholds bool) {
	defer d.settings.Panics.Recover(recovery.Detector, func() { withholds = true })
	for _, candidate := range d.detector.Candidates() {
		b := batchPool.Get().(*event.Batch)
		b.BeginOwned(d.stream, d.last.Frame, d.last.Received)
		table := candidate.Table()
		b.Table = table
		candidate.New(d.stream).Decode(d.parse(b), b)
		isInternal := b.Internal || lenient.CheckNames(b, lenient.NewPrefilter(table)) == event.NamesInternal
		withholds = isInternal || b.Rejected == "" && !table.Types[b.Type].Client || lenient.HasMember(b.JSON, table.InternalMembers)
		recycle(b)
		if withholds {
			return true
		}
	}
	return false
}
