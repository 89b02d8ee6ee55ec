/** The operations as spec/contract.md names them, and those that came later: written down once more, not read from proto/, so that proto/ is held to it. */
export const contract = {
  UpdateMyProfile: ['roster.users.v1.UserService', 'PUT /auth/v1/users/me/profile'],
  AddMachineUser: ['roster.users.v1.UserService', 'POST /management/v1/users/machine'],
  SetEmail: ['roster.users.v1.UserService', 'POST /v2/users/{user_id}/email'],
  UpdateIDP: ['roster.idp.v1.IdentityProviderService', 'PUT /admin/v1/idps/{idp_id}'],
  AddUserGrant: ['roster.grants.v1.UserGrantService', 'POST /management/v1/users/{user_id}/grants'],
  AddHumanUser: ['roster.users.v1.UserService', 'POST /v2/users/human'],
  GetUser: ['roster.users.v1.UserService', 'GET /v2/users/{user_id}'],
  VerifyEmail: ['roster.users.v1.UserService', 'POST /v2/users/{user_id}/email/verify'],
  ResendEmailCode: ['roster.users.v1.UserService', 'POST /v2/users/{user_id}/email/resend'],
  DeactivateUser: ['roster.users.v1.UserService', 'POST /v2/users/{user_id}/deactivate'],
  ReactivateUser: ['roster.users.v1.UserService', 'POST /v2/users/{user_id}/reactivate'],
  LockUser: ['roster.users.v1.UserService', 'POST /v2/users/{user_id}/lock'],
  UnlockUser: ['roster.users.v1.UserService', 'POST /v2/users/{user_id}/unlock'],
  DeleteUser: ['roster.users.v1.UserService', 'DELETE /v2/users/{user_id}'],
  CreateSession: ['roster.users.v1.SessionService', 'POST /v2/sessions'],
  DeleteSession: ['roster.users.v1.SessionService', 'DELETE /v2/sessions/{session_id}'],
  AddOrganization: ['roster.grants.v1.OrganizationService', 'POST /management/v1/orgs'],
  GetMyOrganization: ['roster.grants.v1.OrganizationService', 'GET /management/v1/orgs/me'],
  AddOrganizationMember: ['roster.grants.v1.OrganizationService', 'POST /management/v1/orgs/me/members'],
  AddProject: ['roster.grants.v1.ProjectService', 'POST /management/v1/projects'],
  AddProjectRole: ['roster.grants.v1.ProjectService', 'POST /management/v1/projects/{project_id}/roles'],
  AddProjectGrant: ['roster.grants.v1.ProjectService', 'POST /management/v1/projects/{project_id}/grants'],
  GetUserGrant: ['roster.grants.v1.UserGrantService', 'GET /management/v1/users/{user_id}/grants/{grant_id}'],
  AddOIDCIDP: ['roster.idp.v1.IdentityProviderService', 'POST /admin/v1/idps/oidc'],
  GetIDP: ['roster.idp.v1.IdentityProviderService', 'GET /admin/v1/idps/{idp_id}'],
  AddWebhook: ['roster.notifier.v1.WebhookService', 'POST /management/v1/webhooks'],
  UpdateWebhook: ['roster.notifier.v1.WebhookService', 'PUT /management/v1/webhooks/{webhook_id}'],
  RemoveWebhook: ['roster.notifier.v1.WebhookService', 'DELETE /management/v1/webhooks/{webhook_id}'],
  GetWebhook: ['roster.notifier.v1.WebhookService', 'GET /management/v1/webhooks/{webhook_id}'],
  ListWebhooks: ['roster.notifier.v1.WebhookService', 'GET /management/v1/webhooks'],
  DeactivateWebhook: ['roster.notifier.v1.WebhookService', 'POST /management/v1/webhooks/{webhook_id}/_deactivate'],
  ReactivateWebhook: ['roster.notifier.v1.WebhookService', 'POST /management/v1/webhooks/{webhook_id}/_reactivate'],
  RotateWebhookSecret: [
    'roster.notifier.v1.WebhookService',
    'POST /management/v1/webhooks/{webhook_id}/secret/_rotate',
  ],
  SearchDeliveries: ['roster.notifier.v1.DeliveryService', 'POST /management/v1/deliveries/_search'],
  GetDelivery: ['roster.notifier.v1.DeliveryService', 'GET /management/v1/deliveries/{delivery_id}'],
  ReplayDelivery: ['roster.notifier.v1.DeliveryService', 'POST /management/v1/deliveries/{delivery_id}/replay'],
  ReplayFailedDeliveries: [
    'roster.notifier.v1.DeliveryService',
    'POST /management/v1/webhooks/{webhook_id}/deliveries/replay',
  ],
  SearchEvents: ['roster.notifier.v1.EventService', 'POST /admin/v1/events/_search'],
  SearchOrganizationEvents: ['roster.notifier.v1.EventService', 'POST /management/v1/events/_search'],
} as const

