package harness

import (
	"context"
	"fmt"
	"net"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/delegraph/delegraph/internal/command"
)

// Demo is a running demo with its output.
type Demo struct {
	*LogBuffer
	Stop context.CancelFunc
	over chan error
}

// StartDemo runs the command demo until it is stopped or the test ends. The test fails if a goroutine of it is left.
func StartDemo(t *testing.T, args ...string) *Demo {
	t.Helper()
	before := goleak.IgnoreCurrent()
	ctx, stop := context.WithCancel(context.Background()) // t.Context() is canceled before the cleanups run
	d := &Demo{&LogBuffer{}, stop, make(chan error, 1)}
	go func() {
		d.over <- command.Run(ctx, append([]string{"demo", "--web.listen-address=127.0.0.1:0"}, args...), d.LogBuffer, d.LogBuffer)
	}()
	t.Cleanup(func() {
		stop()
		if err := <-d.over; err != nil {
			t.Error(err)
		}
		if err := goleak.Find(before); err != nil {
			t.Error(err)
		}
	})
	return d
}

// URL returns the URL of the admin pages once they are served.
func (d *Demo) URL(t *testing.T) string {
	t.Helper()
	address := d.WaitOutput(t, `^runs +(http://\S+/) `)
	Await(t, func(context.Context) error {
		connection, err := net.Dial("tcp", strings.Trim(address, "htp:/"))
		if err == nil {
			connection.Close()
		}
		return err
	})
	return address
}

// WaitOutput waits until the output matches a pattern, and returns what the group of the pattern matches.
func (d *Demo) WaitOutput(t *testing.T, pattern string) string {
	t.Helper()
	said := regexp.MustCompile("(?m)" + pattern)
	Await(t, func(context.Context) error {
		if !said.MatchString(d.String()) {
			return fmt.Errorf("the output does not match %s:\n%s", pattern, d)
		}
		return nil
	})
	return said.FindStringSubmatch(d.String())[1]
}
