package dialecttest

import (
	"bytes"
	"fmt"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
)

// held decodes the stream for an observer that has fallen behind and looks at the batches only after all are decoded. Each must hold
// what an observer that keeps pace sees. The same holds where, after any whole text, the stream so far is repeated in other words.
func held(d dialect.Dialect, c *capture) error {
	for _, answer := range []bool{false, true} {
		paced := begin(d, answer)
		paced.write = writeWhole
		behind := newBacklog(d, answer)
		var seen []string
		var otherwise []sse.Frame
		for i, f := range c.frames {
			one, err := paced.decode(f)
			if err == nil {
				err = behind.decode(f)
			}
			if err != nil {
				return fmt.Errorf("frame %d: %w", i+1, err)
			}
			seen = append(seen, one.facts)
			last := behind.batches[i]
			otherwise = append(otherwise, reworded(f, last))
			if last.Partial || len(spoken(last)) == 0 {
				continue
			}
			again := newBacklog(d, answer)
			if err := again.decode(append(c.frames[:i+1:i+1], otherwise...)...); err != nil {
				return fmt.Errorf("after frame %d, said once more: %w", i+1, err)
			}
			if err := again.unchanged(seen); err != nil {
				return err
			}
		}
		if err := behind.unchanged(seen); err != nil {
			return err
		}
	}
	return nil
}

// backlog holds the batches of a stream that wait to be observed.
type backlog struct {
	session *session
	batches []*event.Batch
}

func newBacklog(d dialect.Dialect, answer bool) *backlog {
	s := begin(d, answer)
	s.keep = true
	return &backlog{session: s}
}

func (l *backlog) decode(frames ...sse.Frame) error {
	for _, f := range frames {
		if _, err := l.session.decode(f); err != nil {
			return err
		}
		l.batches = append(l.batches, l.session.batch)
	}
	return nil
}

// unchanged compares each batch with what was seen of it when it was decoded.
func (l *backlog) unchanged(seen []string) error {
	for i, b := range l.batches[:len(seen)] {
		if late := writeWhole(b); late != seen[i] {
			return fmt.Errorf("frame %d is decoded as\n%sand, looked at after others, as\n%sa later frame changes what its batch holds", i+1, seen[i], late)
		}
	}
	return nil
}

// spoken returns the texts of a batch.
func spoken(b *event.Batch) (texts [][]byte) {
	for i := range b.Events {
		if text := b.Events[i].Text(); len(text) > 0 {
			texts = append(texts, text)
		}
	}
	return texts
}

// reworded returns the frame with the case of the letters in its texts swapped.
func reworded(f sse.Frame, b *event.Batch) sse.Frame {
	for _, text := range spoken(b) {
		f.Data = bytes.ReplaceAll(f.Data, text, bytes.Map(otherCase, text))
	}
	return f
}

func otherCase(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
		return r ^ 0x20
	}
	return r
}
