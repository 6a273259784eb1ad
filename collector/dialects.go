package collector

import (
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/a2a"
	"github.com/delegraph/delegraph/collector/dialect/adk"
	"github.com/delegraph/delegraph/collector/dialect/adkstudio"
	"github.com/delegraph/delegraph/collector/dialect/agui"
	"github.com/delegraph/delegraph/collector/dialect/deepagents"
	"github.com/delegraph/delegraph/collector/dialect/looopy"
)

// Dialects lists every dialect in the order in which they are asked, which matters only for errors that stand alone: A2A's say
// more than the ADK's, and the ADK's are likelier than those of the others.
func Dialects() []dialect.Dialect {
	return []dialect.Dialect{
		a2a.Dialect{},
		adk.Dialect{},
		looopy.Dialect{},
		adkstudio.Dialect{},
		deepagents.Dialect{},
		agui.Dialect{},
	}
}
