#!/usr/bin/env bash
# Prints the frames of a stream, and continues after the last one if the connection breaks.
#
#   DELEGRAPH_TOKEN=TOKEN ./reader.sh http://127.0.0.1:10478/events
last=
while true; do
  frame=()
  while IFS= read -r line; do
    line=${line%$'\r'}
    case $line in
    '') # the end of a frame; what a broken connection cuts is dropped
      for field in "${frame[@]}"; do
        if [[ $field == id:* ]]; then last=${field#id:} last=${last# }; fi
      done
      if ((${#frame[@]})); then printf '%s\n' "${frame[@]}" ''; fi
      frame=()
      ;;
    :*) ;; # a heartbeat
    *) frame+=("$line") ;;
    esac
  done < <(curl -sSN --location --fail-with-body --config - --header "Last-Event-ID: $last" "$1" \
    <<<"${DELEGRAPH_TOKEN:+header = \"Authorization: Bearer $DELEGRAPH_TOKEN\"}") # arguments would be visible to other users
  sleep 1
done
