"""Calls with Debian's python3-grpcio. Reads {"address", "descriptors", "calls": [{"path", "input", "output", "request", "metadata"}]}
from standard input and writes one {"ok"} or {"code", "message", "details"} for each call."""

import base64
import json
import sys

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

task = json.load(sys.stdin)
pool = descriptor_pool.DescriptorPool()
files = descriptor_pb2.FileDescriptorSet()
with open(task["descriptors"], "rb") as source:
    files.ParseFromString(source.read())
for file in files.file:
    pool.Add(file)


def message_class(name):
    descriptor = pool.FindMessageTypeByName(name)
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(pool).GetPrototype(descriptor)


answers = []
with grpc.insecure_channel(task["address"]) as channel:
    for call in task["calls"]:
        method = channel.unary_unary(
            call["path"],
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=message_class(call["output"]).FromString,
        )
        request = json_format.ParseDict(call["request"], message_class(call["input"])())
        try:
            response = method(request, metadata=list(call["metadata"].items()), timeout=30)
            answers.append({"ok": json_format.MessageToDict(response)})
        except grpc.RpcError as error:
            trailers = dict(error.trailing_metadata())
            details = base64.b64encode(trailers.get("grpc-status-details-bin", b"")).decode()
            answers.append({"code": error.code().value[0], "message": error.details(), "details": details})
json.dump(answers, sys.stdout)
