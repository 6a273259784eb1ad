package collector

import (
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/a2a"
	"github.com/delegraph/delegraph/collector/dialect/adk"
	"github.com/delegraph/delegraph/collector/dialect/adkstudio"
	"github.com/delegraph/delegraph/collector/dialect/agui"
	"github.com/delegraph/delegraph/collector/dialect/aisdk"
	"github.com/delegraph/delegraph/collector/dialect/deepagents"
	"github.com/delegraph/delegraph/collector/dialect/langgraph"
	"github.com/delegraph/delegraph/collector/dialect/looopy"
	"github.com/delegraph/delegraph/collector/dialect/openai"
)

// Dialects returns every dialect in the order in which a Detector tries them. The order matters only
// for an error without any other frame: A2A's errors are more specific than the ADK's, and the ADK's
// are more likely than the others'.
func Dialects() []dialect.Dialect {
	return []dialect.Dialect{
		a2a.Dialect{},
		adk.Dialect{},
		looopy.Dialect{},
		adkstudio.Dialect{},
		deepagents.Dialect{},
		langgraph.Dialect{},
		agui.Dialect{},
		aisdk.Dialect{},
		openai.Dialect{},
	}
}
