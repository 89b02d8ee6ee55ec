import { type DescEnum, type DescMessage, type DescMethod, ScalarType } from '@bufbuild/protobuf'
import { describe, expect, test } from 'vitest'
import { methods } from './methods.ts'
import { registry } from '../registry.ts'

// Contract, sections 1 and 4: method, HTTP route, allowed callers.
const operations: Record<string, [http: string, who: string]> = {
  'roster.users.v1.UserService/UpdateMyProfile': ['PUT /auth/v1/users/me/profile', 'authenticated'],
  'roster.idp.v1.IdentityProviderService/UpdateIDP': ['PUT /admin/v1/idps/{idp_id}', 'iam.idp.write on the instance'],
  'roster.users.v1.UserService/AddMachineUser': ['POST /management/v1/users/machine', 'user.write'],
  'roster.users.v1.UserService/SetEmail': ['POST /v2/users/{user_id}/email', 'self, or user.write of user_id'],
  'roster.grants.v1.UserGrantService/AddUserGrant': ['POST /management/v1/users/{user_id}/grants', 'user.grant.write'],
  'roster.users.v1.UserService/AddHumanUser': ['POST /v2/users/human', 'user.write'],
  'roster.users.v1.UserService/GetUser': ['GET /v2/users/{user_id}', 'self, or user.read of user_id'],
  'roster.users.v1.UserService/VerifyEmail': ['POST /v2/users/{user_id}/email/verify', 'public'],
  'roster.users.v1.UserService/ResendEmailCode': [
    'POST /v2/users/{user_id}/email/resend',
    'self, or user.write of user_id',
  ],
  'roster.users.v1.UserService/DeactivateUser': ['POST /v2/users/{user_id}/deactivate', 'user.write of user_id'],
  'roster.users.v1.UserService/ReactivateUser': ['POST /v2/users/{user_id}/reactivate', 'user.write of user_id'],
  'roster.users.v1.UserService/LockUser': ['POST /v2/users/{user_id}/lock', 'user.write of user_id'],
  'roster.users.v1.UserService/UnlockUser': ['POST /v2/users/{user_id}/unlock', 'user.write of user_id'],
  'roster.users.v1.UserService/DeleteUser': ['DELETE /v2/users/{user_id}', 'user.delete of user_id'],
  'roster.users.v1.SessionService/CreateSession': ['POST /v2/sessions', 'public'],
  'roster.users.v1.SessionService/DeleteSession': [
    'DELETE /v2/sessions/{session_id}',
    'self, or session.delete of session_id',
  ],
  'roster.users.v1.CredentialService/AddPersonalAccessToken': [
    'POST /management/v1/users/{user_id}/pats',
    'self, or user.credential.write of user_id',
  ],
  'roster.users.v1.CredentialService/ListPersonalAccessTokens': [
    'GET /management/v1/users/{user_id}/pats',
    'self, or user.credential.read of user_id',
  ],
  'roster.users.v1.CredentialService/RemovePersonalAccessToken': [
    'DELETE /management/v1/users/{user_id}/pats/{token_id}',
    'self, or user.credential.write of user_id',
  ],
  'roster.users.v1.CredentialService/AddMachineKey': [
    'POST /management/v1/users/{user_id}/keys',
    'self, or user.credential.write of user_id',
  ],
  'roster.users.v1.CredentialService/ListMachineKeys': [
    'GET /management/v1/users/{user_id}/keys',
    'self, or user.credential.read of user_id',
  ],
  'roster.users.v1.CredentialService/RemoveMachineKey': [
    'DELETE /management/v1/users/{user_id}/keys/{key_id}',
    'self, or user.credential.write of user_id',
  ],
  'roster.users.v1.CredentialService/AddMachineSecret': [
    'POST /management/v1/users/{user_id}/secret',
    'self, or user.credential.write of user_id',
  ],
  'roster.users.v1.CredentialService/ListMachineSecrets': [
    'GET /management/v1/users/{user_id}/secret',
    'self, or user.credential.read of user_id',
  ],
  'roster.users.v1.CredentialService/RemoveMachineSecret': [
    'DELETE /management/v1/users/{user_id}/secret/{secret_id}',
    'self, or user.credential.write of user_id',
  ],
  'roster.users.v1.OAuthService/IssueToken': ['POST /oauth/v2/token', 'public'],
  'roster.users.v1.OAuthService/IntrospectToken': ['POST /oauth/v2/introspect', 'public'],
  'roster.users.v1.OAuthService/RevokeToken': ['POST /oauth/v2/revoke', 'public'],
  'roster.users.v1.OAuthService/ListSigningKeys': ['GET /oauth/v2/keys', 'public'],
  'roster.users.v1.OAuthService/GetServerMetadata': ['GET /.well-known/oauth-authorization-server', 'public'],
  'roster.users.v1.OAuthService/GetUserInfo': ['GET /oidc/v1/userinfo', 'authenticated'],
  'roster.users.v1.OAuthService/SetDPoP': [
    'PUT /management/v1/users/{user_id}/dpop',
    'user.credential.write of user_id',
  ],
  'roster.grants.v1.OrganizationService/AddOrganization': ['POST /management/v1/orgs', 'org.create on the instance'],
  'roster.grants.v1.OrganizationService/GetMyOrganization': ['GET /management/v1/orgs/me', 'org.read'],
  'roster.grants.v1.OrganizationService/AddOrganizationMember': [
    'POST /management/v1/orgs/me/members',
    'org.member.write',
  ],
  'roster.grants.v1.ProjectService/AddProject': ['POST /management/v1/projects', 'project.write'],
  'roster.grants.v1.ProjectService/AddProjectRole': [
    'POST /management/v1/projects/{project_id}/roles',
    'project.role.write',
  ],
  'roster.grants.v1.ProjectService/AddProjectGrant': [
    'POST /management/v1/projects/{project_id}/grants',
    'project.grant.write',
  ],
  'roster.grants.v1.UserGrantService/GetUserGrant': [
    'GET /management/v1/users/{user_id}/grants/{grant_id}',
    'user.grant.read',
  ],
  'roster.idp.v1.IdentityProviderService/AddOIDCIDP': ['POST /admin/v1/idps/oidc', 'iam.idp.write on the instance'],
  'roster.idp.v1.IdentityProviderService/GetIDP': ['GET /admin/v1/idps/{idp_id}', 'iam.idp.read on the instance'],
  'roster.notifier.v1.EventService/SearchEvents': ['POST /admin/v1/events/_search', 'iam.event.read on the instance'],
  'roster.notifier.v1.EventService/SearchOrganizationEvents': ['POST /management/v1/events/_search', 'event.read'],
  'roster.notifier.v1.EventService/WatchEvents': ['stream', 'iam.event.read on the instance'],
  'roster.notifier.v1.EventService/WatchOrganizationEvents': ['stream', 'event.read'],
  'roster.notifier.v1.WebhookService/AddWebhook': ['POST /management/v1/webhooks', 'webhook.write'],
  'roster.notifier.v1.WebhookService/UpdateWebhook': ['PUT /management/v1/webhooks/{webhook_id}', 'webhook.write'],
  'roster.notifier.v1.WebhookService/RemoveWebhook': ['DELETE /management/v1/webhooks/{webhook_id}', 'webhook.write'],
  'roster.notifier.v1.WebhookService/GetWebhook': ['GET /management/v1/webhooks/{webhook_id}', 'webhook.read'],
  'roster.notifier.v1.WebhookService/ListWebhooks': ['GET /management/v1/webhooks', 'webhook.read'],
  'roster.notifier.v1.WebhookService/DeactivateWebhook': [
    'POST /management/v1/webhooks/{webhook_id}/_deactivate',
    'webhook.write',
  ],
  'roster.notifier.v1.WebhookService/ReactivateWebhook': [
    'POST /management/v1/webhooks/{webhook_id}/_reactivate',
    'webhook.write',
  ],
  'roster.notifier.v1.WebhookService/RotateWebhookSecret': [
    'POST /management/v1/webhooks/{webhook_id}/secret/_rotate',
    'webhook.write',
  ],
  'roster.notifier.v1.DeliveryService/SearchDeliveries': ['POST /management/v1/deliveries/_search', 'delivery.read'],
  'roster.notifier.v1.DeliveryService/GetDelivery': ['GET /management/v1/deliveries/{delivery_id}', 'delivery.read'],
  'roster.notifier.v1.DeliveryService/ReplayDelivery': [
    'POST /management/v1/deliveries/{delivery_id}/replay',
    'webhook.write',
  ],
  'roster.notifier.v1.DeliveryService/ReplayFailedDeliveries': [
    'POST /management/v1/webhooks/{webhook_id}/deliveries/replay',
    'webhook.write',
  ],
}

