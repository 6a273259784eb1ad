package sidecar

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"regexp"
	"testing"
	"time"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/internal/settings"
)

// TestNotices checks the lines that a person at a terminal reads at the start and the end.
func TestNotices(t *testing.T) {
	c, err := config.Parse("test", []byte(`
stream: {listen: "127.0.0.1:0"}
sources:
  - {name: support, proxy: {listen: "127.0.0.1:0", upstream: "http://127.0.0.1:1/base"}}
  - {name: weather, tail: {url: "http://127.0.0.1:2/events?key=hunter2"}}
`), settings.KnownNames())
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(t.Context(), c, slog.New(slog.DiscardHandler), func(name string) string {
		return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:3", "OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.5"}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := s.Run(ctx); err != nil {
		t.Fatal(err)
	}
	var shown bytes.Buffer
	people := notifier{terminal: &shown}
	people.notify(s.Starting()...)
	people.notify(pageNotice("0.0.0.0:10477", "")...)
	people.notify(pageNotice("127.0.0.1:0", "")...)
	people.notify(drainingNotice(2, 5*time.Second), drainingNotice(0, 5*time.Second), s.Stopped(), stoppedNotice(map[string]float64{
		runsEnded: 1, "delegraph_spans_exported_total": 7, "delegraph_spans_dropped_total": 2, "delegraph_stream_frames_sent_total": 3,
	}, 1))
	got := regexp.MustCompile(`127\.0\.0\.1:\d{4,5}`).ReplaceAllString(shown.String(), "PORT")
	want := `source    support: use http://PORT instead of http://127.0.0.1:1
source    weather: reads http://127.0.0.1:2
traces    sent to 127.0.0.1:3, sampled by traceidratio 0.5
stream    http://PORT/events, policy public
page      http://localhost:10477/
draining  2 requests, up to 5 s; press Ctrl-C again to stop now
stopped   0 runs, 0 spans lost
stopped   1 run, 7 spans delivered, 2 spans lost, 3 frames sent to readers, 1 request cut off
`
	if got != want {
		t.Errorf("shown:\n%s\nwant:\n%s", got, want)
	}
}

// TestNoticesInLog checks that the log gets messages with attributes if standard error is not a terminal.
func TestNoticesInLog(t *testing.T) {
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	newNotifier(io.Discard, io.Discard, logger).notify(Notice{Label: "page", Text: "only for people"}, drainingNotice(2, 5*time.Second))
	if got, want := log.String(), "level=INFO msg=\"draining; another signal stops at once\" open_requests=2 at_most=5s\n"; got != want {
		t.Errorf("log %q, want %q", got, want)
	}
}

// TestClientURL checks that an unspecified address is shown as localhost, because clients cannot use it.
func TestClientURL(t *testing.T) {
	for address, want := range map[string]string{
		"[::]:8080": "http://localhost:8080", "0.0.0.0:8080": "http://localhost:8080", "127.0.0.1:8080": "http://127.0.0.1:8080", "[::1]:8080": "http://[::1]:8080",
	} {
		if got := clientURL(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
