// Package build returns the version and the commit of the running program.
package build

import "runtime/debug"

// linked is set by the linker when a release is built.
var linked = "dev"

// Version returns the version of a release, or "dev".
func Version() string { return linked }

// Revision returns the commit that the program was built from, or "" if the Go command did not record one.
func Revision() string {
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
