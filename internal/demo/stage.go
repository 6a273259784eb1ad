// Package demo is the command of that name: recorded agents, one for each protocol, the sidecar in front of them, and their clients.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
)

// stage serves every recorded agent at an address of its own on loopback.
type stage struct {
	agents  map[string]*agent // by source
	urls    map[string]string
	servers []*http.Server
	serving sync.WaitGroup
}

// openStage starts the agents, which send faster than recorded by the given factor. Call close in the end.
func openStage(speed float64) (*stage, error) {
	s := &stage{agents: map[string]*agent{}, urls: map[string]string{}}
	for source := range protocols {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			s.close()
			return nil, fmt.Errorf("the recorded agent %s: %w", source, err)
		}
		s.agents[source] = newAgent(source, speed)
		s.urls[source] = "http://" + listener.Addr().String()
		server := &http.Server{Handler: s.agents[source], ErrorLog: log.New(io.Discard, "", 0)}
		s.servers = append(s.servers, server)
		s.serving.Go(func() { _ = server.Serve(listener) }) // until it is closed
	}
	return s, nil
}

// url returns the address of a source's agent, or "" if there is none.
func (s *stage) url(source string) string { return s.urls[source] }

// close ends every agent at once, also within an answer.
func (s *stage) close() {
	for _, server := range s.servers {
		_ = server.Close()
	}
	s.serving.Wait()
}

// drive asks for a number of runs, or without end if it is 0, with a few users for each agent at once; proxy says at which address
// a source's agent is asked. It is an error if a client does not hear exactly what it should, and none if the context ends.
func (s *stage) drive(ctx context.Context, runs int, proxy func(source string) string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	ended := make(chan error)
	for source, a := range s.agents {
		for user := range users {
			go func() { ended <- a.drive(ctx, client, proxy(source), user, runs) }()
		}
	}
	var failures []error
	for range users * len(s.agents) {
		err := <-ended
		if err != nil {
			stop()
		}
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}
