package spans

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/delegraph/delegraph/exporter/otlp"
)

// TestRedirects checks that only a redirect that repeats the spans can deliver them. A page that answers the GET after the others does not.
func TestRedirects(t *testing.T) {
	for code, want := range map[int]otlp.Result{
		http.StatusMovedPermanently:  {Outcome: otlp.Refused, Cause: "redirect without the telemetry"},
		http.StatusFound:             {Outcome: otlp.Refused, Cause: "redirect without the telemetry"},
		http.StatusSeeOther:          {Outcome: otlp.Refused, Cause: "redirect without the telemetry"},
		http.StatusTemporaryRedirect: {Outcome: otlp.Delivered},
		http.StatusPermanentRedirect: {Outcome: otlp.Delivered},
	} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			received := 0
			backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if r.URL.Path == "/login" {
					received += len(body)
					_, _ = io.WriteString(w, "<html>")
					return
				}
				w.Header().Set("Location", "/login")
				w.WriteHeader(code)
			}))
			defer backend.Close()
			t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", backend.URL)
			e, err := NewExporter(t.Context(), os.Getenv)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = e.Shutdown(t.Context()) }()
			got := otlp.Classify(e.ExportSpans(t.Context(), []sdktrace.ReadOnlySpan{span("s")}))
			if got != want || (received > 0) != (want.Outcome == otlp.Delivered) {
				t.Errorf("%+v with %d bytes received, want %+v", got, received, want)
			}
		})
	}
}
