package formats_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/stream/format"
	"github.com/delegraph/delegraph/exporter/stream/replay"
	"github.com/delegraph/delegraph/internal/settings"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// FuzzNativeFrames formats arbitrary bytes as native frames of every dialect, and checks that every format has only whole frames
// of JSON.
func FuzzNativeFrames(f *testing.F) {
	for _, name := range []string{
		"../../../collector/dialect/agui/testdata/made-subagents.sse", "../../../collector/dialect/looopy/testdata/litellm.sse",
		"../../../collector/dialect/a2a/testdata/adk-go-tool.sse", "../../../collector/dialect/adkstudio/testdata/server-tools.sse",
		"../../../collector/dialect/looopy/testdata/artifacts.sse", "../../../collector/dialect/a2a/testdata/python-files.sse",
	} {
		content, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Add([]byte("data: {\"type\":\"RUN_STARTED\",\"threadId\":\"\",\"runId\":\"\"}\n\nevent: chunk\ndata: a\n\n"))
	decoder := settings.Decoder(settings.Collector(config.Default()), func() bool { return true }, nil)
	f.Fuzz(func(t *testing.T, stream []byte) {
		frames := blocksOf(stream)
		for _, dialect := range settings.DialectNames() {
			ring, err := replay.New(replay.Settings{Frames: 1000, Bytes: 1 << 20, Age: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			of, start := &replay.Stream{Dialect: dialect, SingleRun: len(stream)%2 == 0}, ring.Head()
			for _, e := range frames {
				e.Stream = of
				ring.Publish(e)
			}
			ring.Publish(replay.Entry{Stream: of, StreamEnded: true})
			native, _ := ring.Frames(start, nil, make([]replay.Frame, 0, len(frames)+1))
			for _, as := range format.Formats() {
				transformer := format.New(format.Settings{Format: as, AppendID: ring.AppendID, Decodings: format.NewDecodings(decoder, nil)})
				var out []byte
				for _, one := range native {
					out = transformer.Append(out, one)
				}
				for _, made := range harness.Frames(t, out) {
					if !json.Valid(made.Data) {
						t.Fatalf("%s, %s: %q", dialect, as, made.Data)
					}
				}
			}
		}
	})
}

// blocksOf cuts bytes into frames without interpreting them.
func blocksOf(stream []byte) (all []replay.Entry) {
	for block := range bytes.SplitSeq(stream, []byte("\n\n")) {
		var e replay.Entry
		for line := range bytes.SplitSeq(block, []byte("\n")) {
			if name, is := bytes.CutPrefix(line, []byte("event: ")); is {
				e.Name = string(name)
			}
			data, is := bytes.CutPrefix(line, []byte("data: "))
			if is || e.Data == nil {
				e.Data = append(e.Data, data...)
			}
		}
		if all = append(all, e); len(all) == 200 {
			break
		}
	}
	return all
}