// Fields in the order of their numbers, from 1. "?" = presence is known, "*" = repeated, "|" = member of the oneof.
const messages: Record<string, string> = {
  'users.v1.UpdateMyProfileRequest': 'first_name last_name nick_name? display_name preferred_language gender:Gender',
  'users.v1.UpdateMyProfileResponse': 'details:ObjectDetails',
  'idp.v1.UpdateIDPRequest': 'idp_id name styling_type:IDPStylingType auto_register:bool',
  'idp.v1.UpdateIDPResponse': 'details:ObjectDetails',
  'users.v1.AddMachineUserRequest': 'user_name name description access_token_type:AccessTokenType user_id?',
  'users.v1.AddMachineUserResponse': 'user_id details:ObjectDetails',
  'users.v1.SetEmailRequest':
    'user_id email |send_code:SendEmailVerificationCode |return_code:ReturnEmailVerificationCode |is_verified:bool',
  'users.v1.SetEmailResponse': 'details:ObjectDetails verification_code?',
  'users.v1.SendEmailVerificationCode': 'url_template?',
  'users.v1.ReturnEmailVerificationCode': '',
  'grants.v1.AddUserGrantRequest': 'user_id project_id project_grant_id role_keys*',
  'grants.v1.AddUserGrantResponse': 'user_grant_id details:ObjectDetails',
  'object.v1.ObjectDetails': 'sequence:uint64 creation_date:Timestamp change_date:Timestamp resource_owner',
  'users.v1.AddHumanUserRequest': 'user_id? user_name profile:Profile email:SetHumanEmail password?',
  'users.v1.AddHumanUserResponse': 'user_id details:ObjectDetails email_code?',
  'users.v1.Profile': 'first_name last_name nick_name? display_name? preferred_language gender:Gender',
  'users.v1.SetHumanEmail':
    'email |send_code:SendEmailVerificationCode |return_code:ReturnEmailVerificationCode |is_verified:bool',
  'users.v1.GetUserRequest': 'user_id',
  'users.v1.GetUserResponse': 'user:User',
  'users.v1.User':
    'user_id details:ObjectDetails state:UserState user_name organization_id |human:Human |machine:Machine',
  'users.v1.Human': 'profile:Profile email:HumanEmail',
  'users.v1.HumanEmail': 'email is_verified:bool',
  'users.v1.Machine': 'name description access_token_type:AccessTokenType dpop_required:bool',
  'users.v1.VerifyEmailRequest': 'user_id verification_code',
  'users.v1.VerifyEmailResponse': 'details:ObjectDetails',
  'users.v1.ResendEmailCodeRequest':
    'user_id |send_code:SendEmailVerificationCode |return_code:ReturnEmailVerificationCode',
  'users.v1.ResendEmailCodeResponse': 'details:ObjectDetails verification_code?',
  'users.v1.DeactivateUserRequest': 'user_id',
  'users.v1.DeactivateUserResponse': 'details:ObjectDetails',
  'users.v1.ReactivateUserRequest': 'user_id',
  'users.v1.ReactivateUserResponse': 'details:ObjectDetails',
  'users.v1.LockUserRequest': 'user_id',
  'users.v1.LockUserResponse': 'details:ObjectDetails',
  'users.v1.UnlockUserRequest': 'user_id',
  'users.v1.UnlockUserResponse': 'details:ObjectDetails',
  'users.v1.DeleteUserRequest': 'user_id',
  'users.v1.DeleteUserResponse': 'details:ObjectDetails',
  'users.v1.CreateSessionRequest': 'login_name password',
  'users.v1.CreateSessionResponse': 'session_id session_token expiration_date:Timestamp details:ObjectDetails',
  'users.v1.DeleteSessionRequest': 'session_id',
  'users.v1.DeleteSessionResponse': 'details:ObjectDetails',
  'users.v1.AddPersonalAccessTokenRequest': 'user_id expiration_date:Timestamp',
  'users.v1.AddPersonalAccessTokenResponse': 'token_id token details:ObjectDetails',
  'users.v1.ListPersonalAccessTokensRequest': 'user_id',
  'users.v1.ListPersonalAccessTokensResponse': 'details:ObjectDetails tokens*:PersonalAccessToken',
  'users.v1.PersonalAccessToken': 'token_id creation_date:Timestamp expiration_date:Timestamp',
  'users.v1.RemovePersonalAccessTokenRequest': 'user_id token_id',
  'users.v1.RemovePersonalAccessTokenResponse': 'details:ObjectDetails',
  'users.v1.AddMachineKeyRequest': 'user_id type:KeyType expiration_date:Timestamp public_key? algorithm:KeyAlgorithm',
  'users.v1.AddMachineKeyResponse': 'key_id key_details details:ObjectDetails',
  'users.v1.ListMachineKeysRequest': 'user_id',
  'users.v1.ListMachineKeysResponse': 'details:ObjectDetails keys*:MachineKey',
  'users.v1.MachineKey': 'key_id algorithm:KeyAlgorithm creation_date:Timestamp expiration_date:Timestamp public_key',
  'users.v1.RemoveMachineKeyRequest': 'user_id key_id',
  'users.v1.RemoveMachineKeyResponse': 'details:ObjectDetails',
  'users.v1.AddMachineSecretRequest': 'user_id expiration_date:Timestamp',
  'users.v1.AddMachineSecretResponse': 'client_id client_secret details:ObjectDetails secret_id',
  'users.v1.ListMachineSecretsRequest': 'user_id',
  'users.v1.ListMachineSecretsResponse': 'details:ObjectDetails secrets*:MachineSecret',
  'users.v1.MachineSecret': 'secret_id creation_date:Timestamp expiration_date:Timestamp',
  'users.v1.RemoveMachineSecretRequest': 'user_id secret_id',
  'users.v1.RemoveMachineSecretResponse': 'details:ObjectDetails',
  'users.v1.SigningKey': 'kty use alg kid crv? x? y? n? e?',
  'users.v1.IssueTokenRequest':
    'grant_type scope client_id client_secret client_assertion_type client_assertion assertion dpop_proof',
  'users.v1.IssueTokenResponse': 'access_token token_type expires_in scope?',
  'users.v1.IntrospectTokenRequest':
    'token token_type_hint client_id client_secret client_assertion_type client_assertion',
  'users.v1.IntrospectTokenResponse':
    'active?:bool scope? client_id? username? token_type? exp? iat? sub? aud* iss? jti? organization? roles* project_roles*:OrganizationRoles organization_roles*:OrganizationRoles cnf?:Confirmation',
  'users.v1.OrganizationRoles': 'organization roles*',
  'users.v1.Confirmation': 'jkt',
  'users.v1.RevokeTokenRequest': 'token token_type_hint client_id client_secret client_assertion_type client_assertion',
  'users.v1.RevokeTokenResponse': '',
  'users.v1.ListSigningKeysRequest': '',
  'users.v1.ListSigningKeysResponse': 'keys*:SigningKey',
  'users.v1.GetServerMetadataRequest': '',
  'users.v1.GetServerMetadataResponse':
    'issuer token_endpoint introspection_endpoint revocation_endpoint userinfo_endpoint jwks_uri scopes_supported* response_types_supported* grant_types_supported* subject_types_supported* id_token_signing_alg_values_supported* claims_supported* token_endpoint_auth_methods_supported* token_endpoint_auth_signing_alg_values_supported* introspection_endpoint_auth_methods_supported* introspection_endpoint_auth_signing_alg_values_supported* revocation_endpoint_auth_methods_supported* revocation_endpoint_auth_signing_alg_values_supported* dpop_signing_alg_values_supported*',
  'users.v1.SetDPoPRequest': 'user_id required:bool',
  'users.v1.SetDPoPResponse': 'details:ObjectDetails',
  'users.v1.GetUserInfoRequest': '',
  'users.v1.GetUserInfoResponse':
    'sub organization name? preferred_username? given_name? family_name? nickname? locale? email? email_verified?:bool roles* project_roles*:OrganizationRoles organization_roles*:OrganizationRoles',
  'grants.v1.AddOrganizationRequest': 'name',
  'grants.v1.AddOrganizationResponse': 'organization_id details:ObjectDetails',
  'grants.v1.GetMyOrganizationRequest': '',
  'grants.v1.GetMyOrganizationResponse': 'organization:Organization',
  'grants.v1.Organization': 'id details:ObjectDetails state:OrganizationState name primary_domain',
  'grants.v1.AddOrganizationMemberRequest': 'user_id roles*',
  'grants.v1.AddOrganizationMemberResponse': 'details:ObjectDetails',
  'grants.v1.AddProjectRequest': 'name',
  'grants.v1.AddProjectResponse': 'id details:ObjectDetails',
  'grants.v1.AddProjectRoleRequest': 'project_id role_key display_name group',
  'grants.v1.AddProjectRoleResponse': 'details:ObjectDetails',
  'grants.v1.AddProjectGrantRequest': 'project_id granted_org_id role_keys*',
  'grants.v1.AddProjectGrantResponse': 'grant_id details:ObjectDetails',
  'grants.v1.GetUserGrantRequest': 'user_id grant_id',
  'grants.v1.GetUserGrantResponse': 'user_grant:UserGrant',
  'grants.v1.UserGrant':
    'id details:ObjectDetails user_id project_id project_grant_id role_keys* state:UserGrantState organization_id',
  'idp.v1.AddOIDCIDPRequest':
    'name styling_type:IDPStylingType client_id client_secret issuer scopes* auto_register:bool',
  'idp.v1.AddOIDCIDPResponse': 'idp_id details:ObjectDetails',
  'idp.v1.GetIDPRequest': 'idp_id',
  'idp.v1.GetIDPResponse': 'idp:IDP',
  'idp.v1.IDP':
    'id details:ObjectDetails state:IDPState name styling_type:IDPStylingType auto_register:bool oidc:OIDCConfig',
  'idp.v1.OIDCConfig': 'client_id issuer scopes*',
  'notifier.v1.SearchEventsRequest': 'cursor from_end:bool filter:EventFilter limit:int32 wait_seconds:int32',
  'notifier.v1.SearchEventsResponse': 'events*:Event cursor end_reached:bool',
  'notifier.v1.SearchOrganizationEventsRequest':
    'cursor from_end:bool filter:EventFilter limit:int32 wait_seconds:int32',
  'notifier.v1.SearchOrganizationEventsResponse': 'events*:Event cursor end_reached:bool',
  'notifier.v1.WatchEventsRequest': 'cursor from_end:bool filter:EventFilter limit:int32',
  'notifier.v1.WatchEventsResponse': 'events*:Event cursor',
  'notifier.v1.WatchOrganizationEventsRequest': 'cursor from_end:bool filter:EventFilter limit:int32',
  'notifier.v1.Webhook':
    'id details:ObjectDetails state:WebhookState url event_types* description all_organizations:bool former_secret_expiration_date:Timestamp',
  'notifier.v1.AddWebhookRequest': 'url event_types* description all_organizations:bool',
  'notifier.v1.AddWebhookResponse': 'webhook_id details:ObjectDetails secret',
  'notifier.v1.UpdateWebhookRequest': 'webhook_id url event_types* description',
  'notifier.v1.UpdateWebhookResponse': 'details:ObjectDetails',
  'notifier.v1.RemoveWebhookRequest': 'webhook_id',
  'notifier.v1.RemoveWebhookResponse': 'details:ObjectDetails',
  'notifier.v1.GetWebhookRequest': 'webhook_id',
  'notifier.v1.GetWebhookResponse': 'webhook:Webhook',
  'notifier.v1.ListWebhooksRequest': 'all_organizations:bool',
  'notifier.v1.ListWebhooksResponse': 'webhooks*:Webhook',
  'notifier.v1.DeactivateWebhookRequest': 'webhook_id',
  'notifier.v1.DeactivateWebhookResponse': 'details:ObjectDetails',
  'notifier.v1.ReactivateWebhookRequest': 'webhook_id',
  'notifier.v1.ReactivateWebhookResponse': 'details:ObjectDetails',
  'notifier.v1.RotateWebhookSecretRequest': 'webhook_id overlap_seconds?:int32',
  'notifier.v1.RotateWebhookSecretResponse': 'details:ObjectDetails secret former_secret_expiration_date:Timestamp',
  'notifier.v1.Delivery':
    'id kind:DeliveryKind state:DeliveryState organization_id event_id event_type user_id webhook_id code_id attempts:int32 error next_attempt_date:Timestamp creation_date:Timestamp change_date:Timestamp',
  'notifier.v1.SearchDeliveriesRequest':
    'kind:DeliveryKind state:DeliveryState webhook_id user_id event_id all_organizations:bool limit:int32 cursor',
  'notifier.v1.SearchDeliveriesResponse': 'deliveries*:Delivery next_cursor',
  'notifier.v1.GetDeliveryRequest': 'delivery_id',
  'notifier.v1.GetDeliveryResponse': 'delivery:Delivery',
  'notifier.v1.ReplayDeliveryRequest': 'delivery_id',
  'notifier.v1.ReplayDeliveryResponse': 'details:ObjectDetails',
  'notifier.v1.ReplayFailedDeliveriesRequest': 'webhook_id',
  'notifier.v1.ReplayFailedDeliveriesResponse': 'details:ObjectDetails',
  'notifier.v1.WatchOrganizationEventsResponse': 'events*:Event cursor',
  'feed.v1.EventFilter': 'organization_id aggregate_types* aggregate_ids* event_types* actors* since:Timestamp',
  'feed.v1.Event':
    'id source type organization_id aggregate_type aggregate_id sequence:uint64 actor request_id cause time:Timestamp data_schema data:Struct causation_id data_omitted',
}

