package command

import (
	"context"
	"io"
	"strings"

	"github.com/alecthomas/kingpin/v2"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/internal/replay"
	"github.com/delegraph/delegraph/internal/settings"
)

func addReplay(ctx context.Context, app *kingpin.Application, commands map[string]func() error, out, stderr io.Writer) {
	r := replay.New(out, stderr)
	c := app.Command("replay", "Send captures through the pipeline and print the result.")
	c.Flag("dialect", "The captures' dialect, or auto to detect it.").Default(config.DialectAuto).EnumVar(&r.Dialect, append([]string{config.DialectAuto}, settings.DialectNames()...)...)
	c.Flag("config.file", "A configuration: the captures are read as streams of its source, with that source's dialect, mapping and agent, and the limits and stream settings of the configuration.").NoEnvar().StringVar(&r.ConfigFile)
	c.Flag("source", "The source in --config.file, if it has more than one.").NoEnvar().StringVar(&r.Source)
	c.Flag("format", "text: a waterfall for people; json: one line for each run; otlp: OTLP/JSON trace lines; metrics: the Prometheus text format; stream: what a subscriber of the external stream gets.").Default("text").EnumVar(&r.Format, replay.Formats()...)
	c.Flag("policy", "What --format=stream prints, instead of what the configuration lets out: public, or client for what the protocol's own client gets, without the stream settings. The default configuration lets out public.").EnumVar(&r.Policy, config.PolicyPublic, config.PolicyClient)
	c.Flag("stream-format", "The format of --format=stream: "+strings.Join(replay.StreamFormats(), ", ")+".").Default(replay.NativeFormat).EnumVar(&r.StreamFormat, replay.StreamFormats()...)
	c.Flag("html", "Also write the runs as one HTML page to this file, which needs no server and no network.").NoEnvar().PlaceHolder("FILE").StringVar(&r.HTML)
	c.Flag("follow", "Wait for more at the end of the file, as tail -F does, and print each run when it ends, until Ctrl-C; --format=metrics prints at the end. Takes one file, or a pipe, which is read to its end.").Short('F').BoolVar(&r.Follow)
	c.Arg("file", "Captures of SSE streams; - means standard input.").Required().StringsVar(&r.Files)
	commands[c.FullCommand()] = func() error { return r.Run(ctx) }
}
