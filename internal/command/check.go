package command

import (
	"fmt"
	"io"

	"github.com/alecthomas/kingpin/v2"

	"github.com/delegraph/delegraph/internal/settings"
)

func addCheck(app *kingpin.Application, commands map[string]func() error, out io.Writer) {
	c := app.Command("check", "Validate a configuration: exit 0, or exit 1 and print the line and the key of each mistake.")
	file := c.Flag("config.file", "The configuration.").Default("delegraph.yml").String()
	commands[c.FullCommand()] = func() error {
		loaded, err := settings.Load(*file)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: valid, %d source(s)\n", *file, len(loaded.Sources))
		return nil
	}
}
