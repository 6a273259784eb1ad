package demo

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
)

// TestRecordingTimes checks that playing a recording at another time and in another session shifts all its times equally and changes nothing
// else.
func TestRecordingTimes(t *testing.T) {
	began, size := time.Date(2031, 5, 6, 7, 8, 9, 0, time.UTC), 0
	for _, s := range stories {
		t.Run(s.question, func(t *testing.T) {
			r := s.recording()
			const session = "another-session"
			told, clocks, last := r.at(began, session), 0, time.Duration(0)
			for i, f := range told {
				was := r.frames[i]
				size += len(was.bytes)
				if f.after != was.after || f.after < last || f.after > 2*time.Minute {
					t.Errorf("frame %d is sent after %s, but the previous one after %s", i, f.after, last)
				}
				last = f.after
				before, after := clock.FindAllSubmatch(was.bytes, -1), clock.FindAllSubmatch(f.bytes, -1)
				if len(before) != len(after) {
					t.Fatalf("frame %d has %d times, want %d: %s", i, len(after), len(before), f.bytes)
				}
				for j := range before {
					clocks++
					moved := readClock(after[j]).at.Sub(readClock(before[j]).at) - began.Sub(r.began)
					if moved.Abs() > time.Millisecond {
						t.Errorf("frame %d: a time is shifted by %s", i, moved)
					}
				}
				renamed := was.bytes
				if r.session != "" {
					renamed = bytes.ReplaceAll(renamed, []byte(r.session), []byte(session))
				}
				if withoutTimes(f.bytes) != withoutTimes(renamed) {
					t.Errorf("frame %d is changed to %s", i, f.bytes)
				}
			}
			if last == 0 || clocks == 0 && s.pace == 0 {
				t.Errorf("the recording has %d times in %s", clocks, last)
			}
			if whole := joined(told); r.session != "" && (!strings.Contains(whole, session) || strings.Contains(whole, r.session)) {
				t.Errorf("the recording does not have the session %s", session)
			}
			if told := r.at(began, ""); r.session != "" && !strings.Contains(joined(told), r.session) {
				t.Error("without a session, the recorded one is changed")
			}
		})
	}
	if size > 150<<10 {
		t.Errorf("the embedded recordings have %d bytes", size)
	}
}

// TestFieldReportIsRecorded checks that the workflow's frames are those of ADK's server, with other names of agents.
func TestFieldReportIsRecorded(t *testing.T) {
	recorded, err := os.ReadFile("../../test/agents/adk-go/wf_nested.sse")
	if err != nil {
		t.Fatal(err)
	}
	shown, err := files.ReadFile("recordings/field-report.sse")
	if err != nil {
		t.Fatal(err)
	}
	names := strings.NewReplacer("n_first", "planner", "inner_par", "surveys", "in_a", "slope_survey", "in_b", "trail_survey", "n_last", "editor")
	if names.Replace(string(recorded)) != string(shown) {
		t.Error("field-report.sse differs from the recording")
	}
}

// TestModelCallsTakeTime checks that an answer of a model, where the demo chooses when it is sent, takes some hundred milliseconds to begin.
func TestModelCallsTakeTime(t *testing.T) {
	answers := map[string]string{ // a mark of the frames that begin an answer
		"fire-briefing": "", "approval": "", "quota": "", "garbled": "", "handover": "", // only the first frame; the others state their times
		"air": `"model":{"messages"`, "field-report": `"candidatesTokenCount":3,`,
	}
	for _, s := range stories {
		mark, chosen := answers[s.file]
		if !chosen {
			continue
		}
		var before time.Duration
		for i, f := range s.recording().frames {
			isAnswer := i == 0 && mark == "" || mark != "" && i > 0 && bytes.Contains(f.bytes, []byte(mark))
			if waited := f.after - before; isAnswer && (waited < 300*time.Millisecond || waited > 3*time.Second) {
				t.Errorf("%s: frame %d comes after %s", s.file, i, waited)
			}
			before = f.after
		}
	}
}

func joined(frames []frame) string {
	var whole []byte
	for _, f := range frames {
		whole = append(whole, f.bytes...)
	}
	return string(whole)
}

// withoutTimes returns a frame with all times replaced.
func withoutTimes(block []byte) string { return string(clock.ReplaceAll(block, []byte("${1}0"))) }

// TestClock checks times in every form, and numbers that only look like times.
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
		if got := joined(r.at(time.Unix(0, 0).Add(forward), "")); got != want {
			t.Errorf("%s becomes %s, want %s", was, got, want)
		}
	}
}

// TestWithheldFrames checks that exactly the frames that a story lists as withheld do not reach the client.
func TestWithheldFrames(t *testing.T) {
	for _, s := range stories {
		said := joined(s.recording().at(time.Now(), "s"))
		lost := strings.Count(said, "\n\n") - strings.Count(string(s.expected([]byte(said))), "\n\n")
		want := map[string]int{"How badly did Holiday Farm burn?": 2, "Evacuation notice for sector SW-2": 10 + 7}[s.question]
		if lost != want {
			t.Errorf("%s: %d frames are withheld, want %d", s.question, lost, want)
		}
	}
}
