import type { JsonObject } from '@bufbuild/protobuf'
import type { Call, CallOptions } from '../e2e/clients/call.ts'
import type { Operation } from './contract.ts'
import { addition, forOrganization, protocols } from './idps.ts'
import { examplePair, inSeconds } from './machines.ts'
import { ok, profile, unique, uniqueEmail } from './people.ts'

/** One object of each kind, of a Roster of a test's own. */
export interface EveryObject {
  /** Ids and other texts, by the names of the fields that take them. */
  values: Record<string, string>
  /** The administrator in the organization of the objects, and a human of it. */
  callers: CallOptions[]
}

const providerUrls = Object.fromEntries(
  ['issuer', 'jwtEndpoint', 'keysEndpoint', 'authorizationEndpoint', 'tokenEndpoint', 'userEndpoint'].map((field) => [
    field,
    'https://issuer.example.com/',
  ]),
)

// One of each protocol. That of the last type is inactive, so that a search for the last of each finds it.
async function addIdps(add: (operation: Operation, request: JsonObject) => Promise<{ idpId: string }>) {
  const ids: string[] = []
  for (const example of protocols) ids.push((await add(example.add, addition(example))).idpId)
  await add('DeactivateIDP', { idpId: ids[protocols.findIndex(({ type }) => type === 'IDP_TYPE_SAML')]! })
  return { idpId: ids[0]! }
}

/** Adds one object of each kind with all that may be of it, so that each table has rows. */
export async function addEveryObject(call: Call, admin: CallOptions, webhookUrl: string): Promise<EveryObject> {
  const add = async (operation: Parameters<Call>[0], request: Parameters<Call>[1], organization?: string) =>
    ok(await call(operation, request, { ...admin, organization, headers: { 'idempotency-key': unique('key') } }))
  const { organizationId } = await add('AddOrganization', { name: unique('Organization') })
  const { organizationId: grantedOrgId } = await add('AddOrganization', { name: unique('Organization') })
  const own = (operation: Parameters<Call>[0], request: Parameters<Call>[1]) => add(operation, request, organizationId)

  const { webhookId } = await own('AddWebhook', { url: webhookUrl })
  const [userName, password, email] = [unique('human'), unique('Password'), uniqueEmail()]
  const { userId: humanId } = await own('AddHumanUser', { userName, profile, email: { email }, password })
  const { sessionId, sessionToken } = ok(await call('CreateSession', { loginName: userName, password }, admin))
  await own('AddOrganizationMember', { userId: humanId, roles: ['ORG_OWNER'] })
  const { invitationId } = await own('AddInvitation', { email: uniqueEmail(), returnLink: {} })

  const { userId } = await own('AddMachineUser', { userName: unique('machine'), name: 'A machine' })
  await own('AddOrganizationMember', { userId, roles: ['ORG_USER_MANAGER'] })
  const expirationDate = inSeconds(100 * 24 * 3600)
  const { tokenId } = await own('AddPersonalAccessToken', { userId, expirationDate })
  const { keyId } = await own('AddMachineKey', { userId, expirationDate })
  const { clientId, clientSecret, secretId } = await own('AddMachineSecret', { userId, expirationDate })
  const client = { clientId, clientSecret }
  const { accessToken } = ok(await call('IssueToken', { grantType: 'client_credentials', ...client }, admin))

  const { id: projectId } = await own('AddProject', { name: unique('Project') })
  await own('AddProjectRole', { projectId, roleKey: 'reader', displayName: 'Reader' })
  await own('AddProjectGrant', { projectId, grantedOrgId, roleKeys: ['reader'] })
  const { appId } = await own('AddOIDCApplication', { projectId, name: unique('Application') })
  const { userGrantId: grantId } = await own('AddUserGrant', { userId, projectId, roleKeys: ['reader'] })
  const { idpId } = await addIdps((operation, request) => own(forOrganization(operation), request))
  await addIdps(add)
  const ids = {
    userId,
    sessionId,
    tokenId,
    keyId,
    secretId,
    organizationId,
    orgId: organizationId,
    grantedOrgId,
    projectId,
    appId,
    landingUri: 'https://app.example.com/',
    invitationId,
    grantId,
    idpId,
    webhookId,
  }
  const texts = {
    aggregateIds: userId,
    actors: humanId,
    roleKeys: 'reader',
    roleKey: 'reader',
    grantType: 'client_credentials',
    scope: 'openid',
    token: accessToken,
    loginName: userName,
    password,
    domain: `${unique('domain')}.example.com`,
    url: webhookUrl,
    email: uniqueEmail(),
    urlTemplate: 'http://localhost:8080/',
    publicKey: examplePair().pem,
    permission: 'user.read',
    operation: '/roster.users.v1.UserService/GetUser',
    ...providerUrls,
    // No one can make up a cursor.
    cursor: '',
  }
  return {
    values: { ...ids, ...client, ...texts },
    callers: [
      { ...admin, organization: organizationId },
      { ...admin, organization: organizationId, token: sessionToken, headers: { 'idempotency-key': unique('key') } },
    ],
  }
}
