package replay

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/source"
	"github.com/delegraph/delegraph/internal/settings"
	"github.com/delegraph/delegraph/internal/terminal"
)

// followOne replays a capture while it grows, until the context is done.
func (r *Command) followOne(ctx context.Context, sink *countingSink, o *output) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	flushing := &flushSink{Sink: sink, output: o, cancel: cancel}
	wait := func(ctx context.Context) error {
		if flushing.idle++; flushing.idle == outcomePolls {
			sink.Tracker().EndAwaiting()
			flushing.flush()
		}
		return r.wait(ctx)
	}
	capture := r.capture(r.Files[0])
	if _, isTerminal := terminal.Columns(r.Stderr); isTerminal {
		fmt.Fprintf(r.Stderr, "Reading %s until Ctrl-C.\n", terminal.Printable(filepath.Base(capture.Name)))
	}
	err := source.Follow(ctx, collector.New(settings.Dialects(r.origin), r.reading(), flushing), capture, wait)
	if ctx.Err() == nil { // a file without frames is no error if the user stopped early
		err = o.checkCapture(capture, 0, err)
	}
	if flushing.err != nil {
		return flushing.err // nothing more can be printed
	}
	return errors.Join(err, o.endFile(context.WithoutCancel(ctx)), o.end())
}

// flushSink flushes the output after each batch, and cancels the replay if that fails.
type flushSink struct {
	event.Sink
	output *output
	cancel func()
	err    error
	idle   int // checks of the file since the last batch
}

// outcomePolls is the number of checks without growth, one second in all, after which the runs of a file no longer
// wait for their outcome.
const outcomePolls = 5

// Consume passes the batch on and flushes.
func (s *flushSink) Consume(b *event.Batch) {
	s.idle = 0
	s.Sink.Consume(b)
	s.flush()
}

// Close ends the stream and flushes.
func (s *flushSink) Close(of *event.Stream, end event.End, at time.Time) {
	s.Sink.Close(of, end, at)
	s.flush()
}

func (s *flushSink) flush() {
	if s.err == nil {
		if s.err = errors.Join(s.output.endRuns(context.Background()), s.output.out.Flush()); s.err != nil {
			s.cancel()
		}
	}
}
