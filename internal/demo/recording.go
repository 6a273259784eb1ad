package demo

import (
	"bytes"
	"embed"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

//go:embed recordings
var files embed.FS

// recording is a recorded answer of an agent.
type recording struct {
	frames  []frame
	session string
	began   time.Time // in the agent's time
}

// frame is a block of the stream, including the blank line that ends it.
type frame struct {
	bytes []byte
	after time.Duration // since the recording began
}

// clock matches a time in a frame: an RFC 3339 date, or seconds or milliseconds since the epoch.
var clock = regexp.MustCompile(`("(?:timestamp|ts)": ?)(?:"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)"|(\d{13})\b|(\d{10}(?:\.\d+)?)\b)`)

// recording returns the story's recording, with each frame at the time that it states after the first one. A frame
// without a time follows the previous one after story.pause.
func (s *story) recording() recording {
	content, err := files.ReadFile("recordings/" + s.file + ".sse")
	if err != nil {
		panic(err) // the file is embedded
	}
	r := recording{session: s.session}
	now := s.first
	for _, block := range bytes.SplitAfter(content, []byte("\n\n")) {
		if len(block) == 0 {
			continue
		}
		next := now
		if len(r.frames) > 0 {
			next += s.pause(block)
		}
		if found := clock.FindSubmatch(block); found == nil {
			now = next
		} else {
			stated := readClock(found).at
			if r.began.IsZero() {
				r.began = stated.Add(-next)
			}
			now = max(now, stated.Sub(r.began))
		}
		r.frames = append(r.frames, frame{block, now})
	}
	return r
}

// at returns the frames of the recording as if it had begun at the given time, in another session ("" for the
// recorded one). All times in it are shifted by the same duration.
func (r recording) at(at time.Time, session string) []frame {
	frames := make([]frame, len(r.frames))
	for i, f := range r.frames {
		block := clock.ReplaceAllFunc(f.bytes, func(found []byte) []byte {
			c := readClock(clock.FindSubmatch(found))
			return append(append([]byte{}, c.prefix...), c.format(c.at.Add(at.Sub(r.began)))...)
		})
		if r.session != "" && session != "" {
			block = bytes.ReplaceAll(block, []byte(r.session), []byte(session))
		}
		frames[i] = frame{block, f.after}
	}
	return frames
}

// clockTime is a time in a frame, with the member before it and a function that formats another time like it.
type clockTime struct {
	prefix []byte
	at     time.Time
	format func(time.Time) string
}

func readClock(found [][]byte) clockTime {
	date, milliseconds, seconds := string(found[2]), string(found[3]), string(found[4])
	switch {
	case date != "":
		_, fraction, _ := strings.Cut(strings.TrimSuffix(date, "Z"), ".")
		layout := "2006-01-02T15:04:05." + strings.Repeat("0", len(fraction))
		at, _ := time.Parse(time.RFC3339, date)
		return clockTime{found[1], at, func(t time.Time) string {
			return `"` + strings.TrimSuffix(t.UTC().Format(layout), ".") + `Z"`
		}}
	case milliseconds != "":
		n, _ := strconv.ParseInt(milliseconds, 10, 64)
		return clockTime{found[1], time.UnixMilli(n), func(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }}
	}
	n, _ := strconv.ParseFloat(seconds, 64)
	return clockTime{found[1], time.UnixMicro(int64(math.Round(n * 1e6))), func(t time.Time) string {
		return strconv.FormatFloat(float64(t.UnixMicro())/1e6, 'f', 6, 64)
	}}
}
