"""Checks streams that were written by hand against the types of OpenAI's own client: python validate.py FILE…"""

import json
import sys
import typing

from openai.types.responses import ResponseStreamEvent
from pydantic import ValidationError

MODELS = {typing.get_args(model.model_fields["type"].annotation)[0]: model for model in typing.get_args(typing.get_args(ResponseStreamEvent)[0])}


def unknown(value, path):
    """Returns the members that the types lack, which the client reads without an error."""
    found = [f"{path}.{name}: unknown" for name in (getattr(value, "model_extra", None) or {})]
    for name in getattr(type(value), "model_fields", {}):
        found += unknown(getattr(value, name), f"{path}.{name}")
    for element in value if isinstance(value, list) else []:
        found += unknown(element, path)
    return found


def check(data):
    model = MODELS.get(json.loads(data).get("type"))
    if model is None:
        return ["no event has this type"]
    try:
        return [fault for fault in unknown(model.model_validate_json(data, strict=True), "") if fault != ".obfuscation: unknown"]  # the API pads events with it
    except ValidationError as fault:
        errors = fault.errors()
        other = [one["loc"][:-1] for one in errors if one["type"] == "literal_error" and one["loc"][-1] == "type"]  # of a union
        return [f"{one['loc']}: {one['msg']}" for one in errors if not any(one["loc"][: len(loc)] == loc for loc in other)] or ["no item has this type"]


wrong = 0
for file in sys.argv[1:]:
    for number, line in enumerate(open(file, encoding="utf-8"), 1):
        if line.startswith("data: ") and line.strip() != "data: [DONE]":
            for fault in check(line.removeprefix("data: ")):
                wrong += 1
                print(f"{file}:{number}: {fault}")
sys.exit(wrong > 0)
