import type { DescMessage } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import { offered } from '#lib/rpc/methods'

const of = (service: string, ...names: string[]) => names.map((name) => `${service}.${name}`)

/**
 * The writes for which a caller in the console needs no fresh factor, by the reason. A new operation stands here or has the
 * option `danger`: docs/decisions/33-console-session.md says what counts.
 */
const harmless: Record<string, string[]> = {
  'It takes something away that can be given again, and gives nothing.': [
    ...of('grants.v1.ApplicationService', 'DeactivateApplication', 'RemoveApplicationKey', 'RemoveClientSecret'),
    ...of('grants.v1.ProjectService', 'DeactivateProject', 'DeactivateProjectGrant'),
    ...of('idp.v1.IdentityProviderService', 'DeactivateIDP'),
    ...of('idp.v1.OrganizationIdentityProviderService', 'DeactivateOrganizationIDP'),
    ...of('notifier.v1.WebhookService', 'DeactivateWebhook'),
    ...of('users.v1.CredentialService', 'RemovePersonalAccessToken', 'RemoveMachineKey'),
    ...of('users.v1.CredentialService', 'RemoveMachineSecret', 'RemoveMachineSecrets'),
    ...of('users.v1.InvitationService', 'RevokeInvitation'),
    ...of('users.v1.SessionService', 'DeleteSession', 'DeleteUserSessions', 'WithdrawConsent'),
    ...of('users.v1.UserService', 'DeactivateUser', 'LockUser'),
  ],
  'It is daily work with roles in applications, none of which is a role of Roster.': [
    ...of('grants.v1.ProjectService', 'AddProjectRole', 'BulkAddProjectRoles', 'UpdateProjectRole'),
    ...of('grants.v1.UserGrantService', 'AddUserGrant', 'BulkAddUserGrants', 'UpdateUserGrant', 'RemoveUserGrant'),
    ...of('grants.v1.UserGrantService', 'BulkRemoveUserGrants', 'DeactivateUserGrant', 'ReactivateUserGrant'),
  ],
  'It makes something that nobody can sign in by yet.': [
    ...of('grants.v1.OrganizationService', 'AddOrganization'),
    // It has no effect until it is verified.
    ...of('grants.v1.OrganizationDomainService', 'AddOrganizationDomain'),
    ...of('grants.v1.ProjectService', 'AddProject'),
    ...of('users.v1.UserService', 'AddMachineUser', 'StartIdentityProviderIntent'),
  ],
  'It changes names, and settings that hand out nothing.': [
    ...of('grants.v1.OrganizationService', 'UpdateOrganization'),
    ...of('users.v1.UserService', 'UpdateMyProfile', 'UpdateUserName', 'UpdateHumanProfile', 'UpdateMachine'),
  ],
  'It sends again where a danger had it sent before, or sends no secret.': [
    ...of('notifier.v1.DeliveryService', 'ReplayDelivery', 'ReplayFailedDeliveries'),
    ...of('notifier.v1.MailService', 'TestMail'),
    ...of('idp.v1.IdentityProviderService', 'TestIdentityProvider', 'TryIdentityProvider'),
    ...of(
      'idp.v1.OrganizationIdentityProviderService',
      'TestOrganizationIdentityProvider',
      'TryOrganizationIdentityProvider',
    ),
    ...of('users.v1.UserService', 'ResendInviteCode', 'ResendMail'),
  ],
  'It asks for a proof of its own: the password, the code of a link, or a session that is none of the console.': [
    ...of('users.v1.PasswordService', 'UpdateMyPassword'),
    ...of('users.v1.UserService', 'RegisterPasskey', 'VerifyPasskeyRegistration'),
    ...of('users.v1.UserService', 'RegisterU2F', 'VerifyU2FRegistration'),
    ...of('users.v1.SessionService', 'CreateSession'),
  ],
}

// What anybody may call without a token gives nothing to whoever finds an open browser.
const needsSession = ({ access }: (typeof offered)[number]) => access.rule !== 'public' || access.knowsCaller
const nameOf = ({ subject }: (typeof offered)[number]) => subject.replace('roster.', '')
const undeclared = offered.filter((method) => !method.reads && !method.danger && needsSession(method)).map(nameOf)

test('each write that the console can call is a danger, or was found to be none', () => {
  expect(undeclared.toSorted()).toEqual(Object.values(harmless).flat().toSorted())
})

test('each write whose answer has a secret or a code is a danger', () => {
  // A result of a bulk has them for operations that are dangers. The token of CreateSession is that of a password in its
  // request, or of a half-done session, which opens nothing.
  const others = of('grants.v1.UserGrantService', 'BulkAddUserGrants', 'BulkRemoveUserGrants')
  const giving = offered.filter((method) => !method.reads && needsSession(method) && hasSecret(method.desc.output))
  expect(giving.length).toBeGreaterThan(15)
  const found = giving.filter(({ danger }) => !danger).map(nameOf)
  expect(found.toSorted()).toEqual([...others, ...of('users.v1.SessionService', 'CreateSession')])
})

const secret = /(^|_)(code|codes|link|secret|token|key_details|callback_url)$/

function hasSecret(message: DescMessage, within: DescMessage[] = []): boolean {
  if (within.includes(message)) return false
  return message.fields.some((field) =>
    field.message ? hasSecret(field.message, [...within, message]) : secret.test(field.name),
  )
}
