"""Does the work of test/clients/work.ts by a client that openapi-generator made."""

import json
import sys

from openapi_client import (
    AccessTokenType,
    AddMachineUserRequest,
    AddUserGrantBody,
    ApiClient,
    ApiException,
    Configuration,
    Gender,
    IdentityProviderServiceApi,
    IDPStylingType,
    SearchQuery,
    SearchUsersRequest,
    SetEmailBody,
    Status,
    TextQueryMethod,
    UpdateIDPBody,
    UpdateMyProfileRequest,
    UserGrantServiceApi,
    UserNameQuery,
    UserServiceApi,
)

work = json.load(sys.stdin)


def client(operation):
    token = work["calls"][operation]["token"]
    return ApiClient(Configuration(work["url"], access_token=token, ssl_ca_cert=work["certificate"] or None))


def organization(operation):
    return {"x_service_orgid": work["calls"][operation]["organization"]}


def request(operation):
    return work["calls"][operation]["request"]


profile, idp, machine = request("UpdateMyProfile"), request("UpdateIDP"), request("AddMachineUser")
email, grant = request("SetEmail"), request("AddUserGrant")
named = UserNameQuery(user_name=machine["userName"], method=TextQueryMethod.TEXT_QUERY_METHOD_EQUALS)
answers = {
    "UpdateMyProfile": UserServiceApi(client("UpdateMyProfile")).update_my_profile(
        UpdateMyProfileRequest(
            first_name=profile["firstName"],
            last_name=profile["lastName"],
            display_name=profile["displayName"],
            gender=Gender(profile["gender"]),
        ),
        **organization("UpdateMyProfile"),
    ),
    "UpdateIDP": IdentityProviderServiceApi(client("UpdateIDP")).update_idp(
        idp["idpId"],
        UpdateIDPBody(
            name=idp["name"],
            styling_type=IDPStylingType(idp["stylingType"]),
            auto_register=idp["autoRegister"],
        ),
        **organization("UpdateIDP"),
    ),
    "AddMachineUser": UserServiceApi(client("AddMachineUser")).add_machine_user(
        AddMachineUserRequest(
            user_name=machine["userName"],
            name=machine["name"],
            access_token_type=AccessTokenType(machine["accessTokenType"]),
        ),
        **organization("AddMachineUser"),
    ),
    "SetEmail": UserServiceApi(client("SetEmail")).set_email(
        email["userId"], SetEmailBody(email=email["email"], return_code={}), **organization("SetEmail")
    ),
    "AddUserGrant": UserGrantServiceApi(client("AddUserGrant")).add_user_grant(
        grant["userId"],
        AddUserGrantBody(project_id=grant["projectId"], role_keys=grant["roleKeys"]),
        **organization("AddUserGrant"),
    ),
    "SearchUsers": UserServiceApi(client("SearchUsers")).search_users(
        search_users_request=SearchUsersRequest(queries=[SearchQuery(user_name_query=named)], with_total=True),
        **organization("SearchUsers"),
    ),
}
try:
    UserServiceApi(client("SetEmail")).set_email(
        email["userId"], SetEmailBody(email="a..b@example.com"), **organization("SetEmail")
    )
except ApiException as refused:
    status = Status.from_json(refused.body)
error = {"code": status.code, "message": status.message}
for detail in status.details:
    if detail.reason is not None:
        error["reason"] = detail.reason
    for violation in detail.field_violations or []:
        error["field"] = violation.var_field
# Its own to_json fails for an answer with a time.
canonical = {"mode": "json", "by_alias": True, "exclude_none": True}
print(json.dumps({"answers": {name: answer.model_dump(**canonical) for name, answer in answers.items()}, "error": error}))
