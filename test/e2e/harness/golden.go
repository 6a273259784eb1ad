package harness

import "flag"

// Update reports whether tests are to rewrite their golden files.
var Update = flag.Bool("update", false, "rewrite the golden files")
