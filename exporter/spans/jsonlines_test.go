package spans

import (
	"bytes"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
)

// TestLines checks that a written line contains the run.
func TestLines(t *testing.T) {
	r := delegation()
	line := lines(t, r)
	if n := bytes.Count(line, []byte("\n")); n != 1 || line[len(line)-1] != '\n' {
		t.Errorf("%d line ends, want 1", n)
	}
	spans := parse(t, line)
	for i, op := range r.Operations {
		s := spans[i]
		if got, want := hexID(t, s.TraceId)+hexID(t, s.SpanId), hex.EncodeToString(r.Trace[:])+hex.EncodeToString(op.ID[:]); got != want {
			t.Errorf("%s has ids %s; want %s", s.Name, got, want)
		}
		if i > 0 && hexID(t, s.ParentSpanId) != hex.EncodeToString(op.Parent[:]) {
			t.Errorf("the span %s has the parent %s", s.Name, hexID(t, s.ParentSpanId))
		}
		if s.StartTimeUnixNano != uint64(op.Started.At.UnixNano()) || s.EndTimeUnixNano != uint64(op.Ended.At.UnixNano()+1) {
			t.Errorf("%s lasts from %d to %d", s.Name, s.StartTimeUnixNano, s.EndTimeUnixNano)
		}
		if got := s.Flags; got != uint32(1|otlp.SpanFlags_SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK) {
			t.Errorf("%s has flags %#x", s.Name, got)
		}
	}
	if s := spans[1]; s.Kind != otlp.Span_SPAN_KIND_CLIENT || s.Name != "chat gemini-2.5-flash" {
		t.Errorf("the second span is %s %s", s.Kind, s.Name)
	}
	if s := spans[5].Status; s.Code != otlp.Status_STATUS_CODE_ERROR || s.Message != "NOT_FOUND" {
		t.Errorf("the failed tool has status %v", s)
	}
}

// TestLinesAreTheSame checks that a run gives the same bytes twice, whatever the environment.
func TestLinesAreTheSame(t *testing.T) {
	want := lines(t, delegation())
	server := httptest.NewTLSServer(nil)
	server.Close()
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", write(t, "tls.crt", certificate))
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://elsewhere:1/")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	if got := lines(t, delegation()); !bytes.Equal(got, want) {
		t.Errorf("%.200s\nis not\n%.200s", got, want)
	}
}

// TestLinesAreBounded checks that a long capture is written while it is read.
func TestLinesAreBounded(t *testing.T) {
	var out bytes.Buffer
	l, err := NewJSONLines(t.Context(), &out)
	if err != nil {
		t.Fatal(err)
	}
	span := tracetest.SpanStub{Name: "s"}.Snapshot()
	for range maxSpansPerLine + 1 {
		l.OnEnd(span)
	}
	if n := bytes.Count(out.Bytes(), []byte("\n")); n != 1 || len(l.spans) != 1 {
		t.Errorf("%d lines are out, and %d spans are kept", n, len(l.spans))
	}
	if err := l.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	total := 0
	for line := range bytes.Lines(out.Bytes()) {
		total += len(parse(t, line))
	}
	if total != maxSpansPerLine+1 {
		t.Errorf("%d spans are out", total)
	}
}

// TestLinesAreBoundedInBytes checks that spans with long texts are written before there are many of them.
func TestLinesAreBoundedInBytes(t *testing.T) {
	var out bytes.Buffer
	l, err := NewJSONLines(t.Context(), &out)
	if err != nil {
		t.Fatal(err)
	}
	span := tracetest.SpanStub{Name: strings.Repeat("s", maxLineSize/2)}.Snapshot()
	for range 3 {
		l.OnEnd(span)
	}
	if n := bytes.Count(out.Bytes(), []byte("\n")); n != 1 || len(l.spans) != 1 {
		t.Errorf("%d lines are out, and %d spans are kept, want 1 and 1", n, len(l.spans))
	}
}

// TestLinesFail checks that a flush returns the error of a line that was written before it.
func TestLinesFail(t *testing.T) {
	for _, n := range []int{1, maxSpansPerLine} {
		full := errors.New("no space left")
		l, err := NewJSONLines(t.Context(), failingWriter{full})
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			l.OnEnd(tracetest.SpanStub{Name: "s"}.Snapshot())
		}
		if err := l.ForceFlush(t.Context()); !errors.Is(err, full) {
			t.Errorf("with %d spans the error is %v", n, err)
		}
		if err := l.ForceFlush(t.Context()); err != nil {
			t.Errorf("with nothing to write the error is %v", err)
		}
	}
}

// TestNoLines checks that nothing is written if there are no spans.
func TestNoLines(t *testing.T) {
	var out bytes.Buffer
	l, err := NewJSONLines(t.Context(), &out)
	if err != nil {
		t.Fatal(err)
	}
	var processor sdktrace.SpanProcessor = l
	if err := processor.Shutdown(t.Context()); err != nil || out.Len() > 0 {
		t.Errorf("%d bytes were written, error %v, want neither", out.Len(), err)
	}
}

type failingWriter struct{ error }

func (f failingWriter) Write([]byte) (int, error) { return 0, f.error }

func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
