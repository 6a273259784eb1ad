package otlp

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
)

// dialTime is how long an attempt over gRPC waits for a connection to a backend that was away.
const dialTime = time.Second / 4

// ResetBackoff makes gRPC connect at each attempt. By default gRPC waits up to two minutes between
// connections, and fails all attempts in between without trying. A backend that is available again would
// be found late, and never during a shutdown. ResetBackoff is a grpc.UnaryClientInterceptor.
func ResetBackoff(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	if conn.GetState() == connectivity.TransientFailure {
		conn.ResetConnectBackoff()
		dialing, cancel := context.WithTimeout(ctx, dialTime)
		conn.WaitForStateChange(dialing, connectivity.TransientFailure)
		cancel()
	}
	return invoke(ctx, method, request, reply, conn, options...)
}
