package dialecttest

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// maxDepth is the default of the configuration.
const maxDepth = 128

// session decodes a stream as the pipeline does, in a batch that is reused for the next frame.
type session struct {
	dialect dialect.Dialect
	decoder dialect.Decoder
	stream  *event.Stream
	frame   sse.Frame                 // the current frame, in a buffer for reuse as in the reader
	batch   *event.Batch              // of frame
	write   func(*event.Batch) string // describes the facts; may be nil
	keep    bool                      // batches and their frames are neither reused nor overwritten
	shared  string                    // the last run of which a frame had a hash, so other streams may bring it

	texts         []boundedText // of the batch
	before, after []byte        // the texts, before and after the frame's bytes are overwritten
}

func newSession(d dialect.Dialect, answer bool) *session {
	return newStreamSession(d, &event.Stream{SingleRun: answer, Dialect: d.Name()})
}

func newStreamSession(d dialect.Dialect, stream *event.Stream) *session {
	return &session{dialect: d, decoder: d.New(stream), stream: stream, batch: new(event.Batch)}
}

// decoded holds what a check needs of a frame after its bytes are overwritten.
type decoded struct {
	rejected event.Reason
	object   bool   // the data is a JSON object
	anyJSON  bool   // the data is JSON, and its type allows any
	facts    string // as described by session.write
}

// decode detects and decodes a frame and then overwrites its bytes.
func (s *session) decode(f sse.Frame) (decoded, error) {
	defer describePanic(f)
	if s.keep {
		s.batch = new(event.Batch)
	}
	read := s.read(f)
	if m := s.dialect.Detect(read); m > dialect.Sure {
		return decoded{}, fmt.Errorf("Detect = %d, which is not a Match", m)
	}
	b := s.batch
	b.Table = s.dialect.Table()
	s.decoder.Decode(read, b)
	d := decoded{rejected: b.Rejected, object: read.JSON.Kind() == strictjson.Object}
	if b.Table != nil {
		d.anyJSON = b.Table.Types[b.Type].AnyJSON && read.JSON.Exists()
	}
	if s.write != nil {
		d.facts = s.write(b)
	}
	return d, s.check(f, read, b)
}

// read prepares a frame for a dialect as the pipeline does.
func (s *session) read(f sse.Frame) dialect.Frame {
	s.frame.ID = append(s.frame.ID[:0], f.ID...)
	s.frame.Event = append(s.frame.Event[:0], f.Event...)
	s.frame.Data = append(s.frame.Data[:0], f.Data...)
	s.frame.Size = f.Size
	s.batch.Begin(s.stream, s.frame, time.Time{})
	overwrite(s.frame) // as the reader does with the next frame
	s.batch.Table = s.dialect.Table()
	malformed := s.batch.Parse(maxDepth)
	return dialect.Frame{Frame: s.batch.Frame, JSON: s.batch.JSON, Malformed: malformed}
}

// check verifies a batch. It then overwrites the frame's bytes, and checks that the batch does not refer to them.
func (s *session) check(f sse.Frame, read dialect.Frame, b *event.Batch) error {
	if !bytes.Equal(read.Data, f.Data) || !bytes.Equal(read.Event, f.Event) || !bytes.Equal(read.ID, f.ID) {
		return errors.New("the decoder changed the frame's bytes, which the relay uses too")
	}
	if b.ContentHash != 0 {
		s.shared = b.Run
	} else if b.Run != "" && b.Run == s.shared {
		return errors.New("a frame of the run has no hash, but another has one: on a stream that joins the run, it would begin another run")
	}
	s.texts = appendTexts(b, s.texts[:0])
	if err := verify(b, s.texts); err != nil {
		return err
	}
	if len(b.Events) > 8+len(f.Data) {
		return fmt.Errorf("%d facts from %d bytes", len(b.Events), len(f.Data))
	}
	if s.keep {
		return nil
	}
	s.before = join(s.texts, s.before[:0])
	overwrite(read.Frame)
	if s.after = join(s.texts, s.after[:0]); !bytes.Equal(s.after, s.before) {
		return fmt.Errorf("a name or an id is borrowed from the frame: %q became %q", s.before, s.after)
	}
	return nil
}

func join(texts []boundedText, all []byte) []byte {
	for _, t := range texts {
		all = append(append(all, t.value...), ' ')
	}
	return all
}

func overwrite(f sse.Frame) {
	for _, field := range [][]byte{f.ID, f.Event, f.Data} {
		for i := range field {
			field[i] = '#'
		}
	}
}

// describePanic adds the frame to a panic of the decoder.
func describePanic(f sse.Frame) {
	if fault := recover(); fault != nil {
		panic(fmt.Sprintf("%v\n\nwhile decoding event %q, data %q", fault, f.Event, f.Data))
	}
}
