package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
)

// mark is in the last frame of a slice and nowhere else on the wire.
const mark = '!'

func marked(frame []byte) []byte {
	frame = slices.Clone(frame)
	frame[len(frame)-1] = mark
	return frame
}

// corpus returns data like that of agents: 70 % deltas of about 250 bytes on the wire, 20 % of 600 bytes, 10 % of 2 to 4 KB.
func corpus() [][]byte {
	var all [][]byte
	for i := range 100 {
		size := 190 + i*37%120
		switch i % 10 {
		case 3, 7:
			size = 540 + i*31%120
		case 9:
			size = 2000 + i*613%2000
		}
		all = append(all, bytes.Repeat([]byte("x"), size-40))
	}
	return all
}

// subscribers runs a process of readers that discard what they read. It reports when all are connected and whenever all
// have read another mark. It ends with its input.
func subscribers(address, path string, n int) error {
	conns := make([]net.Conn, n)
	for i := range conns {
		conn, err := dial(address, i)
		if err != nil {
			return err
		}
		if _, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: stream\r\nAccept: text/event-stream\r\n\r\n", path); err != nil {
			return err
		}
		conns[i] = conn
	}
	for _, conn := range conns { // the stream has started when the first byte comes
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			return err
		}
	}
	fmt.Println("connected")
	var marks atomic.Int64
	var readers sync.WaitGroup
	for _, conn := range conns {
		readers.Go(func() {
			for buf := make([]byte, 8<<10); ; {
				read, err := conn.Read(buf)
				if err != nil {
					return
				}
				if bytes.IndexByte(buf[:read], mark) >= 0 && marks.Add(1)%int64(n) == 0 {
					fmt.Println("all")
				}
			}
		})
	}
	_, err := io.Copy(io.Discard, os.Stdin)
	for _, conn := range conns {
		_ = conn.(*net.TCPConn).SetLinger(0) // leave no port in TIME_WAIT
		_ = conn.Close()
	}
	readers.Wait()
	return err
}

// dial spreads clients over the loopback network, because one address has only 28,000 ports.
func dial(address string, i int) (net.Conn, error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+i%100))}}
	conn, err := dialer.Dial("tcp4", address)
	if err != nil { // only on Linux is the whole network local
		conn, err = net.Dial("tcp4", address)
	}
	return conn, err
}
