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

// recording is what an agent answered once, frame by frame.
type recording struct {
	frames  []frame
	session string
	began   time.Time // by the agent's clock
}

// frame is a block of the stream with the empty line behind it.
type frame struct {
	bytes []byte
	after time.Duration // since the recording began
}

// clock is where a frame states a time: a date of RFC 3339, or seconds or milliseconds of the epoch.
var clock = regexp.MustCompile(`("(?:timestamp|ts)": ?)(?:"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)"|(\d{13})\b|(\d{10}(?:\.\d+)?)\b)`)

// recording places each frame at the time that it states. One that states none follows the one before at the story's pace.
func (s *story) recording() recording {
	content, err := files.ReadFile("recordings/" + s.file + ".sse")
	if err != nil {
		panic(err) // what is embedded is there
	}
	r := recording{session: s.session}
	now := -s.pace
	for _, block := range bytes.SplitAfter(content, []byte("\n\n")) {
		if len(block) == 0 {
			continue
		}
		if found := clock.FindSubmatch(block); found == nil {
			now += s.pace
		} else {
			stated := readClock(found).at
			if r.began.IsZero() {
				r.began = stated.Add(-max(now+s.pace, 0))
			}
			now = max(now, stated.Sub(r.began))
		}
		r.frames = append(r.frames, frame{block, now})
	}
	return r
}

// told is the recording as if it began at a moment, in another session ("" for its own): all its clocks are put forward by the same
// time, and nothing else changes.
func (r recording) told(at time.Time, session string) []frame {
	frames := make([]frame, len(r.frames))
	for i, f := range r.frames {
		block := clock.ReplaceAllFunc(f.bytes, func(found []byte) []byte {
			c := readClock(clock.FindSubmatch(found))
			return append(append([]byte{}, c.member...), c.say(c.at.Add(at.Sub(r.began)))...)
		})
		if r.session != "" && session != "" {
			block = bytes.ReplaceAll(block, []byte(r.session), []byte(session))
		}
		frames[i] = frame{block, f.after}
	}
	return frames
}

// stated is a clock's time, and how a time is said in its place.
type stated struct {
	member []byte
	at     time.Time
	say    func(time.Time) string
}

func readClock(found [][]byte) stated {
	date, milliseconds, seconds := string(found[2]), string(found[3]), string(found[4])
	switch {
	case date != "":
		_, fraction, _ := strings.Cut(strings.TrimSuffix(date, "Z"), ".")
		layout := "2006-01-02T15:04:05." + strings.Repeat("0", len(fraction))
		at, _ := time.Parse(time.RFC3339, date)
		return stated{found[1], at, func(t time.Time) string {
			return `"` + strings.TrimSuffix(t.UTC().Format(layout), ".") + `Z"`
		}}
	case milliseconds != "":
		n, _ := strconv.ParseInt(milliseconds, 10, 64)
		return stated{found[1], time.UnixMilli(n), func(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }}
	}
	n, _ := strconv.ParseFloat(seconds, 64)
	return stated{found[1], time.UnixMicro(int64(math.Round(n * 1e6))), func(t time.Time) string {
		return strconv.FormatFloat(float64(t.UnixMicro())/1e6, 'f', 6, 64)
	}}
}
