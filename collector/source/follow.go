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

// WaitForPoll waits until Follow should check the file again. It returns the context's error if the
// context is done before that.
func WaitForPoll(ctx context.Context) error { return pause(ctx, pollInterval) }

// pollInterval is the time between two checks of a file that has not grown.
const pollInterval = 200 * time.Millisecond

// Follow observes a capture that is still being written, until the context is done. At the end of the
// file it calls wait and reads again. If the file is truncated or replaced, the stream ends and another
// one begins. Standard input and named pipes are observed to their end.
func Follow(ctx context.Context, c *collector.Collector, capture Capture, wait func(context.Context) error) error {
	if capture.Name == Stdin {
		return followPipe(ctx, c, os.Stdin, capture)
	}
	f, err := open(ctx, capture.Name)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil:
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
		g := &growingFile{ctx: ctx, wait: wait, name: capture.Name, file: f, info: info}
		err = c.Observe(newOngoingStream(capture), collector.Input{Reader: g, End: g.end}, capture.Dialect)
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

// newOngoingStream returns the stream of a capture that is still being written. Its nonce is random, since
// the content cannot be hashed yet.
func newOngoingStream(capture Capture) *event.Stream {
	return &event.Stream{Source: capture.sourceName(), ConfiguredAgent: capture.Agent, Nonce: rand.Text()}
}

// reopen opens a file that was replaced. It waits while the file does not exist: it may have been
// moved again.
func reopen(ctx context.Context, name string, wait func(context.Context) error) (*os.File, error) {
	for {
		f, err := open(ctx, name)
		if !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
		if err := wait(ctx); err != nil {
			return nil, err
		}
	}
}

// growingFile reads a file to which another process appends, until the file is truncated or replaced.
type growingFile struct {
	ctx           context.Context
	wait          func(context.Context) error
	name          string
	file          *os.File
	info          os.FileInfo
	offset        int64
	lastRead      []byte // the last bytes read, at most lastBytes
	hasWaited     bool
	foundReplaced bool
}

// lastBytes is the number of bytes that are compared. They distinguish a file that has grown from one
// that was truncated and has then grown to the same length.
const lastBytes = 256

func (g *growingFile) Read(p []byte) (int, error) {
	for {
		if g.ctx.Err() != nil || g.hasWaited && g.isTruncated() {
			return 0, io.EOF
		}
		n, err := g.file.Read(p)
		switch {
		case n > 0:
			g.hasWaited, g.offset = false, g.offset+int64(n)
			g.lastRead = append(g.lastRead, p[:n]...)
			g.lastRead = append(g.lastRead[:0], g.lastRead[max(len(g.lastRead)-lastBytes, 0):]...)
			return n, nil
		case err != io.EOF:
			return 0, err
		case g.foundReplaced:
			return 0, io.EOF
		case g.isReplaced():
			g.foundReplaced = true // read once more: bytes may have been appended before the file was replaced
		case g.wait(g.ctx) != nil:
			return 0, io.EOF
		default:
			g.hasWaited = true
		}
	}
}

func (g *growingFile) isTruncated() bool {
	now := make([]byte, len(g.lastRead))
	n, _ := g.file.ReadAt(now, g.offset-int64(len(now)))
	return !bytes.Equal(now[:n], g.lastRead)
}

// isReplaced reports whether the name now belongs to another file. A file that has merely been removed
// or renamed may still grow.
func (g *growingFile) isReplaced() bool {
	info, err := os.Stat(g.name)
	return err == nil && !os.SameFile(info, g.info)
}

// end returns how the stream ended. A file that was read to its end ends as in ReadCapture.
func (g *growingFile) end() event.End {
	if info, err := g.file.Stat(); g.ctx.Err() != nil && err == nil && g.offset < info.Size() {
		return event.EndShutdown
	}
	return event.EndOfStream
}

// followPipe observes a pipe until it ends or the context is done.
func followPipe(ctx context.Context, c *collector.Collector, from io.Reader, capture Capture) error {
	in, release := interruptible(ctx, from)
	defer release()
	err := c.Observe(newOngoingStream(capture), collector.Input{Reader: in, End: func() event.End {
		if ctx.Err() != nil {
			return event.EndShutdown
		}
		return event.EndOfStream
	}}, capture.Dialect)
	if ctx.Err() != nil {
		return nil
	}
	return err
}
