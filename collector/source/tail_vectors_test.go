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

	"golang.org/x/text/encoding/unicode"
)

// vector is a stream with the frames that a reader of WHATWG HTML 9.2 dispatches.
type vector struct {
	Name  string        `json:"name"`
	Wire  []byte        `json:"wire_b64"`
	Want  []vectorFrame `json:"want"`
	ID    string        `json:"last_event_id_after"`
	Retry int           `json:"retry_after"` // in milliseconds; 0 if the stream has none
}

type vectorFrame struct{ Type, Data, ID string }

// TestTailReadsVectors checks the frames of each vector, sent in pieces of several sizes, and how the tail reconnects.
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
				var ids []string
				a := runTail(t, 1, nil, inPieces(v.Wire, size), func(w http.ResponseWriter, r *http.Request) {
					ids = r.Header.Values("Last-Event-ID")
					w.WriteHeader(http.StatusNoContent)
				})
				var got []vectorFrame
				for _, f := range a.frames {
					got = append(got, vectorFrame{f.Type(), decoded(t, f.Data), string(f.ID)})
				}
				if diff := cmp.Diff(v.Want, got); diff != "" {
					t.Errorf("pieces of %d: frames differ (-want +got):\n%s", size, diff)
				}
				if want := v.header(); !slices.Equal(ids, want) {
					t.Errorf("pieces of %d: the tail reconnects with the ids %q, want %q", size, ids, want)
				}
				if want := v.pause(); a.waited[0] < want || a.waited[0] > want*3/2 {
					t.Errorf("pieces of %d: the tail reconnects after %s, want %s", size, a.waited[0], want)
				}
			}
		})
	}
}

// header returns the Last-Event-ID header of the next request. HTTP drops spaces around a header's value.
func (v vector) header() []string {
	if v.ID == "" {
		return nil
	}
	return []string{strings.Trim(v.ID, " ")}
}

// pause returns the reconnection time of a vector.
func (v vector) pause() time.Duration {
	switch {
	case string(v.Wire) == "retry:0\n\n":
		return 100 * time.Millisecond // the minimum of a tail
	case v.Retry > 0:
		return time.Duration(v.Retry) * time.Millisecond
	}
	return minPause
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

// decoded returns text as a browser decodes it.
func decoded(t *testing.T, text []byte) string {
	t.Helper()
	out, err := unicode.UTF8.NewDecoder().Bytes(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
