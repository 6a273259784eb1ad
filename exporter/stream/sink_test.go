package stream

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/delegraph/delegraph/test/subprocess"
)

const sinkVariable = "DELEGRAPH_STREAM_SINK"

func TestMain(m *testing.M) {
	if n, err := strconv.Atoi(os.Getenv(sinkVariable)); err == nil {
		if err := sink(os.Args[len(os.Args)-1], n); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// sink runs a process of subscribers that read and discard everything, so that their cost is not measured. It ends with its
// standard input.
func sink(address string, n int) error {
	conns := make([]net.Conn, n)
	for i := range conns {
		conn, err := dial(address, i)
		if err != nil {
			return err
		}
		if _, err = io.WriteString(conn, "GET /events HTTP/1.1\r\nHost: stream\r\n\r\n"); err != nil {
			return err
		}
		conns[i] = conn
	}
	for _, conn := range conns { // the first byte shows that the stream has begun
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			return err
		}
	}
	fmt.Println("connected")
	var readers sync.WaitGroup
	for _, conn := range conns {
		readers.Go(func() { _, _ = io.Copy(io.Discard, conn) })
	}
	_, err := io.Copy(io.Discard, os.Stdin)
	for _, conn := range conns {
		_ = conn.(*net.TCPConn).SetLinger(0) // so that no port is left in TIME_WAIT
		_ = conn.Close()
	}
	readers.Wait()
	return err
}

// dial spreads clients over the loopback network, because one address has ports for only 28,000.
func dial(address string, i int) (net.Conn, error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+i%100))}}
	conn, err := dialer.Dial("tcp4", address)
	if err != nil { // only Linux has the whole loopback network
		conn, err = net.Dial("tcp4", address)
	}
	return conn, err
}

// startSink connects n subscribers in another process and returns when all streams have begun.
func startSink(b *testing.B, address string, n int) {
	b.Helper()
	child := subprocess.Command(os.Args[0], address)
	child.Env = append(os.Environ(), sinkVariable+"="+strconv.Itoa(n))
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := child.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = child.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		b.Fatalf("the subscribers did not connect: %q, %v", line, err)
	}
}
