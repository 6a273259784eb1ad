package wire

import (
	"bytes"

	"github.com/delegraph/delegraph/collector/strictjson"
)

// WithheldCode finds the code in responses that were withheld. ADK's code executors drop a response of a model, and send its first code
// and the text before it as an event without a mark. The zero value is empty.
//
// Source: google/adk/flows/llm_flows/extensions/_code_execution.py of google-adk 2.13.
type WithheldCode struct {
	texts  map[CallPlace][]byte // of responses since something left there, without white space
	size   int                  // of texts, in bytes
	missed bool                 // there were more texts, which may have code
}

// IsEmpty reports whether no code is of a withheld response.
func (c *WithheldCode) IsEmpty() bool { return len(c.texts) == 0 && !c.missed }

// Add adds the texts of a response or of a piece of it.
func (c *WithheldCode) Add(place CallPlace, texts []strictjson.Value) {
	for _, text := range texts {
		known, isKnown := c.texts[place]
		said := removeSpace(text.Text())
		if c.missed = c.missed || c.size+len(said) > maxWithheldBytes || !isKnown && len(c.texts) == MaxSet; c.missed {
			c.texts = nil
			return
		}
		if c.texts == nil {
			c.texts = make(map[CallPlace][]byte)
		}
		c.texts[place] = append(known, said...)
		c.size += len(said)
	}
}

// End forgets the responses at a place, because something left there.
func (c *WithheldCode) End(place CallPlace) {
	c.size -= len(c.texts[place])
	delete(c.texts, place)
}

// MayHave reports whether a response at a place has a piece of code, or may have it.
func (c *WithheldCode) MayHave(place CallPlace, code strictjson.Value) bool {
	said, isKnown := c.texts[place]
	return c.missed || isKnown && bytes.Contains(said, removeSpace(code.Text()))
}

func removeSpace(text []byte) []byte { return bytes.Join(bytes.Fields(text), nil) }
