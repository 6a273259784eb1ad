// Package source is where bytes come from: captures, and the answers of an agent that a proxy stands in front of.
package source

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
)

// Stdin is the name by which File reads standard input.
const Stdin = "-"

// File observes a capture from its first byte to its last, in the named dialect or in the one that it finds. The nonce of its
// stream is a hash of its content, so that the same capture makes the same spans.
func File(c *collector.Collector, name, dialect string) error {
	if name == Stdin {
		content, err := io.ReadAll(os.Stdin)
		if err != nil {
			return fmt.Errorf("read standard input: %w", err)
		}
		return observe(c, bytes.NewReader(content), "stdin", dialect)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	return observe(c, f, filepath.Base(name), dialect)
}

func observe(c *collector.Collector, capture io.ReadSeeker, name, dialect string) error {
	hash := sha256.New()
	if _, err := io.Copy(hash, capture); err != nil {
		return err // it names the file
	}
	if _, err := capture.Seek(0, io.SeekStart); err != nil {
		return err
	}
	s := &event.Stream{Source: name, Nonce: hex.EncodeToString(hash.Sum(nil))}
	return c.Observe(s, collector.Input{Reader: capture}, dialect)
}
