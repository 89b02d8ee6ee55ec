"""Calls Roster with grpcio: reads what to do from the standard input, and prints what it did."""

import json
import sys
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parent / "gen"))

import grpc
from google.protobuf import json_format
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from roster.grants.v1 import user_grant_service_pb2 as grants, user_grant_service_pb2_grpc as grants_grpc
from roster.idp.v1 import identity_provider_service_pb2 as idps, identity_provider_service_pb2_grpc as idps_grpc
from roster.users.v1 import user_search_pb2 as user_search
from roster.users.v1 import user_service_pb2 as users, user_service_pb2_grpc as users_grpc

work = json.load(sys.stdin)
address = urlsplit(work["url"]).netloc
if work["certificate"]:
    trusted = grpc.ssl_channel_credentials(Path(work["certificate"]).read_bytes())
    channel = grpc.secure_channel(address, trusted)
else:
    channel = grpc.insecure_channel(address)

user_service = users_grpc.UserServiceStub(channel)
operations = {
    "UpdateMyProfile": (user_service.UpdateMyProfile, users.UpdateMyProfileRequest),
    "UpdateIDP": (idps_grpc.IdentityProviderServiceStub(channel).UpdateIDP, idps.UpdateIDPRequest),
    "AddMachineUser": (user_service.AddMachineUser, users.AddMachineUserRequest),
    "SetEmail": (user_service.SetEmail, users.SetEmailRequest),
    "AddUserGrant": (grants_grpc.UserGrantServiceStub(channel).AddUserGrant, grants.AddUserGrantRequest),
    "SearchUsers": (user_service.SearchUsers, user_search.SearchUsersRequest),
}


def call(name, token, organization, request):
    method, message = operations[name]
    metadata = [("authorization", f"Bearer {token}"), ("x-service-orgid", organization)]
    return method(json_format.ParseDict(request, message()), metadata=metadata)


def read_error(error):
    status = rpc_status.from_call(error)
    info, bad_request = error_details_pb2.ErrorInfo(), error_details_pb2.BadRequest()
    for detail in status.details:
        detail.Unpack(info) or detail.Unpack(bad_request)
    field = bad_request.field_violations[0].field
    return {"code": status.code, "message": status.message, "reason": info.reason, "field": field}


answers = {
    name: json_format.MessageToDict(call(name, **parameters)) for name, parameters in work["calls"].items()
}
try:
    call("SetEmail", **{**work["calls"]["SetEmail"], "request": {"userId": "unknown"}})
except grpc.RpcError as error:
    json.dump({"answers": answers, "error": read_error(error)}, sys.stdout)
