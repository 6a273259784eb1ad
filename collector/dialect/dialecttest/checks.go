package dialecttest

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/sse"
)

// checks are what a dialect must bear on each of its captures.
var checks = []struct {
	name string
	run  func(dialect.Dialect, *capture) error
}{
	{"detected", detected},
	{"twice the same", repeatable},
	{"all held", held},
	{"frame dropped", dropped},
	{"frame doubled", doubled},
	{"frame spoiled", survives},
}

// patience is how many frames the collector holds while it does not know whose a stream is.
const patience = 5

// detected says whether the stream is known in time, and whether each frame is judged by itself alone.
func detected(d dialect.Dialect, c *capture) error {
	s := begin(d, false)
	answers := make([]dialect.Match, len(c.frames))
	detector := dialect.NewDetector([]dialect.Dialect{d}, dialect.Yes)
	var found dialect.Dialect
	for i, f := range c.frames {
		read := s.read(f)
		answers[i] = d.Detect(read)
		if found == nil && i <= patience {
			found = detector.Ask(read)
		}
		scribble(read.Frame)
	}
	for i, f := range slices.Backward(c.frames) {
		if again := d.Detect(s.read(f)); again != answers[i] {
			return fmt.Errorf("frame %d: Detect answers %d, and %d after other frames: it keeps something", i+1, answers[i], again)
		}
	}
	if found == nil && detector.Likely() == nil {
		return fmt.Errorf("no Yes and no Maybe in the first %d frames: %v", patience+1, answers)
	}
	return nil
}

// repeatable decodes twice: with bytes that the next frame writes over, and with bytes and values that stay.
func repeatable(d dialect.Dialect, c *capture) error {
	for _, answer := range []bool{false, true} {
		lent, kept := begin(d, answer), begin(d, answer)
		lent.write, kept.write, kept.keep = writeWhole, writeWhole, true
		for i, f := range c.frames {
			one, err := lent.decode(f)
			if err != nil {
				return fmt.Errorf("frame %d: %w", i+1, err)
			}
			other, err := kept.decode(f)
			if err != nil {
				return fmt.Errorf("frame %d: %w", i+1, err)
			}
			if one.facts != other.facts {
				return fmt.Errorf("frame %d is decoded as\n%sand, where the bytes of the frames before it are left alone, as\n%ssomething of a frame is kept, or chance decides",
					i+1, one.facts, other.facts)
			}
		}
	}
	return nil
}

func dropped(d dialect.Dialect, c *capture) error {
	for i := range c.frames {
		s := begin(d, true)
		if err := s.decodeAll(c.frames[:i], 1); err != nil {
			return fmt.Errorf("before frame %d was dropped: %w", i+1, err)
		}
		if err := s.decodeAll(c.frames[i+1:], i+2); err != nil {
			return fmt.Errorf("after frame %d was dropped: %w", i+1, err)
		}
	}
	return nil
}

func doubled(d dialect.Dialect, c *capture) error {
	for i := range c.frames {
		s := begin(d, false)
		if err := s.decodeAll(c.frames[:i+1], 1); err != nil {
			return err
		}
		if err := s.decodeAll(c.frames[i:], i+1); err != nil {
			return fmt.Errorf("after frame %d came twice: %w", i+1, err)
		}
	}
	return nil
}

// survives spoils a frame of each shape in every way: the spoilt frames are decoded or rejected, and those after them as if nothing was.
func survives(d dialect.Dialect, c *capture) error {
	healthy := begin(d, false)
	var sound []decoded
	for i, f := range c.frames {
		got, err := healthy.decode(f)
		if err != nil {
			return fmt.Errorf("frame %d: %w", i+1, err)
		}
		sound = append(sound, got)
	}
	known := make(map[string]bool)
	for i, f := range c.frames {
		shape := shapeOf(f)
		if known[shape] {
			continue // a stream of a thousand deltas has few
		}
		known[shape] = true
		s := begin(d, i%2 == 0)
		if err := s.decodeAll(c.frames[:i], 1); err != nil {
			return err
		}
		for what, spoilt := range spoiled(f) {
			got, err := s.decode(spoilt)
			if err == nil && sound[i].object && !got.object && got.rejected == "" {
				err = errors.New("not a JSON object any more, and not rejected")
			}
			if err != nil {
				return fmt.Errorf("frame %d, %s: %w\nevent %q\ndata %s", i+1, what, err, spoilt.Event, short(string(spoilt.Data)))
			}
		}
		for j, f := range c.frames[i:] {
			got, err := s.decode(f)
			if err == nil && got.rejected != sound[i+j].rejected {
				err = fmt.Errorf("rejected for %q, want %q", got.rejected, sound[i+j].rejected)
			}
			if err != nil {
				return fmt.Errorf("frame %d, after frame %d was spoiled: %w", i+j+1, i+1, err)
			}
		}
	}
	return nil
}

func (s *session) decodeAll(frames []sse.Frame, first int) error {
	for i, f := range frames {
		if _, err := s.decode(f); err != nil {
			return fmt.Errorf("frame %d: %w", first+i, err)
		}
	}
	return nil
}

// named holds the name to its folder, by which captures and metrics find each other.
func named(d dialect.Dialect, dir string) error {
	if !regexp.MustCompile(`^[a-z][a-z0-9]*$`).MatchString(d.Name()) {
		return fmt.Errorf("name %q: lower-case letters and digits only, it is a label's value and a key of the configuration", d.Name())
	}
	whole, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if folder := filepath.Base(filepath.Dir(whole)); folder != d.Name() {
		return fmt.Errorf("dialect %q stands in the folder %q", d.Name(), folder)
	}
	return nil
}

// placed refuses globs that match nothing, or everything.
func placed(d dialect.Dialect) error {
	for _, at := range d.Paths() {
		glob := at.Glob
		if glob == "/" {
			continue // a server of nothing else
		}
		literal := slices.ContainsFunc(strings.Split(glob, "/"), func(segment string) bool {
			return segment != "" && !strings.ContainsAny(segment, `*?[\`)
		})
		if _, err := path.Match(glob, "/"); err != nil || !strings.HasPrefix(glob, "/") || !literal {
			return fmt.Errorf("path %q: a glob of path.Match that begins with / and has a segment without wildcards", glob)
		}
	}
	return nil
}

// knowsNothing makes sure that a frame that says nothing decides nothing: the first Yes is final.
func knowsNothing(d dialect.Dialect) error {
	s := begin(d, false)
	for _, data := range broken {
		if m := d.Detect(s.read(sse.Frame{Data: []byte(data)})); m != dialect.No {
			return fmt.Errorf("answers %d in Detect to the data %s", m, short(data))
		}
	}
	return nil
}
