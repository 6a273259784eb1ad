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

// maxDepth is that of the pipeline's default configuration.
const maxDepth = 128

// session decodes a stream as the pipeline does, in a batch that is used again for the next frame.
type session struct {
	dialect dialect.Dialect
	decoder dialect.Decoder
	stream  *event.Stream
	frame   sse.Frame                 // what the reader lent for the frame at hand
	batch   *event.Batch              // of it
	write   func(*event.Batch) string // writes the facts down; nil where nobody asks
	keep    bool                      // each batch, as it is

	texts         []text // of the batch
	before, after []byte // what they say, with the frame's bytes and without
}

func begin(d dialect.Dialect, answer bool) *session {
	return beginStream(d, &event.Stream{Answer: answer, Dialect: d.Name()})
}

func beginStream(d dialect.Dialect, stream *event.Stream) *session {
	return &session{dialect: d, decoder: d.New(stream), stream: stream, batch: new(event.Batch)}
}

// decoded is what is left of a frame once its bytes are gone.
type decoded struct {
	rejected event.Reason
	object   bool   // the data is a JSON object
	facts    string // where they are written down
}

// decode asks whose a frame is, decodes it and takes its bytes away.
func (s *session) decode(f sse.Frame) (decoded, error) {
	defer explain(f)
	if s.keep {
		s.batch = new(event.Batch)
	}
	read := s.read(f)
	if m := s.dialect.Detect(read); m > dialect.Sure {
		return decoded{}, fmt.Errorf("no answer of Detect is %d", m)
	}
	b := s.batch
	b.Table = s.dialect.Table()
	s.decoder.Decode(read, b)
	d := decoded{rejected: b.Rejected, object: read.JSON.Kind() == strictjson.Object}
	if s.write != nil {
		d.facts = s.write(b)
	}
	return d, s.judge(f, read, b)
}

// read is what the pipeline does before it asks a dialect.
func (s *session) read(f sse.Frame) dialect.Frame {
	s.frame.ID = append(s.frame.ID[:0], f.ID...)
	s.frame.Event = append(s.frame.Event[:0], f.Event...)
	s.frame.Data = append(s.frame.Data[:0], f.Data...)
	s.frame.Size = f.Size
	s.batch.Begin(s.stream, s.frame, time.Time{})
	scribble(s.frame) // the reader goes on
	refused := s.batch.Parse(maxDepth)
	return dialect.Frame{Frame: s.batch.Frame, JSON: s.batch.JSON, Malformed: refused}
}

func (s *session) judge(f sse.Frame, read dialect.Frame, b *event.Batch) error {
	if !bytes.Equal(read.Data, f.Data) || !bytes.Equal(read.Event, f.Event) || !bytes.Equal(read.ID, f.ID) {
		return errors.New("the frame's bytes were changed: they are the relay's too")
	}
	s.texts = texts(b, s.texts[:0])
	if err := verify(b, s.texts); err != nil {
		return err
	}
	if most := 8 + len(f.Data); len(b.Events) > most {
		return fmt.Errorf("%d facts out of %d bytes", len(b.Events), len(f.Data))
	}
	if s.keep {
		return nil
	}
	s.before = joined(s.texts, s.before[:0])
	scribble(read.Frame)
	if s.after = joined(s.texts, s.after[:0]); !bytes.Equal(s.after, s.before) {
		return fmt.Errorf("a name or an id is borrowed from the frame: %q became %q", s.before, s.after)
	}
	return nil
}

func joined(texts []text, all []byte) []byte {
	for _, t := range texts {
		all = append(append(all, t.value...), ' ')
	}
	return all
}

func scribble(f sse.Frame) {
	for _, of := range [][]byte{f.ID, f.Event, f.Data} {
		for i := range of {
			of[i] = '#'
		}
	}
}

// explain says which frame a decoder did not survive. The panic goes on.
func explain(f sse.Frame) {
	if fault := recover(); fault != nil {
		panic(fmt.Sprintf("%v\n\nwhile decoding event %q, data %q", fault, f.Event, f.Data))
	}
}
