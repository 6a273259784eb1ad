package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/source"
	"github.com/delegraph/delegraph/config"
)

// followOne prints what comes of a capture as it comes, until the context is done.
func (r *replayCommand) followOne(ctx context.Context, c config.Config, sink event.Sink, p *printing) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	at := &prompt{Sink: sink, p: p, lost: cancel}
	capture := r.capture(r.files[0])
	if _, isTerminal := terminal(r.stderr); isTerminal {
		fmt.Fprintf(r.stderr, "Reading %s until Ctrl-C.\n", printable(filepath.Base(capture.Name)))
	}
	err := source.Follow(ctx, collector.New(dialectsOf(r.origin), r.reading(c), at), capture, r.wait)
	if ctx.Err() == nil { // else there may have been nothing yet
		err = p.account(capture, 0, err)
	}
	if at.err != nil {
		return at.err // nothing more can be printed
	}
	return errors.Join(err, p.endFile(context.WithoutCancel(ctx)), p.end())
}

// prompt hands out what was printed as soon as it is, and lets go of what is followed where it cannot.
type prompt struct {
	event.Sink
	p    *printing
	lost func()
	err  error
}

// Consume passes the batch on, and hands out what came of it.
func (s *prompt) Consume(b *event.Batch) {
	s.Sink.Consume(b)
	s.flush()
}

// Close ends the stream, and hands out what came of that.
func (s *prompt) Close(of *event.Stream, end event.End, at time.Time) {
	s.Sink.Close(of, end, at)
	s.flush()
}

func (s *prompt) flush() {
	if s.err == nil {
		if s.err = errors.Join(s.p.endRuns(context.Background()), s.p.out.Flush()); s.err != nil {
			s.lost()
		}
	}
}
