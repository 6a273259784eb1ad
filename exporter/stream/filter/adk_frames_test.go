package filter_test

import "strings"

// adkFraming lists attempts that hide content in lines and between them.
var adkFraming = []adkAttempt{
	{name: "split over data lines", wire: "data:{\"author\":\"a\",\"kind\":\ndata:\"internal:x\"," + secret + "}\n\n", public: internal, client: internal},
	{name: "a string over data lines", wire: "data:{\"author\":\"a\",\"kind\":\"inter\ndata:nal:x\"," + secret + "}\n\n", public: unreadable, client: unreadable},
	{name: "byte order mark", wire: "\ufeffevent:internal:x\n" + data(adkEvent(secret)), public: internal, client: internal},
	{name: "byte order mark later", wire: data(adkEvent(hello)) + "\ufeffevent:internal:x\n" + data(`{`+unheard+`}`), public: "passed, unreadable", client: "passed, unreadable"},
	{name: "byte order mark later, before an event", wire: data(adkEvent(hello)) + "\ufeffevent:internal:x\n" + data(adkEvent(hello)), public: "passed, passed", client: "passed, passed"}, // no reader knows such a field, WHATWG HTML 9.2.6
	{name: "CR only", wire: "event:internal:x\rdata:" + adkEvent(secret) + "\r\r", public: internal, client: internal},
	{name: "CR only, nothing to hide", wire: "event:message\rdata:" + adkEvent(hello) + "\r\r", public: passed, client: passed},
	{name: "CR LF", wire: "event:internal:x\r\ndata:" + adkEvent(secret) + "\r\n\r\n", public: internal, client: internal},
	{name: "hidden CR", wire: "event:message\revent:internal:x\n" + data(adkEvent(secret)), public: internal, client: internal},
	{name: "hidden CR ends the frame", wire: "event:internal:x\r\r" + data(adkEvent(hello)), public: passed, client: passed}, // a name without data is no frame
	{name: "line separator is no end of a line", wire: "event:message\u2028event:internal:x\n" + data(adkEvent(hello)), public: passed, client: passed},
	{name: "comment", wire: ":" + adkEvent(`"kind":"internal:x"`, secret) + "\n\n", public: "", client: ""},
	{name: "comment in a frame", wire: ":" + canary + "\n" + data(adkEvent(hello)), public: passed, client: passed},
	{name: "id", wire: "id:" + canary + "\n" + data(adkEvent(hello)), public: passed, client: passed}, // the replay buffer assigns the id that is sent
	{name: "id with a NUL", wire: "id:" + canary + "\x00\n" + data(adkEvent(hello)), public: passed, client: passed},
	{name: "retry", wire: "retry:1\n" + data(adkEvent(hello)), public: passed, client: passed},
	{name: "unknown field", wire: "x-internal:" + canary + "\n" + data(adkEvent(hello)), public: passed, client: passed},
	{name: "end of the stream in a frame", wire: "data:" + strings.TrimSuffix(adkEvent(secret), "}"), public: "", client: ""},
	{name: "end of the stream in a name", wire: "data:" + adkEvent(secret) + "\nevent: inter", public: "", client: ""},
	{name: "end of the stream after a line", wire: data(adkEvent(hello)) + "event: internal:x\ndata:" + adkEvent(secret) + "\n", public: passed + ", " + internal, client: passed + ", " + internal},
	{name: "newline through the author", wire: data(`{"invocationId":"e-1","author":"a\n\nevent: internal:x\ndata: {}\n\n",` + hello + `}`), public: passed, client: passed},
	{name: "newline through a text", wire: data(adkEvent(adkParts(`{"text":"hello\r\n\r\nevent: internal:x\r\ndata: {}\r\n\r\n"}`))), public: passed, client: passed},
	{name: "newline through an artifact's name", wire: data(adkEvent(hello, `"actions":{"artifactDelta":{"a\n\ndata: {}\n\n":0}}`)), public: passed, client: passed},
	{name: "quotation in a text", wire: data(adkEvent(adkParts(`{"text":"hello {\"kind\":\"internal:x\"}"}`))), public: passed, client: passed}, // a text may quote anything
}