// Values from 0.
const enums: Record<string, string> = {
  'users.v1.Gender': 'GENDER_UNSPECIFIED GENDER_FEMALE GENDER_MALE GENDER_DIVERSE',
  'users.v1.AccessTokenType': 'ACCESS_TOKEN_TYPE_BEARER ACCESS_TOKEN_TYPE_JWT',
  'idp.v1.IDPStylingType': 'STYLING_TYPE_UNSPECIFIED STYLING_TYPE_GOOGLE',
  'users.v1.UserState':
    'USER_STATE_UNSPECIFIED USER_STATE_ACTIVE USER_STATE_INACTIVE USER_STATE_DELETED USER_STATE_LOCKED',
  'users.v1.KeyType': 'KEY_TYPE_UNSPECIFIED KEY_TYPE_JSON',
  'users.v1.KeyAlgorithm': 'KEY_ALGORITHM_UNSPECIFIED KEY_ALGORITHM_RS256 KEY_ALGORITHM_ES256 KEY_ALGORITHM_EDDSA',
  'grants.v1.OrganizationState': 'ORGANIZATION_STATE_UNSPECIFIED ORGANIZATION_STATE_ACTIVE ORGANIZATION_STATE_INACTIVE',
  'grants.v1.UserGrantState': 'USER_GRANT_STATE_UNSPECIFIED USER_GRANT_STATE_ACTIVE USER_GRANT_STATE_INACTIVE',
  'notifier.v1.WebhookState': 'WEBHOOK_STATE_UNSPECIFIED WEBHOOK_STATE_ACTIVE WEBHOOK_STATE_INACTIVE',
  'notifier.v1.DeliveryKind': 'DELIVERY_KIND_UNSPECIFIED DELIVERY_KIND_MAIL DELIVERY_KIND_WEBHOOK',
  'notifier.v1.DeliveryState':
    'DELIVERY_STATE_UNSPECIFIED DELIVERY_STATE_QUEUED DELIVERY_STATE_SENT DELIVERY_STATE_FAILED DELIVERY_STATE_SUPERSEDED',
  'idp.v1.IDPState': 'IDP_STATE_UNSPECIFIED IDP_STATE_ACTIVE IDP_STATE_INACTIVE',
}

