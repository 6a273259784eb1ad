package otlp

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
)

// dialTime is what an attempt over gRPC gives a backend that was away to take a connection.
const dialTime = time.Second / 4

// DialAgain makes each attempt one at the backend. Left to itself, gRPC dials at intervals of its own, of two minutes in the end,
// and answers from memory meanwhile: a backend that is back would be found late, and by a stop never. It is a
// grpc.UnaryClientInterceptor.
func DialAgain(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	if conn.GetState() == connectivity.TransientFailure {
		conn.ResetConnectBackoff()
		dialing, cancel := context.WithTimeout(ctx, dialTime)
		conn.WaitForStateChange(dialing, connectivity.TransientFailure)
		cancel()
	}
	return invoke(ctx, method, request, reply, conn, options...)
}
