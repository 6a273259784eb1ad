// Command scale computes the resources that many agents, events and readers need, with a model based on measurements on one
// machine.
package main

import (
	"flag"
	"fmt"
	"os"
)

// root is the root of the main module, relative to the folder of this one, where the program runs.
const root = "../.."

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run() error {
	path := flag.String("figures", root+"/docs/design/scale.json", "the file of the measured figures")
	again := flag.Int("measure", 0, "measure the costs again, this many times, and write the file")
	real := flag.Int("check", 0, "compare the model with real processes on this machine, this many times, and write the results into the file")
	cluster := flag.Int("cluster", 0, "like -check, with three NATS servers")
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
	for _, t := range append(basis(f), tables(f)...) {
		fmt.Printf("## %s\n\n%s\n", t.name, t.text)
	}
	return nil
}
