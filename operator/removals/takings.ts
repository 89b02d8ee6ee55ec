import { instance } from '#lib/instance'

/** An event that took something away, with the present state of its object in the database. */
export interface Taking {
  /** Such as `user.removed`. */
  type: string
  id: string
  organizationId: string
  data: Fields
  state: Fields
}

type Fields = Record<string, unknown>
type Call = [method: string, request: object]

/** By the type of an event: the call of the gateway that does the same again. */
export const takings: Record<string, (taking: Taking) => Call> = {
  'user.removed': ({ id, data }) => ofUser('DeleteUser', id, { forgetNow: data['forgetAt'] === undefined }),
  'user.forgotten': ({ id }) => ofUser('DeleteUser', id, { forgetNow: true }),
  'user.locked': ({ id }) => ofUser('LockUser', id),
  'user.deactivated': ({ id }) => ofUser('DeactivateUser', id),
  'user.pat.removed': (taking) => ofMachine('RemovePersonalAccessToken', taking, 'tokenId'),
  'user.key.removed': (taking) => ofMachine('RemoveMachineKey', taking, 'keyId'),
  'user.secret.removed': (taking) => ofMachine('RemoveMachineSecret', taking, 'secretId'),
  'organization.removed': ({ id }) => ['grants.v1.OrganizationService/RemoveOrganization', { orgId: id }],
  'organization.deactivated': () => ['grants.v1.OrganizationService/DeactivateOrganization', {}],
  'member.removed': ofMember,
  'project.removed': ({ id }) => ['grants.v1.ProjectService/RemoveProject', { projectId: id }],
  'project.role.removed': ({ id, data }) => [
    'grants.v1.ProjectService/RemoveProjectRole',
    { projectId: id, roleKey: data['roleKey'] },
  ],
  'project_grant.removed': ({ id, state }) => [
    'grants.v1.ProjectService/RemoveProjectGrant',
    { projectId: state['projectId'], grantId: id },
  ],
  'user_grant.removed': ({ id, data }) => [
    'grants.v1.UserGrantService/RemoveUserGrant',
    { userId: data['userId'], grantId: id },
  ],
  'application.removed': (taking) => ofApplication('RemoveApplication', taking),
  'application.deactivated': (taking) => ofApplication('DeactivateApplication', taking),
  'application.key.removed': (taking) => ofApplication('RemoveApplicationKey', taking),
  'idp.removed': ({ id, organizationId }) => [
    organizationId === instance.id
      ? 'idp.v1.IdentityProviderService/RemoveIDP'
      : 'idp.v1.OrganizationIdentityProviderService/RemoveOrganizationIDP',
    { idpId: id },
  ],
  'webhook.removed': ({ id }) => ['notifier.v1.WebhookService/RemoveWebhook', { webhookId: id }],
}

/** By the type of an event: the type of the one that gives it back. */
export const givenBackBy: Record<string, string> = {
  'user.removed': 'user.restored',
  'user.locked': 'user.unlocked',
  'user.deactivated': 'user.reactivated',
  'organization.deactivated': 'organization.reactivated',
  'application.deactivated': 'application.reactivated',
}

function ofUser(method: string, userId: string, more = {}): Call {
  return [`users.v1.UserService/${method}`, { userId, ...more }]
}

function ofMachine(method: string, { id, data }: Taking, field: string): Call {
  return [`users.v1.CredentialService/${method}`, { userId: id, [field]: data[field] }]
}

function ofApplication(method: string, { id, state, data }: Taking): Call {
  return [`grants.v1.ApplicationService/${method}`, { projectId: state['projectId'], appId: id, ...data }]
}

function ofMember({ organizationId, data: { userId }, state: { projectId } }: Taking): Call {
  if (projectId !== undefined) return ['grants.v1.ProjectMemberService/RemoveProjectMember', { projectId, userId }]
  return organizationId === instance.id
    ? ['grants.v1.InstanceService/RemoveInstanceMember', { userId }]
    : ['grants.v1.OrganizationService/RemoveOrganizationMember', { userId }]
}
