// Command draw shows a dashboard without Grafana: it asks a Prometheus for what its panels show, and writes a picture.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/delegraph/delegraph/dashboards/grafana"
	"github.com/delegraph/delegraph/dashboards/picture"
)

func main() {
	server := flag.String("prometheus", "http://127.0.0.1:9090", "URL of the Prometheus")
	period := flag.Duration("period", time.Hour, "period to show, up to now")
	rate := flag.Duration("rate", time.Minute, "window of rates: at least four times the scrape interval")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "draw: name one dashboard, such as dashboards/agents.json; the picture, SVG, goes to standard output")
		os.Exit(2)
	}
	if err := draw(flag.Arg(0), *server, *period, *rate); err != nil {
		fmt.Fprintln(os.Stderr, "draw:", err)
		os.Exit(1)
	}
}

func draw(file, server string, period, rate time.Duration) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	board, err := grafana.Decode(content)
	if err != nil {
		return err
	}
	now := time.Now()
	return picture.Draw(context.Background(), os.Stdout, board, picture.View{
		Prometheus: server, From: now.Add(-period), To: now, Step: max(time.Second, period/120), Rate: rate,
	})
}
