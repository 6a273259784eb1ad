package dialect

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
)

// letter is a dialect that looks for its letter in a frame's text. It answers Maybe to a lower-case letter, Yes to an upper-case one,
// and Sure to an upper-case one before "!".
type letter byte

func (l letter) Name() string                  { return string(rune(l)) }
func (letter) Paths() []Path                   { return nil }
func (letter) Identify(Request) event.Identity { return event.Identity{} }
func (letter) Table() *event.Table             { return nil }
func (letter) New(*event.Stream) Decoder       { return nil }

func (l letter) Detect(f Frame) Match {
	best := No
	for i, c := range f.Data {
		switch c {
		case byte(l):
			best = max(best, Maybe)
		case byte(l) - 'a' + 'A':
			best = Yes
			if i+1 < len(f.Data) && f.Data[i+1] == '!' {
				return Sure
			}
		}
	}
	return best
}

func TestDetector(t *testing.T) {
	for _, c := range []struct {
		frames []string
		found  string // by the last frame, "" for nobody
		likely string
	}{
		{nil, "", ""},
		{[]string{""}, "", ""},
		{[]string{"A"}, "a", ""},
		{[]string{"BA"}, "a", ""}, // the first of the list, not of the frame
		{[]string{"aB"}, "b", ""}, // a Yes overrules a Maybe of the same frame
		{[]string{"a", "B"}, "b", "a"},
		{[]string{"b"}, "", "b"},
		{[]string{"ba"}, "", "a"},
		{[]string{"x", "b", "a", "a"}, "", "b"}, // the first that anybody said it to
		{[]string{"c", "x"}, "", "c"},
		{[]string{"A!"}, "a", ""},
	} {
		d := NewDetector([]Dialect{letter('a'), letter('b'), letter('c')}, Yes)
		found := ""
		for _, data := range c.frames {
			found = ""
			if asked := d.Ask(Frame{Frame: sse.Frame{Data: []byte(data)}}); asked != nil {
				found = asked.Name()
			}
		}
		likely := ""
		if d.Likely() != nil {
			likely = d.Likely().Name()
		}
		if found != c.found || likely != c.likely {
			t.Errorf("%q: found %q and likely %q, want %q and %q", c.frames, found, likely, c.found, c.likely)
		}
	}
}

func TestDetectorOnAnyPath(t *testing.T) {
	d := NewDetector([]Dialect{letter('a'), letter('b')}, Sure)
	ask := func(data string) Dialect { return d.Ask(Frame{Frame: sse.Frame{Data: []byte(data)}}) }
	if found := ask("A"); found != nil {
		t.Errorf("a Yes alone decides for %s", found.Name())
	}
	if found := ask("AB!"); found != letter('b') {
		t.Errorf("found %v, want b, which is Sure", found)
	}
}
