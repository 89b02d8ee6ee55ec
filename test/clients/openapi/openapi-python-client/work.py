"""Does the work of test/clients/work.ts by a client that openapi-python-client made."""

import json
import sys

from client import AuthenticatedClient
from client.api.identity_provider_service import update_idp
from client.api.user_grant_service import add_user_grant
from client.api.user_service import add_machine_user, search_users, set_email, update_my_profile
from client.models import (
    AccessTokenType,
    AddMachineUserRequest,
    AddUserGrantBody,
    Gender,
    IDPStylingType,
    ReturnEmailVerificationCode,
    SearchQuery,
    SearchUsersRequest,
    SetEmailBody,
    TextQueryMethod,
    UpdateIDPBody,
    UpdateMyProfileRequest,
    UserNameQuery,
)
from client.types import Unset

work = json.load(sys.stdin)


def call(operation, module, *path, body):
    token, organization = (work["calls"][operation][key] for key in ("token", "organization"))
    client = AuthenticatedClient(work["url"], token, verify_ssl=work["certificate"] or True)
    return module.sync(*path, client=client, body=body, x_service_orgid=organization)


def request(operation):
    return work["calls"][operation]["request"]


profile, idp, machine = request("UpdateMyProfile"), request("UpdateIDP"), request("AddMachineUser")
email, grant = request("SetEmail"), request("AddUserGrant")
named = UserNameQuery(user_name=machine["userName"], method=TextQueryMethod.TEXT_QUERY_METHOD_EQUALS)
answers = {
    "UpdateMyProfile": call(
        "UpdateMyProfile",
        update_my_profile,
        body=UpdateMyProfileRequest(
            first_name=profile["firstName"],
            last_name=profile["lastName"],
            display_name=profile["displayName"],
            gender=Gender(profile["gender"]),
        ),
    ),
    "UpdateIDP": call(
        "UpdateIDP",
        update_idp,
        idp["idpId"],
        body=UpdateIDPBody(
            name=idp["name"],
            styling_type=IDPStylingType(idp["stylingType"]),
            auto_register=idp["autoRegister"],
        ),
    ),
    "AddMachineUser": call(
        "AddMachineUser",
        add_machine_user,
        body=AddMachineUserRequest(
            user_name=machine["userName"],
            name=machine["name"],
            access_token_type=AccessTokenType(machine["accessTokenType"]),
        ),
    ),
    "SetEmail": call(
        "SetEmail",
        set_email,
        email["userId"],
        body=SetEmailBody(email=email["email"], return_code=ReturnEmailVerificationCode()),
    ),
    "AddUserGrant": call(
        "AddUserGrant",
        add_user_grant,
        grant["userId"],
        body=AddUserGrantBody(project_id=grant["projectId"], role_keys=grant["roleKeys"]),
    ),
    "SearchUsers": call(
        "SearchUsers",
        search_users,
        body=SearchUsersRequest(queries=[SearchQuery(user_name_query=named)], with_total=True),
    ),
}
status = call("SetEmail", set_email, email["userId"], body=SetEmailBody(email="a..b@example.com"))
error = {"code": status.code, "message": status.message}
for detail in status.details:
    if not isinstance(detail.reason, Unset):
        error["reason"] = detail.reason
    for violation in detail.field_violations or []:
        error["field"] = violation.field
print(json.dumps({"answers": {name: answer.to_dict() for name, answer in answers.items()}, "error": error}))