// adkPayload lists events with content besides their answer. The policy client passes all of it.
var adkPayload = []adkAttempt{
	{name: "unknown member", wire: data(adkEvent(hello, `"debug":{`+unheard+`}`)), public: passed, client: passed, why: "a member that the ADK may come to have"},
	{name: "kind in what is no envelope", wire: data(adkEvent(hello, `"debug":{"kind":"internal:x",`+unheard+`}`)), public: passed, client: passed, why: "frames are not looked for everywhere"},
	{name: "an external kind in an envelope", wire: data(adkEvent(hello, `"result":{"kind":"task",`+unheard+`}`)), public: passed, client: passed, why: "an agent of another protocol may be asked"},
	{name: "an external kind in Rust's envelope", wire: data(`{"ui_protocol":"adk","event":` + adkEvent(`"kind":"task"`, hello, unheard) + `}`), public: passed, client: passed, why: "in an envelope only what is called internal stays in"},
	{name: "beside the event in Rust's envelope", wire: data(`{"ui_protocol":"adk","event":` + adkEvent(hello) + `,` + unheard + `}`), public: passed, client: passed, why: "a member that the ADK may come to have"},
	{name: "kind in a tool's arguments", wire: data(adkEvent(adkParts(`{"text":"hello"}`, `{"functionCall":{"id":"c1","name":"f","args":{"kind":"internal:x",`+unheard+`}}}`))), public: passed, client: passed, why: "arguments are payload"},
	{name: "kind in a tool's answer", wire: data(adkEvent(adkParts(`{"text":"hello"}`, `{"functionResponse":{"id":"c1","name":"f","response":{"result":{"kind":"internal:x",`+unheard+`}}}}`))), public: passed, client: passed, why: "results are payload"},
	{name: "arguments of Rust", wire: data(adkEvent(adkParts(`{"text":"hello"}`, `{"id":"c1","name":"f","args":{`+unheard+`}}`))), public: passed, client: passed, why: "arguments are payload"},
	{name: "custom metadata in a string, nothing internal", wire: data(adkEvent(hello, `"customMetadata":{"a2a:response":{"metadata":{"adk_custom_metadata":"{\"x\": \"internal\"}"}},`+unheard+`}`)), public: passed, client: passed, why: "its client's own"},
	{name: "an entry of Java's custom metadata, nothing internal", wire: data(adkEvent(hello, `"customMetadata":[{"key":"x","stringValue":"internal","type":"y"}],`+unheard)), public: passed, client: passed, why: "its client's own"},
	{name: "custom metadata, nothing internal", wire: data(adkEvent(hello, `"customMetadata":{`+unheard+`}`)), public: passed, client: passed, why: "its client's own"},
	{name: "thought", wire: data(adkEvent(adkParts(`{"text":"hello"}`, `{"text":"`+canary+`","thought":true}`))), public: passed, client: passed, why: "thoughts are let out here"},
	{name: "thought, as a string says", wire: data(adkEvent(adkParts(`{"text":"hello"}`, `{"text":"`+canary+`","thought":"true"}`))), public: passed, client: passed, why: "thoughts are let out here"},
	{name: "thought, as a number says", wire: data(adkEvent(adkParts(`{"text":"hello"}`, `{"text":"`+canary+`","thought":1}`))), public: passed, client: passed, why: "thoughts are let out here"},
	{name: "thought, as a folded name says", wire: data(adkEvent(adkParts(`{"text":"hello"}`, `{"text":"`+canary+`","Thought":true}`))), public: passed, client: passed, why: "thoughts are let out here"},
	{name: "thought of Rust", wire: data(adkEvent(adkParts(`{"text":"hello"}`, `{"thinking":"`+canary+`","signature":"`+canary+`"}`))), public: passed, client: passed, why: "thoughts are let out here"},
	{name: "thought of Rust beside a text", wire: data(adkEvent(adkParts(`{"text":"hello"}`, `{"thinking":"`+canary+`","text":"`+canary+`"}`))), public: passed, client: passed, why: "thoughts are let out here"},
	{name: "signature of a thought", wire: data(adkEvent(adkParts(`{"text":"hello","thoughtSignature":"` + canary + `"}`))), public: passed, client: passed, why: "thoughts are let out here"},
	{name: "nothing but a thought", wire: data(adkEvent(adkParts(`{"text":"hello `+canary+`","thought":true}`), `"actions":{"stateDelta":{},"artifactDelta":{}}`)), public: empty, client: passed, why: "thoughts are let out here"},
	{name: "words of the user", wire: data(`{"invocationId":"e-1","author":"user",` + adkParts(`{"text":"hello `+canary+`"}`) + `}`), public: empty, client: passed, why: "its client's own"},
	{name: "words of the user, escaped", wire: data(`{"invocationId":"e-1","author":"\u0075ser",` + adkParts(`{"text":"hello `+canary+`"}`) + `}`), public: empty, client: passed, why: "its client's own"},
	{name: "words of the user, in Rust's envelope", wire: data(`{"ui_protocol":"adk","event":{"invocation_id":"e-1","author":"user",` + adkParts(`{"text":"hello `+canary+`"}`) + `}}`), public: empty, client: passed, why: "its client's own"},
	{name: "words beside a call", wire: data(adkEvent(adkParts(`{"functionCall":{"id":"hello","name":"f"},"text":"` + canary + `"}`))), public: passed, client: passed, why: "its client's own"},
	{name: "state", wire: data(adkEvent(hello, `"actions":{"stateDelta":{"temp:x":"`+canary+`"}}`)), public: passed, client: passed, why: "its client's own"},
	{name: "contents of an artifact", wire: data(adkEvent(hello, `"actions":{"artifactDelta":{"a.txt":"`+canary+`","b.txt":{"text":"`+canary+`"},"c.txt":["`+canary+`"],"d.txt":1}}`)), public: passed, client: passed, why: "its client's own"},
	{name: "payload of a confirmation", wire: data(adkEvent(hello, `"actions":{"requestedToolConfirmations":{"c1":{"hint":"Go on?","payload":{`+unheard+`}}}}`)), public: passed, client: passed, why: "its client's own"},
	{name: "secret of a credential", wire: data(adkEvent(hello, `"actions":{"requestedAuthConfigs":{"c1":{"rawAuthCredential":{"oauth2":{"clientSecret":"`+canary+`"}}}}}`)), public: passed, client: passed, why: "its client is asked for it"},
	{name: "words of an error", wire: data(adkEvent(hello, `"errorCode":"ValueError: `+canary+`"`, `"errorMessage":"`+canary+`"`)), public: passed, client: passed, why: "its client's own"},
	{name: "words of an error frame", wire: data(adkEvent(hello)) + "event:error\n" + data(`{"error":"`+canary+`","error_details":{"stacktrace":"`+canary+`"}}`), public: "passed, passed", client: "passed, passed", why: "its client's own"},
	{name: "words of an error that cannot be read", wire: data(adkEvent(hello)) + data(`{"error": "said "`+canary+`" and died"}`), public: "passed, unreadable", client: "passed, unreadable"},
	{name: "contents", wire: data(adkEvent(adkParts(`{"text":"hello"}`, `{"inlineData":{"data":"`+canary+`"}}`, `{"executableCode":{"code":"`+canary+`"}}`, `{"codeExecutionResult":{"output":"`+canary+`"}}`))), public: passed, client: passed, why: "its client's own"},
	{name: "a text that is none", wire: data(adkEvent(adkParts(`{"text":"hello"}`, `{"text":{`+unheard+`}}`, `{"text":["`+canary+`"]}`))), public: passed, client: passed, why: "its client's own"},
	{name: "scalars that are none", wire: data(adkEvent(hello, `"id":{`+unheard+`}`, `"timestamp":["`+canary+`"]`, `"actions":["`+canary+`"]`, `"longRunningToolIds":{`+unheard+`}`)), public: passed, client: passed, why: "its client's own"},
	{name: "parts that are none", wire: data(adkEvent(`"id":"hello"`, `"content":{"parts":{"text":"`+canary+`"}}`)), public: passed, client: passed, why: "its client's own"},
	{name: "an artifact called kind", wire: data(adkEvent(hello, `"actions":{"artifactDelta":{"kind":1,"internal:x":2}}`)), public: passed, client: passed},
	{name: "everything at once", wire: strings.Repeat(data(adkEvent(hello))+"event:internal:x\n"+data(adkEvent(secret)), 3), public: "passed, internal, passed, internal, passed, internal", client: "passed, internal, passed, internal, passed, internal"},
}
