package source

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/sse"
)

// vector is a stream, and what a reader that keeps to WHATWG HTML 9.2 makes of it.
type vector struct {
	Name  string        `json:"name"`
	Wire  []byte        `json:"wire_b64"`
	Want  []vectorFrame `json:"want"`
	ID    string        `json:"last_event_id_after"`
	Retry int           `json:"retry_after"` // in milliseconds; 0: not asked for
}

type vectorFrame struct{ Type, Data, ID string }

// TestTailReadsVectors has a server send each vector in pieces of several sizes: the sink sees the vector's frames, and the tail
// comes back as the vector asks.
func TestTailReadsVectors(t *testing.T) {
	raw, err := os.ReadFile("../sse/testdata/sse-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []vector
	if err := json.Unmarshal(raw, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) != 86 {
		t.Fatalf("%d vectors, want 86", len(vectors))
	}
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			for _, size := range []int{len(v.Wire) + 1, len(v.Wire)/2 + 1, 1 + len(v.Wire)/100, 3 + len(v.Wire)/100} {
				var asked []string
				a := tailing(t, 1, nil, inPieces(v.Wire, size), func(w http.ResponseWriter, r *http.Request) {
					asked = r.Header.Values("Last-Event-ID")
					w.WriteHeader(http.StatusNoContent)
				})
				var got []vectorFrame
				for _, f := range a.frames {
					got = append(got, vectorFrame{f.Type(), string(sse.AppendValidUTF8(nil, f.Data)), string(f.ID)})
				}
				if diff := cmp.Diff(v.Want, got); diff != "" {
					t.Errorf("pieces of %d: frames differ (-want +got):\n%s", size, diff)
				}
				if want := v.header(); !slices.Equal(asked, want) {
					t.Errorf("pieces of %d: came back with the ids %q, want %q", size, asked, want)
				}
				if want := v.pause(); a.waited[0] < want || a.waited[0] > want*3/2 {
					t.Errorf("pieces of %d: came back after %s, want %s", size, a.waited[0], want)
				}
			}
		})
	}
}

// header is what the reader comes back with. HTTP drops blanks around a header's value, of browsers too.
func (v vector) header() []string {
	if v.ID == "" {
		return nil
	}
	return []string{strings.Trim(v.ID, " ")}
}

// pause is how long a vector makes its reader wait.
func (v vector) pause() time.Duration {
	switch {
	case string(v.Wire) == "retry:0\n\n":
		return 100 * time.Millisecond // the least that we do
	case v.Retry > 0:
		return time.Duration(v.Retry) * time.Millisecond
	}
	return firstPause
}

func inPieces(wire []byte, size int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for piece := range slices.Chunk(wire, size) {
			if _, err := w.Write(piece); err != nil {
				panic(fmt.Sprint("the tail left before the end: ", err))
			}
			_ = http.NewResponseController(w).Flush()
		}
	}
}
