package main

import (
	"context"
	"io"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/internal/replay"
	"github.com/delegraph/delegraph/internal/settings"
)

func addReplay(app *kingpin.Application, commands map[string]func() error, ctx context.Context, out, stderr io.Writer) {
	r := replay.New(out, stderr)
	c := app.Command("replay", "Send captures through the pipeline and print what comes out of it.")
	c.Flag("dialect", "The captures' dialect, or auto to find out.").Default(config.DialectAuto).EnumVar(&r.Dialect, append([]string{config.DialectAuto}, settings.DialectNames()...)...)
	c.Flag("config.file", "A configuration: the captures are read as the streams of its source, by that source's dialect and mapping.").NoEnvar().StringVar(&r.ConfigFile)
	c.Flag("source", "The source of --config.file, where that has more than one.").NoEnvar().StringVar(&r.Source)
	c.Flag("format", "text: a waterfall for people; json: a line a run; otlp: OTLP/JSON trace lines; metrics: the Prometheus text format; stream: what a subscriber of the external stream gets.").Default("text").EnumVar(&r.Format, replay.Formats()...)
	c.Flag("policy", "Whom --format=stream is for: public, or client for the protocol's own client.").Default(config.PolicyPublic).EnumVar(&r.Policy, config.PolicyPublic, config.PolicyClient)
	c.Flag("stream-format", "The format of --format=stream: "+strings.Join(replay.StreamFormats(), ", ")+".").Default(replay.NativeFormat).EnumVar(&r.StreamFormat, replay.StreamFormats()...)
	c.Flag("follow", "Wait at the end for more, as tail -F does, and print each run when it ends, until Ctrl-C; --format=metrics is printed then. Of one file, or of a pipe until it ends.").Short('F').BoolVar(&r.Follow)
	c.Arg("file", "Captures of SSE streams; - is standard input.").Required().StringsVar(&r.Files)
	commands[c.FullCommand()] = func() error { return r.Run(ctx) }
}
