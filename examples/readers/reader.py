"""Prints each frame of a stream as JSON, and continues after the last one if the connection breaks.

    DELEGRAPH_TOKEN=TOKEN python3 reader.py http://127.0.0.1:10478/events
"""
import http.client, json, os, sys, time, urllib.error, urllib.request


def frames(response):
    frame = {}
    for line in response:
        line = line.decode().rstrip("\r\n")
        name, _, value = line.partition(":")
        if line == "":  # the end of a frame; what a broken connection cuts is dropped
            yield frame
            frame = {}
        elif name in ("id", "event", "data"):
            value = value.removeprefix(" ")
            frame[name] = frame[name] + "\n" + value if name == "data" and name in frame else value


headers, last = {}, ""
if token := os.environ.get("DELEGRAPH_TOKEN"):
    headers["Authorization"] = "Bearer " + token
while True:
    try:
        request = urllib.request.Request(sys.argv[1], headers=headers | ({"Last-Event-ID": last} if last else {}))
        with urllib.request.urlopen(request, timeout=60) as response:  # a heartbeat comes every 15 s
            for frame in frames(response):
                last = frame.get("id", last)  # also of a frame without data
                if "data" in frame:
                    print(json.dumps(frame), flush=True)
    except (OSError, http.client.HTTPException) as error:
        if isinstance(error, urllib.error.HTTPError) and error.code in (400, 401, 403, 404, 421):
            sys.exit(f"{error}: {error.read(500).decode()}")
        print(error, file=sys.stderr)
    time.sleep(1)
