package collector

import (
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/adk"
	"github.com/delegraph/delegraph/collector/dialect/adkstudio"
	"github.com/delegraph/delegraph/collector/dialect/deepagents"
	"github.com/delegraph/delegraph/collector/dialect/looopy"
)

// Dialects lists every dialect in the order in which they are asked.
func Dialects() []dialect.Dialect {
	return []dialect.Dialect{
		adk.Dialect{},
		looopy.Dialect{},
		adkstudio.Dialect{},
		deepagents.Dialect{},
	}
}
