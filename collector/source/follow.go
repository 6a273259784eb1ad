package source

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
)

// Poll is how Follow waits in a running program: a while, or until the context is done, which is its error.
func Poll(ctx context.Context) error { return pause(ctx, pollEvery) }

// pollEvery is how long a file that has grown may stay unread.
const pollEvery = 200 * time.Millisecond

// Follow observes a capture that is still being written, until the context is done. At the end of a file it waits and looks again.
// A file that was cut and written anew, or another of its name, is another stream: what was open in the one before ends with it.
// What is no file, as standard input or a named pipe, is observed to its end.
func Follow(ctx context.Context, c *collector.Collector, capture Capture, wait func(context.Context) error) error {
	if capture.Name == Stdin {
		return followPipe(ctx, c, os.Stdin, capture)
	}
	f, err := os.Open(capture.Name)
	if err != nil {
		return err
	}
	for {
		info, err := f.Stat()
		switch {
		case err != nil:
			f.Close()
			return err
		case !info.Mode().IsRegular():
			defer f.Close()
			return followPipe(ctx, c, f, capture)
		}
		g := &growing{ctx: ctx, wait: wait, name: capture.Name, file: f, info: info}
		err = c.Observe(unended(capture), collector.Input{Reader: g, End: g.end}, capture.Dialect)
		f.Close()
		if err != nil || ctx.Err() != nil {
			return err
		}
		if f, err = reopen(ctx, capture.Name, wait); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
}

// unended is a stream whose content cannot be hashed before it is there.
func unended(capture Capture) *event.Stream {
	return &event.Stream{Source: capture.source(), Nonce: rand.Text()}
}

// reopen waits for a file to be there again: between its end and this it may have been moved away once more.
func reopen(ctx context.Context, name string, wait func(context.Context) error) (*os.File, error) {
	for {
		f, err := os.Open(name)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		if err := wait(ctx); err != nil {
			return nil, err
		}
	}
}

// growing is a file to which others append, up to where it is cut or replaced.
type growing struct {
	ctx      context.Context
	wait     func(context.Context) error
	name     string
	file     *os.File
	info     os.FileInfo
	offset   int64
	last     []byte // that were read
	waited   bool
	replaced bool
}

// lastBytes is how many bytes before the end tell a file that has grown from one that was cut and is as long again.
const lastBytes = 256

func (g *growing) Read(p []byte) (int, error) {
	for {
		if g.ctx.Err() != nil || g.waited && g.isCut() {
			return 0, io.EOF
		}
		n, err := g.file.Read(p)
		switch {
		case n > 0:
			g.waited, g.offset = false, g.offset+int64(n)
			g.last = append(g.last, p[:n]...)
			g.last = append(g.last[:0], g.last[max(len(g.last)-lastBytes, 0):]...)
			return n, nil
		case err != io.EOF:
			return 0, err
		case g.replaced:
			return 0, io.EOF
		case g.isReplaced():
			g.replaced = true // after whatever was appended before that
		case g.wait(g.ctx) != nil:
			return 0, io.EOF
		default:
			g.waited = true
		}
	}
}

func (g *growing) isCut() bool {
	now := make([]byte, len(g.last))
	n, _ := g.file.ReadAt(now, g.offset-int64(len(now)))
	return !bytes.Equal(now[:n], g.last)
}

// isReplaced says whether the name is another file's. Where it is nobody's, somebody may still append to this one.
func (g *growing) isReplaced() bool {
	info, err := os.Stat(g.name)
	return err == nil && !os.SameFile(info, g.info)
}

// end says of a file that was read to its end, for now or for good, just what a replay of it would.
func (g *growing) end() event.End {
	if info, err := g.file.Stat(); g.ctx.Err() != nil && err == nil && g.offset < info.Size() {
		return event.EndShutdown
	}
	return event.EndOfStream
}

// followPipe observes what cannot be asked whether it has more, until it ends or the context is done.
func followPipe(ctx context.Context, c *collector.Collector, from io.Reader, capture Capture) error {
	out, in := io.Pipe()
	defer out.Close()
	// A read that waits cannot be broken off: it ends with its next byte, with its pipe, or with the program.
	go func() {
		_, err := io.Copy(in, from)
		in.CloseWithError(err)
	}()
	defer context.AfterFunc(ctx, func() { in.Close() })()
	return c.Observe(unended(capture), collector.Input{Reader: out, End: func() event.End {
		if ctx.Err() != nil {
			return event.EndShutdown
		}
		return event.EndOfStream
	}}, capture.Dialect)
}
