// Command scale says what many agents, events and readers need, by a model of what was measured on one machine.
package main

import (
	"flag"
	"fmt"
	"os"
)

// root is the root of the main module, from the folder of this one, in which the program runs.
const root = "../.."

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run() error {
	path := flag.String("figures", root+"/docs/design/scale.json", "the file of what was measured")
	again := flag.Int("measure", 0, "measure the costs again, so many times, and write the file")
	real := flag.Int("check", 0, "hold the model against real processes on this machine, so many times, and write the results into the file")
	cluster := flag.Int("cluster", 0, "the same with three servers of NATS")
	flag.Parse()
	if *again > 0 {
		f, err := measure(*again)
		if err != nil {
			return err
		}
		if err := f.store(*path); err != nil {
			return err
		}
	}
	f, err := load(*path)
	if err != nil {
		return err
	}
	for _, each := range []struct {
		times, servers int
		into           *[]*checked
	}{{*real, 1, &f.Checks}, {*cluster, replicas, &f.Cluster}} {
		if each.times == 0 {
			continue
		}
		*each.into = nil
		for range each.times {
			c, err := check(each.servers)
			if err != nil {
				return err
			}
			*each.into = append(*each.into, c)
		}
		if err := f.store(*path); err != nil {
			return err
		}
	}
	for _, t := range tables(f) {
		fmt.Printf("## %s\n\n%s\n", t.name, t.text)
	}
	return nil
}
