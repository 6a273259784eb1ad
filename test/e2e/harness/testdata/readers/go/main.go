// Command go reads a stream with tmaxmax/go-sse and prints each frame as a line of JSON until standard input ends.
package main

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/tmaxmax/go-sse"
)

// largest is the maximum size of a frame. With the library's default of 64 KiB it would request a larger frame forever.
const largest = 8 << 20

func main() {
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, os.Args[1], nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Args[2])
	client := sse.Client{OnRetry: func(err error, after time.Duration) { log.Print(after, err) }}
	connection := client.NewConnection(request)
	connection.Buffer(nil, largest)
	frames := json.NewEncoder(os.Stdout)
	connection.SubscribeToAll(func(e sse.Event) {
		if e.Data == "" {
			return // an id without data, which the library reports although it is no event (WHATWG HTML 9.2.6)
		}
		if e.Type == "" {
			e.Type = "message"
		}
		if err := frames.Encode(map[string]string{"id": e.LastEventID, "event": e.Type, "data": e.Data}); err != nil {
			log.Fatal(err)
		}
	})
	if err := connection.Connect(); ctx.Err() == nil {
		log.Fatal(err)
	}
}
