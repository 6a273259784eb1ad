// Command delegraph reads the event stream that an AI agent already sends and turns it into traces and metrics.
package main

import "github.com/delegraph/delegraph/internal/command"

func main() { command.Main() }
