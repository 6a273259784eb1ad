"""A client of an application with OpenAI's Agents SDK asks at the given URL and prints the events, without what differs by chance."""

import json
import re
import sys
import urllib.request

SAID = ["Hello there.", 'call weather {"city":"Rome"} & call weather {"city":"Oslo"}\nBoth are sunny.', 'call broken {"reason":"rain"}\nIt did not work.',
        'call weather {"city":"Rome"}\ncall transfer_to_expert\nThe expert speaks.', "think aloud", 'call weather {"city":"Rome"}\nfail', "spoil"]

for text in SAID:
    for shape in ({}, {"named": True}, {"whole": True, "wrapped": True}):
        asked = urllib.request.Request(sys.argv[1].rstrip("/") + "/chat", json.dumps({"input": text} | shape).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(asked) as answer:
            for line in answer:
                print(re.sub(r'(call_[a-z_]+_\d+)_\d+|("created_at": )[\d.]+', r"\1\2", line.decode().rstrip("\n")))
