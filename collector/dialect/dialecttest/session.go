package dialecttest

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// maxDepth is that of the pipeline's default configuration.
const maxDepth = 128

// session decodes a stream as the pipeline does, on bytes and an index that the next frame writes over.
type session struct {
	dialect dialect.Dialect
	decoder dialect.Decoder
	stream  *event.Stream
	doc     *strictjson.Doc
	frame   sse.Frame
	batch   event.Batch
	write   bool // the facts down
	keep    bool // each frame's bytes as they are

	texts         []text // of the batch
	before, after []byte // what they say, with the frame's bytes and without
}

func begin(d dialect.Dialect, answer bool) *session {
	return beginStream(d, &event.Stream{Answer: answer, Dialect: d.Name()})
}

func beginStream(d dialect.Dialect, stream *event.Stream) *session {
	return &session{dialect: d, decoder: d.New(stream), stream: stream, doc: new(strictjson.Doc)}
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
		s.frame, s.doc = sse.Frame{}, new(strictjson.Doc)
	}
	read := s.read(f)
	if m := s.dialect.Detect(read); m > dialect.Yes {
		return decoded{}, fmt.Errorf("no answer of Detect is %d", m)
	}
	b := &s.batch
	*b = event.Batch{Stream: s.stream, Frame: s.frame, Table: s.dialect.Table(), JSON: read.JSON, Events: b.Events[:0]}
	s.decoder.Decode(read, b)
	d := decoded{rejected: b.Rejected, object: read.JSON.Kind() == strictjson.Object}
	if s.write {
		d.facts = write(b)
	}
	return d, s.judge(f, b)
}

// read is what the pipeline does before it asks a dialect.
func (s *session) read(f sse.Frame) dialect.Frame {
	s.frame.ID = append(s.frame.ID[:0], f.ID...)
	s.frame.Event = append(s.frame.Event[:0], f.Event...)
	s.frame.Data = append(s.frame.Data[:0], f.Data...)
	s.frame.Size = f.Size
	read := dialect.Frame{Frame: s.frame}
	var refused *strictjson.Error
	if errors.As(s.doc.Parse(s.frame.Data, maxDepth), &refused) {
		read.Malformed = event.Reason(refused.Reason)
		return read
	}
	read.JSON = s.doc.Root()
	return read
}

func (s *session) judge(f sse.Frame, b *event.Batch) error {
	if !bytes.Equal(s.frame.Data, f.Data) || !bytes.Equal(s.frame.Event, f.Event) || !bytes.Equal(s.frame.ID, f.ID) {
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
	scribble(s.frame)
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