/** The operations whose answer is a stream, which have no path. */
export const streams = {
  WatchEvents: 'roster.notifier.v1.EventService',
  WatchOrganizationEvents: 'roster.notifier.v1.EventService',
} as const

export type Stream = keyof typeof streams

export type Operation = keyof typeof contract

/** Fields of messages as spec/contract.md numbers them; `?`: presence is known. */
export const fields: Record<string, string> = {
  'roster.object.v1.ObjectDetails': 'sequence 1, creation_date 2, change_date 3, resource_owner 4',
  'roster.users.v1.UpdateMyProfileRequest':
    'first_name 1, last_name 2, nick_name 3 ?, display_name 4, preferred_language 5, gender 6',
  'roster.users.v1.UpdateMyProfileResponse': 'details 1',
  'roster.idp.v1.UpdateIDPRequest': 'idp_id 1, name 2, styling_type 3, auto_register 4',
  'roster.idp.v1.UpdateIDPResponse': 'details 1',
  'roster.users.v1.AddMachineUserRequest': 'user_name 1, name 2, description 3, access_token_type 4, user_id 5 ?',
  'roster.users.v1.AddMachineUserResponse': 'user_id 1, details 2',
  'roster.users.v1.SetEmailRequest': 'user_id 1, email 2, send_code 3, return_code 4, is_verified 5',
  'roster.users.v1.SetEmailResponse': 'details 1, verification_code 2 ?',
  'roster.users.v1.SendEmailVerificationCode': 'url_template 1 ?',
  'roster.users.v1.ReturnEmailVerificationCode': '',
  'roster.grants.v1.AddUserGrantRequest': 'user_id 1, project_id 2, project_grant_id 3, role_keys 4',
  'roster.grants.v1.AddUserGrantResponse': 'user_grant_id 1, details 2',
  'roster.users.v1.AddHumanUserRequest': 'user_id 1 ?, user_name 2, profile 3, email 4, password 5 ?',
  'roster.users.v1.AddHumanUserResponse': 'user_id 1, details 2, email_code 3 ?',
  'roster.users.v1.Profile':
    'first_name 1, last_name 2, nick_name 3 ?, display_name 4 ?, preferred_language 5, gender 6',
  'roster.users.v1.SetHumanEmail': 'email 1, send_code 2, return_code 3, is_verified 4',
  'roster.users.v1.User': 'user_id 1, details 2, state 3, user_name 4, organization_id 5, human 6, machine 7',
  'roster.users.v1.Human': 'profile 1, email 2',
  'roster.users.v1.HumanEmail': 'email 1, is_verified 2',
  'roster.users.v1.Machine': 'name 1, description 2, access_token_type 3',
  'roster.users.v1.VerifyEmailRequest': 'user_id 1, verification_code 2',
  'roster.users.v1.ResendEmailCodeRequest': 'user_id 1, send_code 2, return_code 3',
  'roster.users.v1.ResendEmailCodeResponse': 'details 1, verification_code 2 ?',
  'roster.users.v1.DeactivateUserRequest': 'user_id 1',
  'roster.users.v1.DeactivateUserResponse': 'details 1',
  'roster.users.v1.ReactivateUserRequest': 'user_id 1',
  'roster.users.v1.ReactivateUserResponse': 'details 1',
  'roster.users.v1.LockUserRequest': 'user_id 1',
  'roster.users.v1.LockUserResponse': 'details 1',
  'roster.users.v1.UnlockUserRequest': 'user_id 1',
  'roster.users.v1.UnlockUserResponse': 'details 1',
  'roster.users.v1.DeleteUserRequest': 'user_id 1',
  'roster.users.v1.DeleteUserResponse': 'details 1',
  'roster.users.v1.CreateSessionRequest': 'login_name 1, password 2',
  'roster.users.v1.CreateSessionResponse': 'session_id 1, session_token 2, expiration_date 3, details 4',
  'roster.users.v1.DeleteSessionRequest': 'session_id 1',
  'roster.users.v1.DeleteSessionResponse': 'details 1',
  'roster.grants.v1.AddOrganizationRequest': 'name 1',
  'roster.grants.v1.AddOrganizationResponse': 'organization_id 1, details 2',
  'roster.grants.v1.GetMyOrganizationResponse': 'organization 1',
  'roster.grants.v1.Organization': 'id 1, details 2, state 3, name 4, primary_domain 5',
  'roster.grants.v1.AddOrganizationMemberRequest': 'user_id 1, roles 2',
  'roster.grants.v1.AddProjectRequest': 'name 1',
  'roster.grants.v1.AddProjectResponse': 'id 1, details 2',
  'roster.grants.v1.AddProjectRoleRequest': 'project_id 1, role_key 2, display_name 3, group 4',
  'roster.grants.v1.AddProjectGrantRequest': 'project_id 1, granted_org_id 2, role_keys 3',
  'roster.grants.v1.AddProjectGrantResponse': 'grant_id 1, details 2',
  'roster.grants.v1.GetUserGrantRequest': 'user_id 1, grant_id 2',
  'roster.grants.v1.UserGrant':
    'id 1, details 2, user_id 3, project_id 4, project_grant_id 5, role_keys 6, state 7, organization_id 8',
  'roster.idp.v1.AddOIDCIDPRequest':
    'name 1, styling_type 2, client_id 3, client_secret 4, issuer 5, scopes 6, auto_register 7',
  'roster.idp.v1.AddOIDCIDPResponse': 'idp_id 1, details 2',
  'roster.idp.v1.GetIDPRequest': 'idp_id 1',
  'roster.idp.v1.IDP': 'id 1, details 2, state 3, name 4, styling_type 5, auto_register 6, oidc 7',
  'roster.notifier.v1.Webhook':
    'id 1, details 2, state 3, url 4, event_types 5, description 6, all_organizations 7, former_secret_expiration_date 8',
  'roster.notifier.v1.AddWebhookRequest': 'url 1, event_types 2, description 3, all_organizations 4',
  'roster.notifier.v1.AddWebhookResponse': 'webhook_id 1, details 2, secret 3',
  'roster.notifier.v1.UpdateWebhookRequest': 'webhook_id 1, url 2, event_types 3, description 4',
  'roster.notifier.v1.RotateWebhookSecretRequest': 'webhook_id 1, overlap_seconds 2 ?',
  'roster.notifier.v1.RotateWebhookSecretResponse': 'details 1, secret 2, former_secret_expiration_date 3',
  'roster.notifier.v1.Delivery':
    'id 1, kind 2, state 3, organization_id 4, event_id 5, event_type 6, user_id 7, webhook_id 8, code_id 9, attempts 10, error 11, next_attempt_date 12, creation_date 13, change_date 14',
  'roster.notifier.v1.SearchDeliveriesRequest':
    'kind 1, state 2, webhook_id 3, user_id 4, event_id 5, all_organizations 6, limit 7, cursor 8',
  'roster.notifier.v1.SearchDeliveriesResponse': 'deliveries 1, next_cursor 2',
  'roster.idp.v1.OIDCConfig': 'client_id 1, issuer 2, scopes 3',
}

