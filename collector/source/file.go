// Package source is where bytes come from: captures, and the answers of an agent that a proxy stands in front of.
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

// Stdin is the name of standard input as a capture.
const Stdin = "-"

// Capture is what an agent has answered, in a file or from standard input.
type Capture struct {
	Name    string // of the file, or Stdin
	Dialect string // or whatever names none, to find out

	// Seen is told how many bytes of the capture were read, and of how many, 0 where nobody knows; nil where nobody asks.
	Seen func(read, size int64)
}

func (c Capture) seen(read, size int64) {
	if c.Seen != nil {
		c.Seen(read, size)
	}
}

// source is the capture's name in what comes of it.
func (c Capture) source() string {
	if c.Name == Stdin {
		return "stdin"
	}
	return filepath.Base(c.Name)
}

// File observes a capture from its first byte to its last. The nonce of its stream is a hash of its content, so that the same
// capture makes the same spans: it is read for that before anything is observed, and standard input kept. Once the context is
// done, it reads no more, and returns the context's error.
func File(ctx context.Context, c *collector.Collector, capture Capture) error {
	if capture.Name == Stdin {
		content, err := io.ReadAll(&meter{Reader: os.Stdin, ctx: ctx, capture: capture})
		if err != nil {
			return fmt.Errorf("read standard input: %w", err)
		}
		return observe(ctx, c, bytes.NewReader(content), int64(len(content)), capture)
	}
	f, err := os.Open(capture.Name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return observe(ctx, c, f, info.Size(), capture)
}

func observe(ctx context.Context, c *collector.Collector, content io.ReadSeeker, size int64, capture Capture) error {
	hash := sha256.New()
	if _, err := io.Copy(hash, &meter{Reader: content, ctx: ctx}); err != nil {
		return err // it names the file
	}
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return err
	}
	s := &event.Stream{Source: capture.source(), Nonce: hex.EncodeToString(hash.Sum(nil))}
	return c.Observe(s, collector.Input{Reader: &meter{Reader: content, ctx: ctx, size: size, capture: capture}}, capture.Dialect)
}

// meter tells of what is read through it, until the context is done.
type meter struct {
	io.Reader
	ctx        context.Context
	capture    Capture
	read, size int64
}

func (m *meter) Read(p []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.Reader.Read(p)
	m.read += int64(n)
	m.capture.seen(m.read, m.size)
	return n, err
}
