package otelcol

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/pmetric/pmetricotlp"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"go.opentelemetry.io/collector/receiver/receiverhelper"
	"go.uber.org/zap"

	"github.com/delegraph/delegraph/otelcol/internal/metadata"
)

// pipeline answers the sidecar's OTLP requests with the next consumers of the Collector. The sidecar queues spans, sends them again after a
// temporary error, and counts those that it drops.
type pipeline struct {
	traces  consumer.Traces  // nil without a pipeline for traces
	metrics consumer.Metrics // nil without a pipeline for metrics
	report  *receiverhelper.ObsReport
	logger  *zap.Logger
}

// RoundTrip implements http.RoundTripper.
func (p *pipeline) RoundTrip(request *http.Request) (*http.Response, error) {
	defer request.Body.Close()
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	switch request.URL.Path {
	case "/v1/traces":
		err = p.consumeTraces(request.Context(), body)
	case "/v1/metrics":
		err = p.consumeMetrics(request.Context(), body)
	default:
		err = consumererror.NewPermanent(fmt.Errorf("there is no signal at %s", request.URL.Path))
	}
	code := statusOf(err)
	if err != nil {
		p.logger.Debug("the pipeline refused a request", zap.String("path", request.URL.Path), zap.Error(err))
	}
	return &http.Response{
		StatusCode: code, Status: fmt.Sprintf("%d %s", code, http.StatusText(code)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Body: http.NoBody, Request: request,
	}, nil
}

// statusOf returns the HTTP status for the result of a consumer. A permanent error is 500 and not 400. After a 400 the
// sidecar would send parts of the request, and a second consumer that accepted all of it would get them twice.
func statusOf(err error) int {
	switch {
	case err == nil:
		return http.StatusOK
	case consumererror.IsPermanent(err):
		return http.StatusInternalServerError
	}
	return http.StatusServiceUnavailable
}

func (p *pipeline) consumeTraces(ctx context.Context, body []byte) error {
	request := ptraceotlp.NewExportRequest()
	if err := request.UnmarshalProto(body); err != nil {
		return consumererror.NewPermanent(err)
	}
	spans := request.Traces().SpanCount()
	ctx = p.report.StartTracesOp(ctx)
	err := p.traces.ConsumeTraces(ctx, request.Traces())
	p.report.EndTracesOp(ctx, metadata.Type.String(), spans, err)
	return err
}

func (p *pipeline) consumeMetrics(ctx context.Context, body []byte) error {
	request := pmetricotlp.NewExportRequest()
	if err := request.UnmarshalProto(body); err != nil {
		return consumererror.NewPermanent(err)
	}
	points := request.Metrics().DataPointCount()
	ctx = p.report.StartMetricsOp(ctx)
	err := p.metrics.ConsumeMetrics(ctx, request.Metrics())
	p.report.EndMetricsOp(ctx, metadata.Type.String(), points, err)
	return err
}
