"""AWS's own model and client, for tests: reads one JSON object a line, answers one a line.

sample   {"action"}                  -> {"params", "body"}: every member that the model has, as botocore encodes it
decode   {"action", "status", "xml"} -> what botocore makes of an answer
outputs  {"action"}                  -> {"output"}: every member that an answer can have
call     {"action", "params", "endpoint", "region", "key", "secret"} -> the parsed answer, or the error
presign  the same and "expires"      -> {"url"} for GET
"""

import base64
import datetime
import json
import sys

import botocore.awsrequest
import botocore.parsers
import botocore.serialize
import botocore.session
from botocore.config import Config
from botocore.exceptions import ClientError

SESSION = botocore.session.get_session()
MODEL = SESSION.get_service_model("ec2")
WHEN = datetime.datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=datetime.timezone.utc)


def sample(shape, path=()):
    """A value for every member; recursion ends where a structure would hold itself."""
    kind = shape.type_name
    if kind == "structure":
        if shape.name in path:
            return None
        members = {n: sample(s, path + (shape.name,)) for n, s in shape.members.items()}
        return {n: v for n, v in members.items() if v is not None}
    if kind == "list":
        one = sample(shape.member, path)
        return None if one is None else [one, one]
    return {
        "string": f"{shape.name} & <x> é",
        "boolean": True,
        "integer": 7,
        "long": 8,
        "double": 1.5,
        "float": 1.5,
        "timestamp": WHEN,
        "blob": b"bytes",
    }[kind]


def client(ask):
    return SESSION.create_client(
        "ec2",
        region_name=ask["region"],
        endpoint_url=ask["endpoint"],
        aws_access_key_id=ask["key"],
        aws_secret_access_key=ask["secret"],
        config=Config(retries={"total_max_attempts": 1}),
    )


def method(action):
    return botocore.xform_name(action)


def do_sample(ask):
    operation = MODEL.operation_model(ask["action"])
    params = sample(operation.input_shape)
    serializer = botocore.serialize.create_serializer("ec2", include_validation=False)
    body = serializer.serialize_to_request(params, operation)["body"]
    request = botocore.awsrequest.AWSRequest(method="POST", url="http://x", data=body).prepare()
    return {"params": params, "body": request.body.decode() if isinstance(request.body, bytes) else request.body}


def do_outputs(ask):
    shape = MODEL.operation_model(ask["action"]).output_shape
    return {"output": sample(shape) if shape else None}


def do_decode(ask):
    shape = MODEL.operation_model(ask["action"]).output_shape
    response = {"status_code": ask["status"], "headers": {}, "body": ask["xml"].encode()}
    return botocore.parsers.create_parser("ec2").parse(response, shape)


def do_call(ask):
    try:
        return {"answer": getattr(client(ask), method(ask["action"]))(**ask["params"])}
    except ClientError as error:
        return {"error": error.response}


def do_presign(ask):
    return {
        "url": client(ask).generate_presigned_url(
            method(ask["action"]), Params=ask["params"], ExpiresIn=ask["expires"], HttpMethod="GET"
        )
    }


def plain(value):
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(type(value))


DO = {"sample": do_sample, "outputs": do_outputs, "decode": do_decode, "call": do_call, "presign": do_presign}

for line in sys.stdin:
    ask = json.loads(line)
    print(json.dumps(DO[ask["do"]](ask), default=plain), flush=True)
