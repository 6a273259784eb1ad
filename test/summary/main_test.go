package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSummarize(t *testing.T) {
	for _, test := range []struct {
		name   string
		in     []string
		want   string
		failed bool
	}{
		{
			name: "skipped tests are counted by reason",
			in: []string{
				`{"Action":"output","Package":"a","Test":"TestA","Output":"    a_test.go:7: nats-server is not installed: run .ci/install/nats\n"}`,
				`{"Action":"output","Package":"a","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}`,
				`{"Action":"skip","Package":"a","Test":"TestA"}`,
				`{"Action":"output","Package":"a","Test":"TestB","Output":"    a_test.go:9: needs root\n"}`,
				`{"Action":"skip","Package":"a","Test":"TestB"}`,
				`{"Action":"output","Package":"a","Test":"TestC","Output":"    a_test.go:9: needs root\n"}`,
				`{"Action":"skip","Package":"a","Test":"TestC"}`,
				`{"Action":"output","Package":"a","Output":"PASS\n"}`,
				`{"Action":"output","Package":"a","Output":"ok  \ta\t0.1s\n"}`,
				`{"Action":"pass","Package":"a"}`,
			},
			want: "ok  \ta\t0.1s\n\nNot run (tests, why):\n    2  needs root\n    1  nats-server is not installed: run .ci/install/nats\n",
		},
		{
			name: "only failed tests show their output",
			in: []string{
				`{"Action":"output","Package":"a","Test":"TestA","Output":"noise\n"}`,
				`{"Action":"pass","Package":"a","Test":"TestA"}`,
				`{"Action":"output","Package":"a","Test":"TestB","Output":"--- FAIL: TestB\n"}`,
				`{"Action":"fail","Package":"a","Test":"TestB"}`,
				`{"Action":"output","Package":"a","Output":"FAIL\ta\t0.1s\n"}`,
				`{"Action":"fail","Package":"a"}`,
			},
			want:   "--- FAIL: TestB\nFAIL\ta\t0.1s\n",
			failed: true,
		},
		{
			name: "a test that ends its process shows its output",
			in: []string{
				`{"Action":"output","Package":"a","Test":"TestA","Output":"panic: oh\n"}`,
				`{"Action":"output","Package":"a","Output":"FAIL\ta\t0.1s\n"}`,
				`{"Action":"fail","Package":"a"}`,
			},
			want:   "panic: oh\nFAIL\ta\t0.1s\n",
			failed: true,
		},
		{
			name: "a package that does not build shows why",
			in: []string{
				`{"ImportPath":"a","Action":"build-output","Output":"a.go:1:1: expected package\n"}`,
				`{"ImportPath":"a","Action":"build-fail"}`,
			},
			want:   "a.go:1:1: expected package\n",
			failed: true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			failed, err := summarize(strings.NewReader(strings.Join(test.in, "\n")), &out)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, out.String()); diff != "" || failed != test.failed {
				t.Errorf("failed = %v, want %v; output (-want +got):\n%s", failed, test.failed, diff)
			}
		})
	}
}
