// Package source reads agents' streams: from recorded captures, through a reverse proxy in front of
// the agent, and as a second subscriber (tail). A collector.Collector observes each stream: it decodes
// the frames and passes them on to its sinks.
//
// The proxy also relays each stream to its client, verbatim or through a Filter. Observation runs beside the
// relay: it gets a copy of the bytes, or the frames that were decoded for the filter.
package source

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
)

// Stdin is the Capture.Name of standard input.
const Stdin = "-"

// Capture is a recorded answer of an agent, in a file or on standard input.
type Capture struct {
	Name    string // the file's name, or Stdin
	Dialect string // the name of a dialect; detected if no dialect has this name
	Agent   string // the name of an agent that the capture does not name; may be ""

	// OnRead is called with the number of bytes read so far and the size of the capture, which is 0 if
	// unknown. It may be nil.
	OnRead func(read, size int64)
}

// sourceName returns the name of the source in signals.
func (c Capture) sourceName() string {
	if c.Name == Stdin {
		return "stdin"
	}
	return filepath.Base(c.Name)
}

// ReadCapture observes a whole capture. It reads the capture twice, because the nonce of the stream is a
// hash of its content: the same capture always gives the same spans. Standard input and named pipes are kept in memory
// for that. If the context is done, ReadCapture stops and returns the context's error.
func ReadCapture(ctx context.Context, c *collector.Collector, capture Capture) error {
	if capture.Name == Stdin {
		if err := observePipe(ctx, c, os.Stdin, capture); err != nil {
			return fmt.Errorf("read standard input: %w", err)
		}
		return nil
	}
	f, err := open(ctx, capture.Name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return observePipe(ctx, c, f, capture)
	}
	return observeCapture(ctx, c, f, info.Size(), capture)
}

// observePipe reads a pipe to its end and observes what it has brought.
func observePipe(ctx context.Context, c *collector.Collector, from io.Reader, capture Capture) error {
	in, release := interruptible(ctx, from)
	defer release()
	content, err := io.ReadAll(&progressReader{Reader: in, ctx: ctx, onRead: capture.OnRead})
	if err != nil {
		return err
	}
	return observeCapture(ctx, c, bytes.NewReader(content), int64(len(content)), capture)
}

// interruptible returns a reader of a pipe that fails with the context's error once the context is done. Call release when it is no
// longer needed.
func interruptible(ctx context.Context, from io.Reader) (r io.Reader, release func()) {
	out, in := io.Pipe()
	// A blocked read cannot be interrupted. The goroutine ends when the next byte arrives, or when the pipe or
	// the program ends.
	go func() {
		_, err := io.Copy(in, from)
		in.CloseWithError(err)
	}()
	stop := context.AfterFunc(ctx, func() { in.CloseWithError(ctx.Err()) })
	return out, func() {
		stop()
		out.Close()
	}
}

// open opens a file. Opening a named pipe waits for its writer, until the context is done.
func open(ctx context.Context, name string) (*os.File, error) {
	if info, err := os.Stat(name); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return os.Open(name)
	}
	type result struct {
		file *os.File
		err  error
	}
	opened := make(chan result, 1)
	go func() { // continues to wait after the context is done, because os.Open cannot be interrupted
		file, err := os.Open(name)
		opened <- result{file, err}
	}()
	select {
	case r := <-opened:
		return r.file, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func observeCapture(ctx context.Context, c *collector.Collector, content io.ReadSeeker, size int64, capture Capture) error {
	hash := sha256.New()
	if _, err := io.Copy(hash, &progressReader{Reader: content, ctx: ctx}); err != nil {
		return err // an *fs.PathError, which names the file
	}
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return err
	}
	s := &event.Stream{Source: capture.sourceName(), ConfiguredAgent: capture.Agent, Nonce: hex.EncodeToString(hash.Sum(nil))}
	return c.Observe(s, collector.Input{Reader: &progressReader{Reader: content, ctx: ctx, size: size, onRead: capture.OnRead}}, capture.Dialect)
}

// progressReader reports the progress of reading a capture. It fails once the context is done.
type progressReader struct {
	io.Reader
	ctx        context.Context
	onRead     func(read, size int64) // may be nil
	read, size int64
}

func (r *progressReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.Reader.Read(p)
	r.read += int64(n)
	if r.onRead != nil {
		r.onRead(r.read, r.size)
	}
	return n, err
}
