package main

import "runtime/debug"

// released is set by the linker when a release is built.
var released = "dev"

func version() string { return released }

// revision is the commit that the program was built from, where the Go command recorded one.
func revision() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
