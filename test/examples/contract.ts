import { ApplicationServiceDefinition } from '#gen/roster/grants/v1/application_service'
import { InstanceServiceDefinition } from '#gen/roster/grants/v1/instance_service'
import { OrganizationDomainServiceDefinition } from '#gen/roster/grants/v1/organization_domain_service'
import { OrganizationServiceDefinition } from '#gen/roster/grants/v1/organization_service'
import { PermissionServiceDefinition } from '#gen/roster/grants/v1/permission_service'
import { ProjectMemberServiceDefinition } from '#gen/roster/grants/v1/project_member_service'
import { ProjectServiceDefinition } from '#gen/roster/grants/v1/project_service'
import { UserGrantServiceDefinition } from '#gen/roster/grants/v1/user_grant_service'
import { IdentityProviderServiceDefinition } from '#gen/roster/idp/v1/identity_provider_service'
import { OrganizationIdentityProviderServiceDefinition } from '#gen/roster/idp/v1/organization_identity_provider_service'
import { OrganizationProviderServiceDefinition } from '#gen/roster/idp/v1/organization_provider_service'
import { ProviderServiceDefinition } from '#gen/roster/idp/v1/provider_service'
import { AuditServiceDefinition } from '#gen/roster/notifier/v1/audit_service'
import { DeliveryServiceDefinition } from '#gen/roster/notifier/v1/delivery_service'
import { EventServiceDefinition } from '#gen/roster/notifier/v1/event_service'
import { MailServiceDefinition } from '#gen/roster/notifier/v1/mail_service'
import { WebhookServiceDefinition } from '#gen/roster/notifier/v1/webhook_service'
import { AuthRequestServiceDefinition } from '#gen/roster/users/v1/auth_request_service'
import { CredentialServiceDefinition } from '#gen/roster/users/v1/credential_service'
import { InvitationServiceDefinition } from '#gen/roster/users/v1/invitation_service'
import { CustomLoginPolicyServiceDefinition } from '#gen/roster/users/v1/custom_login_policy_service'
import { LoginPolicyServiceDefinition } from '#gen/roster/users/v1/login_policy_service'
import { OAuthServiceDefinition } from '#gen/roster/users/v1/oauth_service'
import { PasswordServiceDefinition } from '#gen/roster/users/v1/password_service'
import { SessionServiceDefinition } from '#gen/roster/users/v1/session_service'
import { SettingsServiceDefinition } from '#gen/roster/users/v1/settings_service'
import { UserServiceDefinition } from '#gen/roster/users/v1/user_service'
import { method } from '#lib/rpc/methods'

/** The services that clients may call, as proto/ declares them. */
export const offeredServices = [
  UserServiceDefinition,
  PasswordServiceDefinition,
  SessionServiceDefinition,
  AuthRequestServiceDefinition,
  CredentialServiceDefinition,
  OAuthServiceDefinition,
  InvitationServiceDefinition,
  CustomLoginPolicyServiceDefinition,
  LoginPolicyServiceDefinition,
  SettingsServiceDefinition,
  InstanceServiceDefinition,
  OrganizationServiceDefinition,
  OrganizationDomainServiceDefinition,
  ProjectServiceDefinition,
  ProjectMemberServiceDefinition,
  ApplicationServiceDefinition,
  UserGrantServiceDefinition,
  PermissionServiceDefinition,
  IdentityProviderServiceDefinition,
  OrganizationIdentityProviderServiceDefinition,
  ProviderServiceDefinition,
  OrganizationProviderServiceDefinition,
  EventServiceDefinition,
  AuditServiceDefinition,
  WebhookServiceDefinition,
  DeliveryServiceDefinition,
  MailServiceDefinition,
] as const

type Methods<S = (typeof offeredServices)[number]> = S extends { methods: infer M } ? M[keyof M] : never

/** An operation by its name alone: no two services have one of the same name. */
export type Operation = Extract<Methods, { responseStream: false }>['name']

/** An operation whose answer is a stream. It has no path. */
export type Stream = Extract<Methods, { responseStream: true }>['name']

/** Of each operation its service, and its verb and path over HTTP. */
export const contract = Object.fromEntries(
  declared(false).map(({ service, name }) => {
    const { verb, template } = method(`${service}.${name}`).http!
    return [name, [service, `${verb} ${template}`]]
  }),
) as Record<Operation, readonly [service: string, http: string]>

/** Of each stream its service. */
export const streams = Object.fromEntries(declared(true).map(({ service, name }) => [name, service])) as Record<
  Stream,
  string
>

function declared(isStream: boolean) {
  return offeredServices.flatMap(({ fullName, methods }) =>
    Object.values(methods)
      .filter(({ responseStream }) => responseStream === isStream)
      .map(({ name }) => ({ service: fullName, name })),
  )
}
