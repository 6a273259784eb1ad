package dialecttest

import (
	"bytes"
	"fmt"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
)

// checkIndependent checks that later frames do not change a batch. It decodes a stream for two
// observers. One keeps up, and the other reads the batches only at the end. Both must see the same. After
// each frame with a whole text, the check is repeated with a stream that then repeats its frames with other
// texts.
func checkIndependent(d dialect.Dialect, c *capture) error {
	for _, answer := range []bool{false, true} {
		prompt := newSession(d, answer)
		prompt.write = formatFull
		late := newBacklog(d, answer)
		var seen []string
		var otherwise []sse.Frame
		for i, f := range c.frames {
			one, err := prompt.decode(f)
			if err == nil {
				err = late.decode(f)
			}
			if err != nil {
				return fmt.Errorf("frame %d: %w", i+1, err)
			}
			seen = append(seen, one.facts)
			last := late.batches[i]
			otherwise = append(otherwise, swapCase(f, last))
			if last.Partial || len(nonEmptyTexts(last)) == 0 {
				continue
			}
			again := newBacklog(d, answer)
			if err := again.decode(append(c.frames[:i+1:i+1], otherwise...)...); err != nil {
				return fmt.Errorf("after frame %d, repeated with other texts: %w", i+1, err)
			}
			if err := again.checkUnchanged(seen); err != nil {
				return err
			}
		}
		if err := late.checkUnchanged(seen); err != nil {
			return err
		}
	}
	return nil
}

// backlog holds the batches of a stream that wait for an observer.
type backlog struct {
	session *session
	batches []*event.Batch
}

func newBacklog(d dialect.Dialect, answer bool) *backlog {
	s := newSession(d, answer)
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

// checkUnchanged compares each batch with its description at the time of decoding.
func (l *backlog) checkUnchanged(seen []string) error {
	for i, b := range l.batches[:len(seen)] {
		if late := formatFull(b); late != seen[i] {
			return fmt.Errorf("frame %d decodes to\n%sbut after later frames its batch is\n%sa later frame changes the batch", i+1, seen[i], late)
		}
	}
	return nil
}

// nonEmptyTexts returns the texts of a batch that are not empty.
func nonEmptyTexts(b *event.Batch) (texts [][]byte) {
	for i := range b.Events {
		if text := b.Events[i].Text(); len(text) > 0 {
			texts = append(texts, text)
		}
	}
	return texts
}

// swapCase returns the frame with the case of the letters in its texts swapped.
func swapCase(f sse.Frame, b *event.Batch) sse.Frame {
	for _, text := range nonEmptyTexts(b) {
		f.Data = bytes.ReplaceAll(f.Data, text, bytes.Map(swapLetterCase, text))
	}
	return f
}

func swapLetterCase(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
		return r ^ 0x20
	}
	return r
}