/** Values of enumerations, in their order from 0. */
export const enums: Record<string, string[]> = {
  'roster.users.v1.Gender': ['GENDER_UNSPECIFIED', 'GENDER_FEMALE', 'GENDER_MALE', 'GENDER_DIVERSE'],
  'roster.users.v1.AccessTokenType': ['ACCESS_TOKEN_TYPE_BEARER', 'ACCESS_TOKEN_TYPE_JWT'],
  'roster.idp.v1.IDPStylingType': ['STYLING_TYPE_UNSPECIFIED', 'STYLING_TYPE_GOOGLE'],
  'roster.users.v1.UserState': ['UNSPECIFIED', 'ACTIVE', 'INACTIVE', 'DELETED', 'LOCKED'].map(
    (name) => `USER_STATE_${name}`,
  ),
  'roster.grants.v1.OrganizationState': ['UNSPECIFIED', 'ACTIVE', 'INACTIVE'].map(
    (name) => `ORGANIZATION_STATE_${name}`,
  ),
  'roster.grants.v1.UserGrantState': ['UNSPECIFIED', 'ACTIVE', 'INACTIVE'].map((name) => `USER_GRANT_STATE_${name}`),
  'roster.notifier.v1.WebhookState': ['UNSPECIFIED', 'ACTIVE', 'INACTIVE'].map((name) => `WEBHOOK_STATE_${name}`),
  'roster.notifier.v1.DeliveryKind': ['UNSPECIFIED', 'MAIL', 'WEBHOOK'].map((name) => `DELIVERY_KIND_${name}`),
  'roster.notifier.v1.DeliveryState': ['UNSPECIFIED', 'QUEUED', 'SENT', 'FAILED', 'SUPERSEDED'].map(
    (name) => `DELIVERY_STATE_${name}`,
  ),
  'roster.idp.v1.IDPState': ['UNSPECIFIED', 'ACTIVE', 'INACTIVE'].map((name) => `IDP_STATE_${name}`),
}
