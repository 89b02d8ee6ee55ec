import { createServiceAccountInterceptor } from '@zitadel/node/dist/api/index.js'
import { ServiceAccount } from '@zitadel/node/dist/credentials/index.js'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import {
  assertion,
  type ExampleClient,
  issuer,
  jwtBearer,
  newClient,
  sendForm,
  tokenPath,
} from '../../examples/oauth.ts'
import { admin, newMachine, newOrganization, ok } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { call, recordSecret } from '../clients/encodings.ts'
import { nodeClients } from './clients.ts'

const now = () => Math.floor(Date.now() / 1000)

describe('@zitadel/node signs in by the key file of AddMachineKey', () => {
  let account: ServiceAccount
  let userId: string
  let organization: string

  beforeAll(async () => {
    organization = await newOrganization()
    userId = await newMachine(organization)
    ok(await call('AddOrganizationMember', { userId, roles: ['ORG_USER_MANAGER'] }, admin(organization)))
    const { keyDetails } = ok(await call('AddMachineKey', { userId, type: 'KEY_TYPE_JSON' }, admin()))
    account = ServiceAccount.fromJsonString(Buffer.from(keyDetails, 'base64').toString())
    recordSecret(account.key)
  })

  test('and calls, several times within a second', async () => {
    const tokens = await Promise.all([1, 2, 3].map(() => account.authenticate(issuer(), { apiAccess: true })))
    for (const token of tokens) {
      recordSecret(token)
      expect(ok(await call('GetMyUser', {}, { token })).user.userId).toBe(userId)
    }
    const interceptor = createServiceAccountInterceptor(issuer(), account, { apiAccess: true })
    const { auth, management } = nodeClients(inject('roster').url, organization, interceptor)
    expect((await auth['getMyUser']!({})).user.id).toBe(userId)
    expect(Number((await management['listUsers']!({})).details.totalResult)).toBeGreaterThan(0)
  })

  test('also for a project', async () => {
    const projectId = await newProject(organization, ['reader'])
    const grant = { userId, projectId, roleKeys: ['reader'] }
    ok(await call('AddUserGrant', grant, admin(organization)))
    const additionalScopes = ['urn:zitadel:iam:org:projects:roles', 'urn:zitadel:iam:user:resourceowner']
    const token = await account.authenticate(issuer(), { projectAudiences: [projectId], additionalScopes })
    recordSecret(token)
    const response = await fetch(`${issuer()}/oidc/v1/userinfo`, { headers: { authorization: `Bearer ${token}` } })
    expect(await response.json()).toMatchObject({ sub: userId, organization, roles: ['reader'] })
  })
})

describe('an assertion without a jti', () => {
  let client: ExampleClient
  const grant = async (claims: Record<string, unknown>) => {
    const text = await assertion(client, { claims: { jti: undefined, ...claims } })
    return async () => {
      const { status, body } = await sendForm(tokenPath, { grant_type: jwtBearer, assertion: text })
      return [status, body.error]
    }
  }

  beforeAll(async () => {
    client = await newClient({ jwt: true })
  })

  test('works for five minutes after its beginning, whatever its end', async () => {
    const use = await grant({ exp: now() + 3600 })
    expect([await use(), await use()]).toEqual([
      [200, undefined],
      [200, undefined],
    ])
    expect(await (await grant({ iat: now() - 280, exp: now() + 600 }))()).toEqual([200, undefined])
  })

  test.each([
    ['after them', () => ({ iat: now() - 340, exp: now() + 600 })],
    ['after its end', () => ({ iat: now() - 120, exp: now() - 60 })],
    ['before its beginning', () => ({ iat: now() + 60, exp: now() + 120 })],
    ['without a beginning', () => ({ iat: undefined })],
    ['with an empty jti', () => ({ jti: '' })],
    ['with a number as its jti', () => ({ jti: 1 })],
    ['with an end more than an hour away', () => ({ exp: now() + 3700 })],
  ])('not %s', async (_, claims) => {
    expect(await (await grant(claims()))()).toEqual([400, 'invalid_grant'])
  })
})

describe('scopes of ZITADEL', () => {
  let client: ExampleClient
  let projectId: string
  const ask = async (scope: string) => {
    const form = { grant_type: jwtBearer, assertion: await assertion(client), scope }
    const { status, body } = await sendForm(tokenPath, form)
    return { status, scope: body.scope, error: body.error }
  }
  const itself = 'urn:zitadel:iam:org:project:id:zitadel:aud'

  beforeAll(async () => {
    client = await newClient({ jwt: true })
    projectId = await newProject(client.organization, ['reader'])
    const grant = { userId: client.userId, projectId, roleKeys: ['reader'] }
    ok(await call('AddUserGrant', grant, admin(client.organization)))
  })

  test('are answered in those of Roster', async () => {
    const project = `urn:zitadel:iam:org:project:id:${projectId}:aud`
    expect(await ask(`openid ${itself}`)).toMatchObject({ status: 200, scope: 'openid' })
    expect(await ask(itself)).toMatchObject({ status: 200, scope: undefined })
    expect(await ask(`openid ${project}`)).toMatchObject({ status: 200, scope: `openid project:${projectId}` })
    expect(await ask(`${project} project:${projectId}`)).toMatchObject({ status: 200, scope: `project:${projectId}` })
    expect(await ask(`${project} ${itself}`)).toMatchObject({ status: 400, error: 'invalid_scope' })
  })

  test.each([
    'urn:zitadel:iam:org:project:id:unknown:aud',
    'urn:zitadel:iam:org:project:id::aud',
    'urn:zitadel:iam:org:project:role:reader',
    'urn:zitadel:iam:org:id:default',
    'urn:zitadel:iam:org:roles:id:default',
    'urn:zitadel:iam:user:metadata',
  ])('%s gives nothing here', async (scope) => {
    expect(await ask(scope)).toMatchObject({ status: 400, error: 'invalid_scope' })
  })
})
