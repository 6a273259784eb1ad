package looopy

import (
	"strings"
	"testing"
)

// TestArtifacts checks the bytes and the pieces of artifacts, chunk by chunk.
func TestArtifacts(t *testing.T) {
	file := func(members string) string { return by("file-write", `"artifactId":"f",`+members) }
	runDecode(t, []decodeCase{
		{"text with its encoding in the first chunk", []string{file(`"data":"ünï","index":0,"complete":false,"name":"a.md","encoding":"utf-8"`), file(`"data":"\u2603\n","index":1,"complete":true`)},
			[]string{`file-write run="t" orphan; artifact name="a.md" id="f" file bytes=5 index=0 (text name="a.md" "ünï")`, `file-write run="t" orphan; artifact id="f" file bytes=4 index=1 append complete (text "\u2603\n")`}},
		{"base64 with its encoding in the first chunk", []string{file(`"data":"aGVsbG8=","index":0,"encoding":"base64"`), file(`"data":"aGVs\nbG8","index":1,"complete":true`)},
			[]string{`file-write run="t" orphan; artifact id="f" file bytes=5 index=0 (bytes "aGVsbG8=")`, `file-write run="t" orphan; artifact id="f" file bytes=5 index=1 append complete (fragment "aGVs\nbG8")`}},
		{"base64 cut at any byte", []string{file(`"data":"aGVsb","index":0,"metadata":{"encoding":"base64"}`), file(`"data":"G8=","index":1,"metadata":{"encoding":"base64"}`), file(`"data":"aGVs","index":2`), file(`"data":"","index":3`), file(`"data":"aGVs","index":0,"encoding":"base64"`)},
			[]string{`file-write run="t" orphan; artifact id="f" file bytes=3 index=0 (fragment "aGVsb")`, `file-write run="t" orphan; artifact id="f" file bytes=1 index=1 append (fragment "G8=")`, `file-write run="t" orphan; artifact id="f" file bytes=3 index=2 append (fragment "aGVs")`,
				`file-write run="t" orphan; artifact id="f" file bytes=0 index=3 append (fragment "")`, `file-write run="t" orphan; artifact id="f" file bytes=3 index=0 (bytes "aGVs")`}},
		{"base64 in one piece, without padding", []string{file(`"data":"aGVsb","index":0,"encoding":"base64","complete":true`)}, []string{`file-write run="t" orphan; artifact id="f" file bytes=3 index=0 complete (bytes "aGVsb")`}},
		{"base64 with its encoding in each chunk", []string{file(`"data":"aGVsbG8=","index":3,"metadata":{"encoding":"base64"}`)},
			[]string{`file-write run="t" orphan; artifact id="f" file bytes=5 index=3 append (bytes "aGVsbG8=")`}},
		{"the first chunk was missed", []string{file(`"data":"aGVsbG8=","index":3`)}, []string{`file-write run="t" orphan; artifact id="f" file index=3 append`}},
		{"replaced", []string{file(`"data":"aGVsbG8=","index":0,"encoding":"base64"`), file(`"data":"hello","index":0`)},
			[]string{`file-write run="t" orphan; artifact id="f" file bytes=5 index=0 (bytes "aGVsbG8=")`, `file-write run="t" orphan; artifact id="f" file bytes=5 index=0 (text "hello")`}},
		{"closed with the index of the last chunk", []string{file(`"data":"hello","index":0`), file(`"data":"","index":0,"complete":true`)},
			[]string{`file-write run="t" orphan; artifact id="f" file bytes=5 index=0 (text "hello")`, `file-write run="t" orphan; artifact id="f" file bytes=0 index=0 append complete (text "")`}},
		{"names that are too long", []string{file(`"data":"x","index":0,"name":"` + strings.Repeat("n", 300) + `","mimeType":"` + strings.Repeat("m", 300) + `"`)},
			[]string{`file-write run="t" orphan; artifact name="` + strings.Repeat("n", 256) + `" id="f" file bytes=1 index=0 (text name="` + strings.Repeat("n", 256) + `" media="` + strings.Repeat("m", 256) + `" "x")`}},
		{"base64 without indexes", []string{file(`"data":"aGVsbG8=","encoding":"base64"`), file(`"data":"aGVs"`)},
			[]string{`file-write run="t" orphan; artifact id="f" file bytes=5 (bytes "aGVsbG8=")`, `file-write run="t" orphan; artifact id="f" file bytes=3 (bytes "aGVs")`}},
		{"text without indexes", []string{file(`"data":"a","encoding":null`), file(`"data":"b"`)},
			[]string{`file-write run="t" orphan; artifact id="f" file bytes=1 (text "a")`, `file-write run="t" orphan; artifact id="f" file bytes=1 (text "b")`}},
		{"an unknown encoding", []string{file(`"data":"AAE","index":0,"encoding":"binary"`), file(`"data":"AAE","index":1`)},
			[]string{`file-write run="t" orphan; artifact id="f" file index=0`, `file-write run="t" orphan; artifact id="f" file index=1 append`}},
		{"no data", []string{file(`"data":{"x":1},"index":0`)}, []string{`file-write run="t" orphan; artifact id="f" file index=0`}},
		{"a JSON object", []string{by("data-write", `"artifactId":"d","name":"n","data":{"a": 1},"metadata":{"version":2}`), by("data-write", `"artifactId":"d"`)},
			[]string{`data-write run="t" orphan; artifact name="n" id="d" data bytes=8 complete (data {"a": 1})`, `data-write run="t" orphan; artifact id="d" data complete`}},
		{"data of any type", []string{by("data-write", `"artifactId":"d","data":[1,"x"]`), by("data-write", `"artifactId":"d","data":false`), by("data-write", `"artifactId":"d","data":null`)},
			[]string{`data-write run="t" orphan; artifact id="d" data bytes=7 complete (data [1,"x"])`, `data-write run="t" orphan; artifact id="d" data bytes=5 complete (data false)`, `data-write run="t" orphan; artifact id="d" data bytes=4 complete`}},
		{"rows", []string{by("dataset-write", `"artifactId":"s","name":"n","rows":[{"a":1},{"a":22}],"schema":{"type":"object"},"index":0`), by("dataset-write", `"artifactId":"s","rows":[],"index":1,"complete":true`), by("dataset-write", `"artifactId":"s","index":2`)},
			[]string{`dataset-write run="t" orphan; artifact name="n" id="s" dataset bytes=15 index=0 (rows [{"a":1},{"a":22}] schema={"type":"object"})`, `dataset-write run="t" orphan; artifact id="s" dataset bytes=0 index=1 append complete (rows [])`, `dataset-write run="t" orphan; artifact id="s" dataset index=2 append`}},
		{"without a task", []string{by("tool-start", `"toolCallId":"c1","toolName":"w"`), encodeFrame("file-write", `"artifactId":"f","data":"x","index":0`)},
			[]string{`tool-start run="t" orphan; tool_started name="w" call="c1"`, `file-write run="t" orphan; artifact id="f" file bytes=1 index=0 (text "x")`}},
		{"without any task", []string{"id: c-1\n" + encodeFrame("file-write", `"artifactId":"f","data":"x","index":0`)}, []string{`file-write session="c"; artifact id="f" file bytes=1 index=0 (text "x")`}},
		{"without a task, forwarded", []string{of("u", "task-status", working), by("task-status", working), encodeFrame("file-write", `"artifactId":"f","parentTaskId":"u","path":["agent:a"],"data":"x","index":0`)},
			[]string{`task-status run="u" orphan; other`, `task-status run="t" orphan; other`, `file-write run="u" orphan; artifact id="f" file bytes=1 index=0 (text "x")`}},
	})
}
