"""A client that reads what it needs from the OpenAPI document: it makes each request of what the operation
declares, and validates the answer against the schema of its status. Calls come as JSON lines on the input. Of a
document in a file it also tells which attributes could be misspelt without the schema noticing."""
import json
import sys
import urllib.error
import urllib.parse
import urllib.request

import jsonschema

base, token, *path_of_document = sys.argv[1:]


def fetch(method, url, body=None):
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/problem+json, application/json"}
    if body is not None:
        headers["Content-Type"] = "application/json"
        body = json.dumps(body).encode()
    request = urllib.request.Request(url, body, headers, method=method.upper())
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.headers.get_content_type(), json.load(answer)
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.headers.get_content_type(), json.load(refusal)


if path_of_document:
    with open(path_of_document[0], encoding="utf-8") as file:
        document = json.load(file)
else:
    _, _, document = fetch("get", f"{base}/openapi-doc")
schemas = jsonschema.Draft202012Validator
resolver = jsonschema.RefResolver("", document)
operations = {
    operation["operationId"]: (path, method, operation)
    for path, methods in document["paths"].items()
    for method, operation in methods.items()
}


def resolved(value):
    return resolver.resolve(value["$ref"])[1] if "$ref" in value else value


def call(name, values, body):
    path, method, operation = operations[name]
    query = {}
    for declared in map(resolved, operation.get("parameters", [])):
        value = values.pop(declared["name"], None)
        if value is None:
            assert not declared.get("required"), declared["name"]
        elif declared["in"] == "path":
            path = path.replace("{%s}" % declared["name"], urllib.parse.quote(value))
        else:
            query[declared["name"]] = value
    assert not values, f"{name} takes no {', '.join(values)}"
    url = f"{base}{path}?{urllib.parse.urlencode(query)}"
    status, media_type, answer = fetch(method, url, body)
    responses = operation["responses"]
    told = resolved(responses.get(str(status), responses["default"]))
    schema = told["content"][media_type]["schema"]
    validator = schemas(schema, resolver=resolver)
    errors = [error.message for error in validator.iter_errors(answer)]
    nulls = len(list(validator.iter_errors(nothing(answer))))
    unnoticed = list(misspellings(validator, short(answer))) if path_of_document and not errors else []
    return {
        "status": status,
        "answer": answer,
        "errors": errors,
        "errorsOfNulls": nulls,
        "unnoticed": unnoticed,
    }


def short(value):
    """The first element of a list stands for all."""
    if isinstance(value, list):
        return [short(one) for one in value[:1]]
    return {name: short(one) for name, one in value.items()} if isinstance(value, dict) else value


def misspellings(validator, answer):
    """Names of members that may be called otherwise."""
    assert validator.is_valid(answer), answer
    for holder in holders(answer):
        for name in list(holder):
            value = holder.pop(name)
            holder[name + "x"] = value
            if validator.is_valid(answer):
                yield name
            del holder[name + "x"]
            if validator.is_valid(answer):
                yield name
            holder[name] = value


def holders(value):
    if isinstance(value, list):
        yield from holders(value[0]) if value else ()
    elif isinstance(value, dict):
        yield value
        for one in list(value.values()):
            yield from holders(one)


def nothing(value):
    """A schema that takes this instead of the answer says little."""
    if isinstance(value, list):
        return [nothing(one) for one in value]
    return dict.fromkeys(value) if isinstance(value, dict) else None


for schema in document["components"]["schemas"].values():
    schemas.check_schema(schema)
for line in sys.stdin:
    print(json.dumps(call(*json.loads(line))))