const offered = [...methods.values()].filter(({ access }) => access.rule !== 'internal')

describe('an operation has the route and the access of the contract:', () => {
  test.each(Object.keys(operations))('%s', (name) => {
    const { access, http, desc } = methods.get(name.replace('/', '.'))!
    const { permission, scope, resource, orSelf } = access
    const where = { organization: '', instance: ' on the instance', resource: ` of ${resource}` }[scope]
    const who = access.rule === 'permission' ? `${orSelf ? 'self, or ' : ''}${permission}${where}` : access.rule
    expect([http ? `${http.verb} ${http.template}` : 'stream', who]).toEqual(operations[name])
    if (!http) return expectStream(desc)
    expect(http.hasBody).toBe(http.verb === 'POST' || http.verb === 'PUT')
    expect(desc.methodKind).toBe('unary')
    const input = desc.input.fields.map((field) => field.name)
    for (const [, bound] of http.template.matchAll(/\{(.+?)\}/g)) expect(input).toContain(bound)
    if (resource) expect(input).toContain(resource)
  })

  test('and no other operation exists', () => {
    expect(offered.map(({ path }) => path.slice(1)).sort()).toEqual(Object.keys(operations).sort())
  })

  test('each has its own verb and path', () => {
    const routed = offered.filter(({ http }) => http)
    const routes = routed.map(({ http }) => `${http!.verb} ${http!.template.replaceAll(/\{.+?\}/g, '{}')}`)
    expect(new Set(routes).size).toBe(routes.length)
  })

  test('internal methods have no route, and the others belong to the four services', () => {
    for (const { access, http } of methods.values()) if (access.rule === 'internal') expect(http).toBeUndefined()
    for (const { path } of methods.values())
      expect(path).toMatch(/^\/roster\.(users|grants|idp|notifier)\.v1\.[A-Z]\w+Service\//)
  })

  test('only Update Identity Provider is deprecated, since 2026-11-20', () => {
    const deprecated = [...methods.values()].filter(({ desc }) => desc.deprecated)
    expect(deprecated.map(({ desc }) => desc.name)).toEqual(['UpdateIDP'])
    expect(deprecated[0]!.deprecatedSince).toBe(Date.UTC(2026, 10, 20) / 1000)
    for (const { desc, deprecatedSince } of methods.values())
      if (!desc.deprecated) expect(deprecatedSince).toBeUndefined()
  })
})

describe('a message has the fields of the contract, by number:', () => {
  test.each(Object.keys(messages))('%s', (name) => {
    expect(spell(registry.getMessage(`roster.${name}`)!)).toBe(messages[name])
  })

  test('and every message of an operation is in the contract', () => {
    for (const { desc } of offered)
      for (const type of reachable(desc.input, reachable(desc.output)))
        if (type.startsWith('roster.')) expect(messages).toHaveProperty([type.replace('roster.', '')])
  })
})

test.each(Object.keys(enums))('an enum has the names and numbers of the contract: %s', (name) => {
  const { values }: DescEnum = registry.getEnum(`roster.${name}`)!
  expect(values.map((value) => value.number)).toEqual(values.map((_, index) => index))
  expect(values.map((value) => value.name).join(' ')).toBe(enums[name])
})

// Fields that the gateway needs to turn answers into a stream.
function expectStream({ methodKind, input, output }: DescMethod) {
  expect(methodKind).toBe('server_streaming')
  for (const { field } of [input, output]) expect(field['cursor']?.scalar).toBe(ScalarType.STRING)
}

function spell(message: DescMessage): string {
  const fields = [...message.fields].sort((left, right) => left.number - right.number)
  expect(fields.map((field) => field.number)).toEqual(fields.map((_, index) => index + 1))
  return fields
    .map((field) => {
      const type =
        field.message?.name ?? field.enum?.name ?? { 8: 'bool', 4: 'uint64', 5: 'int32' }[Number(field.scalar)]
      const known = field.proto.proto3Optional ? '?' : ''
      return `${field.oneof ? '|' : ''}${field.name}${known}${field.fieldKind === 'list' ? '*' : ''}${type ? `:${type}` : ''}`
    })
    .join(' ')
}

function reachable(message: DescMessage, found: Set<string> = new Set()): Set<string> {
  if (found.has(message.typeName)) return found
  found.add(message.typeName)
  for (const { message: inner } of message.fields) if (inner) reachable(inner, found)
  return found
}
