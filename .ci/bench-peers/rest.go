package main

import (
	"os"
	"os/exec"
	"time"
)

// idler is a program that is measured while it is idle.
type idler struct {
	name   string
	binary string // whose size is reported; "" for none
	start  func() (*process, func() error, error)
}

// atRest measures the start-up time relative to that of the program true, the memory of idle processes, and the size of
// binaries.
func (b *bench) atRest() (string, error) {
	rounds := 15
	if b.quick {
		rounds = 2
	}
	starts, rest, sizes := map[string]samples{}, map[string]samples{}, map[string]samples{}
	all := b.idlers()
	for round := range rounds {
		begin := time.Now()
		if err := exec.CommandContext(b.context, "true").Run(); err != nil {
			return "", err
		}
		floor := time.Since(begin).Seconds()
		for i := range all {
			idler := all[(round+i)%len(all)]
			begin := time.Now()
			p, ready, err := idler.start()
			if err != nil {
				continue
			}
			err = ready()
			took := time.Since(begin).Seconds()
			if err == nil {
				settle(p.pid)
				var bytes float64
				if bytes, err = resident(p.Process.Pid); err == nil {
					rest[idler.name] = append(rest[idler.name], bytes/1e6)
				}
				starts[idler.name] = append(starts[idler.name], took/floor)
			}
			p.stop()
		}
	}
	var t table
	t.row("", "start to ready, through `true`", "resident memory at rest, MB", "binary, MB")
	for _, idler := range all {
		if info, err := os.Stat(idler.binary); err == nil {
			sizes[idler.name] = samples{float64(info.Size()) / 1e6}
		}
		t.row(idler.name, starts[idler.name], rest[idler.name], sizes[idler.name])
	}
	b.found["rest"] = rest["Delegraph"]
	return t.String(), nil
}

func (b *bench) idlers() []idler {
	all := []idler{{name: "Delegraph", binary: b.binary, start: func() (*process, func() error, error) {
		address, err := freeAddress()
		if err != nil {
			return nil, nil, err
		}
		var admin string
		p, err := b.sidecar(address, "127.0.0.1:9", "", "filtered", true, func(at string) { admin = at })
		return p, func() error { return answers("http://" + admin + "/-/ready") }, err
	}}}
	for _, starter := range starters {
		idler := idler{name: starter.name}
		switch starter.name {
		case verbatimName, filteredName, aloneName:
			continue
		case "nginx":
			idler.binary, _ = installed("nginx")
		case "Caddy":
			idler.binary, _ = installed("caddy")
		}
		idler.start = func() (*process, func() error, error) {
			address, err := freeAddress()
			if err != nil {
				return nil, nil, err
			}
			p, err := starter.start(b, address, "127.0.0.1:9", "")
			return p, func() error { return listens(address) }, err
		}
		all = append(all, idler)
	}
	return all
}
