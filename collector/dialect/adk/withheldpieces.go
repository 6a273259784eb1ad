package adk

import (
	"bytes"
	"hash/maphash"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// streamedTexts holds the texts whose pieces an agent has sent, by place, until the whole text comes. There are at most wire.MaxSet. Before
// 2.0, and in JavaScript, the whole text has another ID than its pieces.
type streamedTexts map[wire.CallPlace]*streamedText

type streamedText struct {
	hash       maphash.Hash // of the pieces
	isInternal bool         // a piece was withheld
}

// completes reports whether an event is the whole of pieces, of which one was withheld, or the code in them. ADK's code executors drop the
// whole, and send the code and the text before it as an event without a model's data.
//
// Source: google/adk/flows/llm_flows/extensions/_code_execution.py of google-adk 2.13.
func (s streamedTexts) completes(fr *frame, place wire.CallPlace, b *event.Batch) bool {
	pieces := s[place]
	if pieces == nil || !pieces.isInternal || b.Partial {
		return false
	}
	if fr.writesCode() && !fr.hasModelData() {
		return true
	}
	var whole maphash.Hash
	whole.SetSeed(seed)
	return fr.hashTexts(&whole) && whole.Sum64() == pieces.hash.Sum64()
}

// add adds the texts of a piece. A whole event ends the text.
func (s *streamedTexts) add(fr *frame, place wire.CallPlace, b *event.Batch, isInternal bool) {
	if !b.Partial {
		delete(*s, place)
		return
	}
	pieces := (*s)[place]
	if pieces == nil {
		if len(*s) == wire.MaxSet {
			return
		}
		if *s == nil {
			*s = make(streamedTexts)
		}
		pieces = new(streamedText)
		pieces.hash.SetSeed(seed)
		(*s)[place] = pieces
	}
	pieces.isInternal = fr.hashTexts(&pieces.hash) && isInternal || pieces.isInternal
}

// areOpen reports whether pieces were withheld and the whole text has not come yet.
func (s streamedTexts) areOpen() bool {
	for _, pieces := range s {
		if pieces.isInternal {
			return true
		}
	}
	return false
}

// hashTexts adds the texts and the code of an event, and the output of code, to a hash, without white space, which agents trim. It reports
// whether there is any.
func (f *frame) hashTexts(h *maphash.Hash) (any bool) {
	for _, p := range f.parts {
		for _, text := range []strictjson.Value{p.text, p.body.Get("code"), p.body.Get("output")} {
			if p.kind == partCall || p.kind == partResponse {
				continue
			}
			for word := range bytes.FieldsSeq(text.Text()) {
				_, _ = h.Write(word) // never fails
				any = true
			}
		}
	}
	return any
}
