"""Says what info.description says in words: null counts as left out, as canonical JSON has it."""

import schemathesis


@schemathesis.hook
def before_load_schema(context, schema):
    for message in schema["components"]["schemas"].values():
        if message.get("additionalProperties") is not False:
            continue
        for name, value in message.get("properties", {}).items():
            if name not in message.get("required", []):
                message["properties"][name] = {"anyOf": [value, {"type": "null"}]}
