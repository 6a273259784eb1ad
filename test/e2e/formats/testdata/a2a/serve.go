package main

import (
	"context"
	"fmt"
	"iter"
	"net"
	"net/http"
	"os"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
)

// serve serves an agent, with version 1.0 at / and 0.3 at /a2a, and prints its address.
func serve() {
	handler := a2asrv.NewHandler(agent{})
	mux := http.NewServeMux()
	mux.Handle("/", a2asrv.NewJSONRPCHandler(handler))
	mux.Handle("/a2a", a2av0.NewJSONRPCHandler(handler))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr())
	go func() { _, _ = os.Stdin.Read(make([]byte, 1)); os.Exit(0) }()
	_ = http.Serve(listener, mux)
}

// agent answers in two chunks, or fails.
type agent struct{}

func (agent) Execute(_ context.Context, about *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		first := a2a.NewArtifactEvent(about, a2a.NewTextPart("The north slope "))
		last := a2a.NewArtifactUpdateEvent(about, first.Artifact.ID, a2a.NewTextPart("burned."))
		last.LastChunk = true
		ending := a2a.TaskStateCompleted
		if about.Message.Parts[0].Text() == "fail" {
			ending = a2a.TaskStateFailed
		}
		for _, e := range []a2a.Event{
			a2a.NewSubmittedTask(about, about.Message),
			a2a.NewStatusUpdateEvent(about, a2a.TaskStateWorking, nil),
			first, last,
			a2a.NewStatusUpdateEvent(about, ending, nil),
		} {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (agent) Cancel(_ context.Context, about *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(about, a2a.TaskStateCanceled, nil), nil)
	}
}
