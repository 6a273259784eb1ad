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

// checks are the rules that a dialect must satisfy on each of its captures.
var checks = []struct {
	name string
	run  func(dialect.Dialect, *capture) error
}{
	{"detected", checkDetect},
	{"deterministic", checkRepeatable},
	{"independent", checkIndependent},
	{"frame dropped", checkDroppedFrame},
	{"frame repeated", checkRepeatedFrame},
	{"frame altered", checkHostileFrames},
}

// maxUndecided is the number of frames that the collector buffers while the dialect is unknown.
const maxUndecided = 5

// checkDetect checks that the stream is recognized in time and that Detect depends on nothing but its
// frame.
func checkDetect(d dialect.Dialect, c *capture) error {
	s := newSession(d, false)
	answers := make([]dialect.Match, len(c.frames))
	detector := dialect.NewDetector([]dialect.Dialect{d}, dialect.Yes)
	var found dialect.Dialect
	for i, f := range c.frames {
		read := s.read(f)
		answers[i] = d.Detect(read)
		if found == nil && i <= maxUndecided {
			found = detector.Detect(read)
		}
		overwrite(read.Frame)
	}
	for i, f := range slices.Backward(c.frames) {
		if again := d.Detect(s.read(f)); again != answers[i] {
			return fmt.Errorf("frame %d: Detect = %d, but %d after other frames; it must not keep state", i+1, answers[i], again)
		}
	}
	if found == nil && detector.MostLikely() == nil {
		return fmt.Errorf("no Yes and no Maybe in the first %d frames: %v", maxUndecided+1, answers)
	}
	return nil
}

// checkRepeatable compares decoding from bytes that the next frame overwrites with decoding from bytes
// that stay.
func checkRepeatable(d dialect.Dialect, c *capture) error {
	for _, answer := range []bool{false, true} {
		reused, kept := newSession(d, answer), newSession(d, answer)
		reused.write, kept.write, kept.keep = formatFull, formatFull, true
		for i, f := range c.frames {
			one, err := reused.decode(f)
			if err != nil {
				return fmt.Errorf("frame %d: %w", i+1, err)
			}
			other, err := kept.decode(f)
			if err != nil {
				return fmt.Errorf("frame %d: %w", i+1, err)
			}
			if one.facts != other.facts {
				return fmt.Errorf("frame %d decodes to\n%sbut, if the bytes of earlier frames stay unchanged, to\n%sthe decoder keeps a reference to a frame, or is not deterministic",
					i+1, one.facts, other.facts)
			}
		}
	}
	return nil
}

// checkDroppedFrame decodes the capture without each of its frames.
func checkDroppedFrame(d dialect.Dialect, c *capture) error {
	for i := range c.frames {
		s := newSession(d, true)
		if err := s.decodeAll(c.frames[:i], 1); err != nil {
			return fmt.Errorf("before frame %d was dropped: %w", i+1, err)
		}
		if err := s.decodeAll(c.frames[i+1:], i+2); err != nil {
			return fmt.Errorf("after frame %d was dropped: %w", i+1, err)
		}
	}
	return nil
}

// checkRepeatedFrame decodes the capture with each of its frames repeated.
func checkRepeatedFrame(d dialect.Dialect, c *capture) error {
	for i := range c.frames {
		s := newSession(d, false)
		if err := s.decodeAll(c.frames[:i+1], 1); err != nil {
			return err
		}
		if err := s.decodeAll(c.frames[i:], i+1); err != nil {
			return fmt.Errorf("after frame %d was repeated: %w", i+1, err)
		}
	}
	return nil
}

// checkHostileFrames alters one frame of each shape in every way. An altered frame must be decoded or rejected.
// The frames after it must be rejected for the same reasons as in the unaltered capture, or not at all.
func checkHostileFrames(d dialect.Dialect, c *capture) error {
	healthy := newSession(d, false)
	var unaltered []decoded
	for i, f := range c.frames {
		got, err := healthy.decode(f)
		if err != nil {
			return fmt.Errorf("frame %d: %w", i+1, err)
		}
		unaltered = append(unaltered, got)
	}
	tried := make(map[string]bool)
	for i, f := range c.frames {
		shape := shapeOf(f)
		if tried[shape] {
			continue // even a long stream has few shapes
		}
		tried[shape] = true
		s := newSession(d, i%2 == 0)
		if err := s.decodeAll(c.frames[:i], 1); err != nil {
			return err
		}
		for what, altered := range hostileVariants(f) {
			got, err := s.decode(altered)
			if err == nil && unaltered[i].object && !got.object && !got.anyJSON && got.rejected == "" {
				err = errors.New("no longer a JSON object, but not rejected")
			}
			if err != nil {
				return fmt.Errorf("frame %d, %s: %w\nevent %q\ndata %s", i+1, what, err, altered.Event, shorten(string(altered.Data)))
			}
		}
		for j, f := range c.frames[i:] {
			got, err := s.decode(f)
			if err == nil && got.rejected != unaltered[i+j].rejected {
				err = fmt.Errorf("rejected for %q, want %q", got.rejected, unaltered[i+j].rejected)
			}
			if err != nil {
				return fmt.Errorf("frame %d, after frame %d was altered: %w", i+j+1, i+1, err)
			}
		}
	}
	return nil
}

// decodeAll decodes frames. first is the number of the first one in the capture.
func (s *session) decodeAll(frames []sse.Frame, first int) error {
	for i, f := range frames {
		if _, err := s.decode(f); err != nil {
			return fmt.Errorf("frame %d: %w", first+i, err)
		}
	}
	return nil
}

// checkName checks that the name is that of the folder, by which captures and metrics are found.
func checkName(d dialect.Dialect, dir string) error {
	if !regexp.MustCompile(`^[a-z][a-z0-9]*$`).MatchString(d.Name()) {
		return fmt.Errorf("name %q: want only lower-case letters and digits, because it is a label value and a configuration key", d.Name())
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if folder := filepath.Base(filepath.Dir(absolute)); folder != d.Name() {
		return fmt.Errorf("dialect %q is in the folder %q", d.Name(), folder)
	}
	return nil
}

// checkPaths rejects globs that match nothing or everything.
func checkPaths(d dialect.Dialect) error {
	for _, at := range d.Paths() {
		glob := at.Glob
		if glob == "/" {
			continue // the path of a server for a single endpoint
		}
		literal := slices.ContainsFunc(strings.Split(glob, "/"), func(segment string) bool {
			return segment != "" && !strings.ContainsAny(segment, `*?[\`)
		})
		if _, err := path.Match(glob, "/"); err != nil || !strings.HasPrefix(glob, "/") || !literal {
			return fmt.Errorf("path %q: want a glob for path.Match that begins with / and has a segment without wildcards", glob)
		}
	}
	return nil
}

// checkMeaninglessData checks that Detect does not claim meaningless data. The first Yes would be final.
func checkMeaninglessData(d dialect.Dialect) error {
	s := newSession(d, false)
	for _, data := range meaningless {
		if m := d.Detect(s.read(sse.Frame{Data: []byte(data)})); m != dialect.No {
			return fmt.Errorf("Detect = %d for the data %s, want No", m, shorten(data))
		}
	}
	return nil
}
