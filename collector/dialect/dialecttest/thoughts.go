package dialecttest

// ThoughtMarks are the members of A2A metadata with which frameworks mark a thought. An agent of another protocol that
// passes on an A2A answer may have them too.
var ThoughtMarks = []string{
	`"adk_thought":true`,                  // Google ADK
	`"kagent_thought":true`,               // kagent
	`"agno_content_category":"reasoning"`, // Agno
	`"type":"thinking","thinking_id":"x"`, // FastA2A, of Pydantic AI
	`"type":"reasoning"`,                  // LangChain
	`"google":{"thought":true}`,           // what a model's provider says, as in the AI SDK
}
