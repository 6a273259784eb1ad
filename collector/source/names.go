package source

import "go.opentelemetry.io/otel/attribute"

// Attributes of the OpenTelemetry HTTP semantic conventions. They are declared here, as in
// exporter/spans, and a test compares them with a semconv package.
const (
	requestMethod  = attribute.Key("http.request.method")
	originalMethod = attribute.Key("http.request.method_original")
	httpRoute      = attribute.Key("http.route")
	statusCode     = attribute.Key("http.response.status_code")
	urlScheme      = attribute.Key("url.scheme")
	urlPath        = attribute.Key("url.path")
	serverAddress  = attribute.Key("server.address")
	serverPort     = attribute.Key("server.port")
	errorType      = attribute.Key("error.type")
)

// sourceName is an attribute of Delegraph.
const sourceName = attribute.Key("delegraph.source")
