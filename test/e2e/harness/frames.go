package harness

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/looopy"
	"github.com/delegraph/delegraph/collector/sse"
)

// Subscription reads the external stream.
type Subscription struct {
	Body   io.Closer
	frames *sse.Reader
}

// Take returns the next n frames as ID, event name and data, and ends the subscription.
func (l Subscription) Take(t *testing.T, n int) (all []string) {
	t.Helper()
	defer l.Body.Close()
	for range n {
		f, err := l.frames.Next()
		if err != nil {
			t.Fatalf("read frame %d of %d: %v", len(all)+1, n, err)
		}
		all = append(all, fmt.Sprintf("%s|%s %s", f.ID, f.Event, f.Data))
	}
	return all
}

// LooopyCanary marks internal texts in the captures of Looopy, also where Looopy's own filter lets them pass.
var LooopyCanary = []byte("CANARY-INTERNAL")

// LooopyClientFrames returns the frames of a Looopy stream that clients may read, as event name and data.
func LooopyClientFrames(t *testing.T, stream []byte) (all []string) {
	t.Helper()
	types := looopy.Dialect{}.Table().Types
	frames := sse.NewReader(bytes.NewReader(stream), 0)
	for {
		f, err := frames.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if types[string(f.Event)].Client && !bytes.Contains(f.Data, LooopyCanary) {
			all = append(all, string(f.Event)+" "+string(f.Data))
		}
	}
}

// FindMembers returns the names of those members of a JSON value that are in a list and not empty.
func FindMembers(v any, names []string) (found []string) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			empty, is := value.(map[string]any)
			if slices.Contains(names, name) && !(is && len(empty) == 0) && value != "about:blank" { // replaces the URL of a file
				found = append(found, name)
			}
			found = append(found, FindMembers(value, names)...)
		}
	case []any:
		for _, value := range v {
			found = append(found, FindMembers(value, names)...)
		}
	}
	return found
}

// FrameData returns the data of each frame of a stream.
func FrameData(t *testing.T, stream []byte) (all []string) {
	t.Helper()
	frames := sse.NewReader(bytes.NewReader(stream), 0)
	for {
		frame, err := frames.Next()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(frame.Data))
	}
}
