package demo

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// TestTold tells every story at another time, in another session: its clocks are put forward by the same, and nothing else changes.
func TestTold(t *testing.T) {
	began, size := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC), 0
	for _, s := range stories {
		t.Run(s.question, func(t *testing.T) {
			r := s.recording()
			const session = "another-session"
			told, clocks, last := r.told(began, session), 0, time.Duration(0)
			for i, f := range told {
				was := r.frames[i]
				size += len(was.bytes)
				if f.after != was.after || f.after < last || f.after > 2*time.Minute {
					t.Errorf("frame %d comes after %s, the one before after %s", i, f.after, last)
				}
				last = f.after
				before, after := clock.FindAllSubmatch(was.bytes, -1), clock.FindAllSubmatch(f.bytes, -1)
				if len(before) != len(after) {
					t.Fatalf("frame %d: %d clocks became %d: %s", i, len(before), len(after), f.bytes)
				}
				for j := range before {
					clocks++
					moved := readClock(after[j]).at.Sub(readClock(before[j]).at) - began.Sub(r.began)
					if moved.Abs() > time.Millisecond {
						t.Errorf("frame %d: a clock went wrong by %s", i, moved)
					}
				}
				renamed := was.bytes
				if r.session != "" {
					renamed = bytes.ReplaceAll(renamed, []byte(r.session), []byte(session))
				}
				if blind(f.bytes) != blind(renamed) {
					t.Errorf("frame %d became %s", i, f.bytes)
				}
			}
			if clocks == 0 || last == 0 {
				t.Errorf("%d clocks within %s", clocks, last)
			}
			if whole := joined(told); r.session != "" && (!strings.Contains(whole, session) || strings.Contains(whole, r.session)) {
				t.Errorf("the session is not %s", session)
			}
			if told := r.told(began, ""); r.session != "" && !strings.Contains(joined(told), r.session) {
				t.Error("without a session there is not the recorded one")
			}
		})
	}
	if size > 150<<10 {
		t.Errorf("%d bytes of recordings are in the program", size)
	}
}

func joined(frames []frame) string {
	var whole []byte
	for _, f := range frames {
		whole = append(whole, f.bytes...)
	}
	return string(whole)
}

// blind is a frame without its clocks.
func blind(block []byte) string { return string(clock.ReplaceAll(block, []byte("${1}0"))) }

// TestClock has a time in every form, and what only looks like one.
func TestClock(t *testing.T) {
	forward := 90 * time.Minute
	for was, want := range map[string]string{
		`{"timestamp": 1767081391.059711}`:            `{"timestamp": 1767086791.059711}`,
		`{"timestamp": 1767081700.5}`:                 `{"timestamp": 1767087100.500000}`,
		`{"timestamp":1795228205105}`:                 `{"timestamp":1795233605105}`,
		`{"ts":"2025-10-14T10:30:00.900Z"}`:           `{"ts":"2025-10-14T12:00:00.900Z"}`,
		`{"timestamp": "2026-11-21T12:24:09.009Z"}`:   `{"timestamp": "2026-11-21T13:54:09.009Z"}`,
		`{"timestamp":"2026-11-21T12:24:09.123456Z"}`: `{"timestamp":"2026-11-21T13:54:09.123456Z"}`,
		`{"timestamp":"2026-11-21T12:24:09Z"}`:        `{"timestamp":"2026-11-21T13:54:09Z"}`,
		`{"timestamp":"yesterday"}`:                   `{"timestamp":"yesterday"}`,
		`{"timestamp":17}`:                            `{"timestamp":17}`,
		`{"id":"1729000000_0001_001eef"}`:             `{"id":"1729000000_0001_001eef"}`,
		`{"date":"2022-09-15"}`:                       `{"date":"2022-09-15"}`,
	} {
		r := recording{frames: []frame{{bytes: []byte(was)}}, began: time.Unix(0, 0)}
		if got := joined(r.told(time.Unix(0, 0).Add(forward), "")); got != want {
			t.Errorf("%s became %s, not %s", was, got, want)
		}
	}
}

// TestHeard holds back what a story says, and nothing else.
func TestHeard(t *testing.T) {
	for _, s := range stories {
		said := joined(s.recording().told(time.Now(), "s"))
		lost := strings.Count(said, "\n\n") - strings.Count(string(s.heard([]byte(said))), "\n\n")
		want := map[string]int{"How badly did Holiday Farm burn?": 2, "Evacuation notice for sector SW-2": 10 + 7}[s.question]
		if lost != want {
			t.Errorf("%s: %d frames are held back, not %d", s.question, lost, want)
		}
	}
}
