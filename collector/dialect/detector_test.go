package dialect

import (
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
)

// letter is a dialect that recognizes its letter in a frame's text. It answers Maybe for the lower-case
// letter, Yes for the upper-case one, and Sure for the upper-case one before "!".
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

// TestDetector checks the first sure and the most likely dialect of several frames.
func TestDetector(t *testing.T) {
	for _, c := range []struct {
		frames []string
		found  string // the result for the last frame, or ""
		likely string
	}{
		{nil, "", ""},
		{[]string{""}, "", ""},
		{[]string{"A"}, "a", ""},
		{[]string{"BA"}, "a", ""}, // the order of the list counts, not that of the frame
		{[]string{"aB"}, "b", ""}, // a Yes overrides a Maybe of the same frame
		{[]string{"a", "B"}, "b", "a"},
		{[]string{"b"}, "", "b"},
		{[]string{"ba"}, "", "a"},
		{[]string{"x", "b", "a", "a"}, "", "b"}, // the first frame with a Maybe
		{[]string{"c", "x"}, "", "c"},
		{[]string{"A!"}, "a", ""},
	} {
		d := NewDetector([]Dialect{letter('a'), letter('b'), letter('c')}, Yes)
		found := ""
		for _, data := range c.frames {
			found = ""
			if dialect := d.Detect(Frame{Frame: sse.Frame{Data: []byte(data)}}); dialect != nil {
				found = dialect.Name()
			}
		}
		likely := ""
		if d.MostLikely() != nil {
			likely = d.MostLikely().Name()
		}
		if found != c.found || likely != c.likely {
			t.Errorf("%q: Detect() = %q and MostLikely() = %q, want %q and %q", c.frames, found, likely, c.found, c.likely)
		}
	}
}

// TestDetectorThreshold checks a detector that accepts nothing below Sure.
func TestDetectorThreshold(t *testing.T) {
	d := NewDetector([]Dialect{letter('a'), letter('b')}, Sure)
	detect := func(data string) Dialect { return d.Detect(Frame{Frame: sse.Frame{Data: []byte(data)}}) }
	if found := detect("A"); found != nil {
		t.Errorf("Detect() = %s after a Yes, want no decision", found.Name())
	}
	if found := detect("AB!"); found != letter('b') {
		t.Errorf("Detect() = %v, want b, which is Sure", found)
	}
}
