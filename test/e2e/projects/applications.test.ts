import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '@bufbuild/protobuf'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { newApplication, newSigningApi } from '../../examples/applications.ts'
import { examplePair, inSeconds } from '../../examples/machines.ts'
import { admin, newMachine, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { factsOf } from '../clients/call.ts'
import { callConnectJson } from '../clients/connect-json.ts'
import { call as json, over } from '../clients/encodings.ts'

let home: string
let abroad: string
let projectId: string

const { house } = inject('roster')
const sql = house && postgres(house.databaseUrl, { max: 1 })
const reason = (answer: Parameters<typeof factsOf>[0]) => factsOf(answer).reason ?? 'ok'

beforeAll(async () => {
  ;[home, abroad] = await Promise.all([newOrganization(), newOrganization()])
  projectId = await newProject(home)
})
afterAll(() => sql?.end())

/** What works of a web application that says nothing. */
const defaults = {
  responseTypes: ['OIDC_RESPONSE_TYPE_CODE'],
  grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE'],
  appType: 'OIDC_APP_TYPE_WEB',
  authMethodType: 'OIDC_AUTH_METHOD_TYPE_BASIC',
  devMode: false,
  accessTokenType: 'OIDC_TOKEN_TYPE_BEARER',
  accessTokenRoleAssertion: false,
  idTokenRoleAssertion: false,
  idTokenUserinfoAssertion: false,
  clockSkew: '0s',
  loginVersion: { loginV1: {} },
  allowMissingPkce: false,
  firstParty: false,
  rosterApi: false,
  idTokenAlgorithm: 'ID_TOKEN_ALGORITHM_RS256',
  accessTokenLifetime: '900s',
}

describe.each(over('connect'))('applications over $encoding', ({ call }) => {
  const ask = (...[operation, request]: Parameters<typeof call>) => call(operation, request, admin(home))
  const act = async (...[operation, request]: Parameters<typeof call>) => ok(await ask(operation, request))

  test('an application is shown, changed, deactivated, reactivated and removed, each at its sequence', async () => {
    const redirectUris = ['https://app.example.com/signed-in']
    const added = await act('AddOIDCApplication', { projectId, name: 'App', redirectUris, version: 'OIDC_VERSION_1_0' })
    const { appId, clientId, details } = added
    expect(details).toMatchObject({ sequence: '1', resourceOwner: home })
    const own = { projectId, appId }
    expect((await act('GetApplication', own)).application).toEqual({
      id: appId,
      appId,
      projectId,
      details,
      name: 'App',
      state: 'APPLICATION_STATE_ACTIVE',
      oidcConfig: {
        clientId,
        redirectUris,
        responseTypes: ['OIDC_RESPONSE_TYPE_CODE'],
        grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE'],
        effective: defaults,
      },
    })
    const sequence = async (...[operation, request]: Parameters<typeof act>) =>
      (await act(operation, { ...own, ...request })).details.sequence
    expect(await sequence('UpdateApplication', {})).toBe('1')
    expect(await sequence('UpdateApplication', { name: 'App' })).toBe('1')
    expect(await sequence('UpdateApplication', { name: 'New' })).toBe('2')
    expect(await sequence('UpdateOIDCConfig', { redirectUris })).toBe('2')
    expect(await sequence('UpdateOIDCConfig', { redirectUris, devMode: true })).toBe('3')
    expect(await sequence('DeactivateApplication', {})).toBe('4')
    const { application } = await act('GetApplication', own)
    expect(application).toMatchObject({ name: 'New', state: 'APPLICATION_STATE_INACTIVE' })
    expect(reason(await ask('DeactivateApplication', own))).toBe('APPLICATION_ALREADY_INACTIVE')
    expect(await sequence('ReactivateApplication', {})).toBe('5')
    expect(reason(await ask('ReactivateApplication', own))).toBe('APPLICATION_NOT_INACTIVE')
    expect(await sequence('RemoveApplication', {})).toBe('6')
    for (const operation of [
      'GetApplication',
      'UpdateApplication',
      'RemoveApplication',
      'GenerateClientSecret',
    ] as const)
      expect(reason(await ask(operation, own))).toBe('APPLICATION_NOT_FOUND')
  })

  test('every setting is kept; an update replaces ZITADEL’s, and leaves the others that are not sent', async () => {
    const settings = {
      redirectUris: ['com.example.app:/signed-in', 'http://localhost/'],
      responseTypes: ['OIDC_RESPONSE_TYPE_CODE'],
      grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN'],
      appType: 'OIDC_APP_TYPE_NATIVE',
      authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE',
      postLogoutRedirectUris: ['com.example.app:/'],
      devMode: true,
      accessTokenType: 'OIDC_TOKEN_TYPE_JWT',
      accessTokenRoleAssertion: true,
      idTokenRoleAssertion: true,
      idTokenUserinfoAssertion: true,
      clockSkew: '5s',
      additionalOrigins: ['https://app.example.com'],
      skipNativeAppSuccessPage: true,
      backChannelLogoutUri: 'https://app.example.com/signed-out',
    }
    const ours = {
      firstParty: true,
      rosterApi: true,
      idTokenAlgorithm: 'ID_TOKEN_ALGORITHM_EDDSA',
      accessTokenLifetime: '60s',
      organizationId: home,
    }
    const { appId, clientSecret } = await act('AddOIDCApplication', { projectId, name: 'App', ...settings, ...ours })
    expect(clientSecret).toBeUndefined()
    const whole = async () => (await act('GetApplication', { projectId, appId })).application.oidcConfig
    const shown = async () => {
      const { effective: _, ...said } = await whole()
      return said
    }
    const { clientId, effective } = await whole()
    const all = Object.entries({ ...settings, ...ours })
    const works = Object.fromEntries(all.filter(([field]) => field in defaults))
    expect(effective).toEqual({ ...defaults, ...works })
    expect(await shown()).toEqual({ clientId, ...settings, ...ours })
    await act('UpdateOIDCConfig', { projectId, appId, grantTypes: settings.grantTypes })
    const replaced = { responseTypes: settings.responseTypes, grantTypes: settings.grantTypes }
    expect(await shown()).toEqual({ clientId, ...replaced, ...ours })
    await act('UpdateOIDCConfig', {
      projectId,
      appId,
      firstParty: false,
      accessTokenLifetime: '0s',
      organizationId: '',
    })
    expect(await shown()).not.toHaveProperty('firstParty')
    expect(await shown()).not.toHaveProperty('accessTokenLifetime')
    expect(await shown()).not.toHaveProperty('organizationId')
  })

  test('settings name an organization that is there, and keep the one that is gone until they name another', async () => {
    const [other, gone] = [await newOrganization(), await newOrganization()]
    const { appId } = await act('AddOIDCApplication', { projectId, name: 'App', organizationId: gone })
    const change = (more: JsonObject) => json('UpdateOIDCConfig', { projectId, appId, ...more }, admin(home))
    ok(await json('DeactivateOrganization', {}, admin(gone)))
    ok(await change({ devMode: true }))
    ok(await change({ organizationId: gone }))
    ok(await change({ organizationId: other }))
    const { oidcConfig } = (await act('GetApplication', { projectId, appId })).application
    expect(oidcConfig.organizationId).toBe(other)
    const refused = { code: 3, reason: 'VALIDATION_FAILED', fields: ['organizationId'] }
    for (const organizationId of [gone, unique('unknown'), 'x'.repeat(201)]) {
      expect(factsOf(await change({ organizationId }))).toMatchObject(refused)
      const added = await json('AddOIDCApplication', { projectId, name: 'App', organizationId }, admin(home))
      expect(factsOf(added)).toMatchObject(refused)
    }
  })

  test('only with a role on the instance an application acts in Roster, changes once it does, or names pages of its own', async () => {
    const owner = await newMember(home, ['ORG_OWNER'])
    const asOwner = async (...[operation, request]: Parameters<typeof call>) =>
      reason(await call(operation, { projectId, ...request }, { ...admin(home), token: owner.token }))
    const pages = { loginVersion: { loginV2: { baseUri: 'https://login.example.com' } } }
    const keys = { authMethodType: 'OIDC_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT' }
    const [plain, trusted, signing] = [
      (await act('AddOIDCApplication', { projectId, name: 'App' })).appId,
      (await act('AddOIDCApplication', { projectId, name: 'App', rosterApi: true })).appId,
      (await act('AddOIDCApplication', { projectId, name: 'App', rosterApi: true, ...keys })).appId,
    ]
    for (const settings of [{ rosterApi: true }, pages])
      expect([
        await asOwner('AddOIDCApplication', { name: 'App', ...settings }),
        await asOwner('UpdateOIDCConfig', { appId: plain, ...settings }),
      ]).toEqual(['PERMISSION_DENIED', 'PERMISSION_DENIED'])
    const redirectUris = ['https://evil.example.com/']
    const changes = [
      await asOwner('UpdateOIDCConfig', { appId: trusted, redirectUris }),
      await asOwner('UpdateOIDCConfig', { appId: trusted, redirectUris, rosterApi: false }),
      await asOwner('UpdateApplication', { appId: trusted, name: 'Roster' }),
      await asOwner('GenerateClientSecret', { appId: trusted }),
      await asOwner('AddApplicationKey', { appId: signing, expirationDate: inSeconds(3600) }),
    ]
    expect(new Set(changes)).toEqual(new Set(['PERMISSION_DENIED']))
    await act('UpdateOIDCConfig', { projectId, appId: plain, ...pages })
    expect(await asOwner('UpdateOIDCConfig', { appId: plain, ...pages, redirectUris })).toBe('ok')
    expect(await asOwner('DeactivateApplication', { appId: trusted })).toBe('ok')
    expect(await asOwner('ReactivateApplication', { appId: trusted })).toBe('PERMISSION_DENIED')
    expect(await asOwner('RemoveApplication', { appId: trusted })).toBe('ok')
  })

  test('a secret is shown once: a new one replaces it, and a retry by key shows the same one again', async () => {
    const keyed = { ...admin(home), headers: { 'idempotency-key': randomUUID() } }
    const request = { projectId, name: unique('App') }
    const first = ok(await call('AddOIDCApplication', request, keyed))
    expect(first.clientSecret).toMatch(/^[\w-]{43}$/)
    expect(ok(await call('AddOIDCApplication', request, keyed))).toEqual(first)
    const own = { projectId, appId: first.appId }
    expect(JSON.stringify(await act('GetApplication', own))).not.toContain(first.clientSecret)
    const again = { ...admin(home), headers: { 'idempotency-key': randomUUID() } }
    const next = ok(await call('GenerateClientSecret', own, again))
    expect(next.clientSecret).toMatch(/^[\w-]{43}$/)
    expect(next.clientSecret).not.toBe(first.clientSecret)
    expect(ok(await call('GenerateClientSecret', own, again))).toEqual(next)
    expect(await hashesOf(first.appId)).toEqual([sha256(next.clientSecret)])
  })

  test('a chosen client id is that of the application, and no other one ever gets it', async () => {
    const clientId = `${Date.now()}@${unique('my_(project)+1')}`
    const add = (operation: 'AddOIDCApplication' | 'AddAPIApplication', id = clientId) =>
      ask(operation, { projectId, name: 'Kept', clientId: id })
    const { appId, ...added } = ok(await add('AddOIDCApplication'))
    expect(added.clientId).toBe(clientId)
    expect(reason(await add('AddAPIApplication'))).toBe('CLIENT_ID_TAKEN')
    await act('RemoveApplication', { projectId, appId })
    expect(reason(await add('AddAPIApplication'))).toBe('CLIENT_ID_TAKEN')
    const other = await newApplication(home, projectId)
    expect(reason(await add('AddAPIApplication', other.clientId))).toBe('CLIENT_ID_TAKEN')
  })

  test('a chosen client id is none that a user could be meant by', async () => {
    const add = async (clientId: string) =>
      reason(await ask('AddAPIApplication', { projectId, name: 'Kept', clientId }))
    const machine = await newMachine(home)
    expect(await add(machine)).toBe('CLIENT_ID_TAKEN')
    ok(await json('DeleteUser', { userId: machine }, admin(home)))
    expect(await add(machine)).toBe('CLIENT_ID_TAKEN')
    const { primaryDomain } = ok(await json('GetMyOrganization', {}, admin(home))).organization
    for (const domain of [
      primaryDomain,
      primaryDomain.toUpperCase(),
      unique('later') + primaryDomain.replace(/^[^.]+/, ''),
    ])
      expect(await add(`${unique('robot')}@${domain}`)).toBe('CLIENT_ID_TAKEN')
    const domain = `${unique('domain')}.example.com`
    ok(await json('SetPrimaryDomain', { domain }, admin(abroad)))
    expect(await add(`${unique('robot')}@${domain}`)).toBe('CLIENT_ID_TAKEN')
    expect(await add(unique('robot'))).toBe('ok')
  })

  test('an API signs with keys: a new pair, or its own public key once, until they end or are removed', async () => {
    const { appId, clientId } = await newSigningApi(home, projectId)
    const own = { projectId, appId }
    const listed = async () => (await act('ListApplicationKeys', own)).keys
    const made = await act('AddApplicationKey', { ...own, type: 'KEY_TYPE_JSON', algorithm: 'KEY_ALGORITHM_ES256' })
    const file = JSON.parse(Buffer.from(made.keyDetails, 'base64').toString('utf8'))
    const key = expect.stringMatching(/^-----BEGIN PRIVATE KEY-----\n/)
    expect(file).toEqual({ type: 'application', keyId: made.keyId, key, appId, clientId })
    const { pem, jwk } = examplePair('EdDSA')
    const expirationDate = inSeconds(3600)
    const given = await act('AddApplicationKey', { ...own, publicKey: pem, expirationDate })
    expect(given).not.toHaveProperty('keyDetails')
    expect(reason(await ask('AddApplicationKey', { ...own, publicKey: jwk }))).toBe('KEY_EXISTS')
    expect(await listed()).toMatchObject([
      { keyId: made.keyId, algorithm: 'KEY_ALGORITHM_ES256' },
      { keyId: given.keyId, algorithm: 'KEY_ALGORITHM_EDDSA', expirationDate },
    ])
    expect(JSON.parse((await listed())[1].publicKey)).toEqual(JSON.parse(jwk))
    await act('RemoveApplicationKey', { ...own, keyId: made.keyId })
    expect(reason(await ask('RemoveApplicationKey', { ...own, keyId: made.keyId }))).toBe('CREDENTIAL_NOT_FOUND')
    const brief = await act('AddApplicationKey', { ...own, publicKey: examplePair().pem, expirationDate: inSeconds(1) })
    await sleep(1500)
    expect((await listed()).map(({ keyId }: any) => keyId)).toEqual([given.keyId])
    expect(reason(await ask('RemoveApplicationKey', { ...own, keyId: brief.keyId }))).toBe('CREDENTIAL_NOT_FOUND')
  })

  test('an application has only what its method of authentication uses', async () => {
    const { appId } = await newApplication(home, projectId)
    const own = { projectId, appId }
    const method = (name: string) =>
      act('UpdateOIDCConfig', { ...own, authMethodType: `OIDC_AUTH_METHOD_TYPE_${name}` })
    const publicKey = examplePair().pem
    const addKey = () => ask('AddApplicationKey', { ...own, publicKey })
    expect(reason(await addKey())).toBe('AUTH_METHOD_WITHOUT_KEYS')
    await method('POST')
    expect(await hashesOf(appId)).toHaveLength(1)
    await method('PRIVATE_KEY_JWT')
    expect(await hashesOf(appId)).toEqual([])
    expect(reason(await ask('GenerateClientSecret', own))).toBe('AUTH_METHOD_WITHOUT_SECRET')
    ok(await addKey())
    await method('BASIC')
    await method('PRIVATE_KEY_JWT')
    expect((await act('ListApplicationKeys', own)).keys).toBeUndefined()
    await method('BASIC')
    await act('GenerateClientSecret', own)
    expect(await hashesOf(appId)).toHaveLength(1)
    await act('RemoveApplication', own)
    expect(await hashesOf(appId)).toEqual([])
  })

  test('a search finds them by name and state, page by page, only for the owner of the project', async () => {
    const project = await newProject(home)
    const add = (name: string) => newApplication(home, project, { name })
    for (const name of ['beta', 'Alpha', 'ＡＬＰＨＡ 2']) await add(name)
    const last = await add('Gamma')
    await newApplication(home, projectId, { name: 'Alpha elsewhere' })
    const names = async (request: JsonObject = {}, organization = home) =>
      (
        ok(await call('SearchApplications', { projectId: project, ...request }, admin(organization))).applications ?? []
      ).map(({ name }: any) => name)
    expect(await names()).toEqual(['Alpha', 'ＡＬＰＨＡ 2', 'beta', 'Gamma'])
    expect(await names({}, abroad)).toEqual([])
    const name = { text: 'alpha', method: 'TEXT_QUERY_METHOD_STARTS_WITH_IGNORE_CASE' }
    expect(await names({ name })).toEqual(['Alpha', 'ＡＬＰＨＡ 2'])
    // By HTTP it has a path of its own.
    const everywhere = async (organization = home) => {
      const request = { name, limit: 1000 }
      const { applications = [] } = ok(await callConnectJson('SearchApplications', request, admin(organization)))
      return applications.map(({ name }: any) => name)
    }
    expect(await everywhere()).toEqual(expect.arrayContaining(['Alpha', 'ＡＬＰＨＡ 2', 'Alpha elsewhere']))
    expect(await everywhere(abroad)).toEqual([])
    const page = await act('SearchApplications', { projectId: project, limit: 3, withTotal: true })
    expect(page).toMatchObject({ total: 4 })
    const cursor = page.nextCursor
    expect(await names({ limit: 3, cursor })).toEqual(['Gamma'])
    const { application } = await act('GetApplication', { projectId: project, appId: last.appId })
    expect((await act('SearchApplications', { projectId: project, limit: 3, cursor })).applications).toEqual([
      application,
    ])
    await act('DeactivateApplication', { projectId: project, appId: last.appId })
    expect(await names({ state: 'APPLICATION_STATE_INACTIVE' })).toEqual(['Gamma'])
    await act('UpdateApplication', { projectId: project, appId: last.appId, name: 'aardvark' })
    expect(await names()).toEqual(['aardvark', 'Alpha', 'ＡＬＰＨＡ 2', 'beta'])
    await act('RemoveApplication', { projectId: project, appId: last.appId })
    expect(await names()).toEqual(['Alpha', 'ＡＬＰＨＡ 2', 'beta'])
  })

  test('a project has at most 100 of them, and an application 20 keys', { timeout: 60_000 }, async () => {
    const project = await newProject(home)
    const add = () => ask('AddAPIApplication', { projectId: project, name: 'API' })
    for (let n = 0; n < 9; n++) await Promise.all(Array.from({ length: 11 }, add))
    const { appId } = await newSigningApi(home, project)
    const limit = { code: 8, reason: 'LIMIT_REACHED' }
    expect(factsOf(await add())).toMatchObject({ ...limit, metadata: { limit: 'project.applications', most: '100' } })
    await act('RemoveApplication', { projectId: project, appId })
    const { appId: other } = await newSigningApi(home, project)
    const addKey = () => ask('AddApplicationKey', { projectId: project, appId: other, publicKey: examplePair().pem })
    await Promise.all(Array.from({ length: 20 }, addKey))
    expect(factsOf(await addKey())).toMatchObject({ ...limit, metadata: { limit: 'application.keys', most: '20' } })
  })
})

test('applications go with their project, and with their organization', async () => {
  const organization = await newOrganization()
  const [one, other] = [await newProject(organization), await newProject(organization)]
  const gone = [await newApplication(organization, one), await newApplication(organization, other)]
  const get = async ({ projectId, appId }: { projectId: string; appId: string }) =>
    reason(await json('GetApplication', { projectId, appId }, admin(organization)))
  ok(await json('RemoveProject', { projectId: one }, admin(organization)))
  const again = await json('AddOIDCApplication', { projectId: one, name: 'App' }, admin(organization))
  expect(reason(again)).toBe('PROJECT_NOT_FOUND')
  await expect.poll(() => get(gone[0]!), { timeout: 20_000 }).toBe('APPLICATION_NOT_FOUND')
  expect(await get(gone[1]!)).toBe('ok')
  const { events } = ok(
    await json('SearchOrganizationEvents', { filter: { aggregateIds: [one, gone[0]!.appId] } }, admin(organization)),
  )
  const [removal, loss] = ['roster.project.removed.v1', 'roster.application.removed.v1'].map((type) =>
    events.find((event: any) => event.type === type),
  )
  expect(loss).toMatchObject({ causationId: removal.id })
  ok(await json('RemoveOrganization', { orgId: organization }, admin()))
  if (!sql) return
  const left = () => sql`select from roster_grants.applications where organization_id = ${organization}`
  await expect.poll(left, { timeout: 20_000 }).toHaveLength(0)
  for (const { appId } of gone) expect(await hashesOf(appId)).toEqual([])
})

test('nothing begins in a deactivated organization', async () => {
  const organization = await newOrganization()
  const project = await newProject(organization)
  ok(await json('DeactivateOrganization', {}, admin(organization)))
  for (const operation of ['AddOIDCApplication', 'AddAPIApplication'] as const)
    expect(reason(await json(operation, { projectId: project, name: 'App' }, admin(organization)))).toBe(
      'ORGANIZATION_INACTIVE',
    )
})

describe('settings that are refused, each by its field:', () => {
  const native = { appType: 'OIDC_APP_TYPE_NATIVE' }
  test.each<[string, JsonObject, string[]]>([
    ['a redirect URI by http', { redirectUris: ['https://a.example/', 'http://a.example/'] }, ['redirectUris[1]']],
    ['one that is too long', { redirectUris: [`https://a.example/${'a'.repeat(2000)}`] }, ['redirectUris[0]']],
    [
      '51 redirect URIs',
      { redirectUris: Array.from({ length: 51 }, (_, n) => `https://a.example/${n}`) },
      ['redirectUris'],
    ],
    ['a star in a host', { redirectUris: ['https://*.example.com/a'] }, ['redirectUris[0]']],
    [
      'a star directly under a public suffix',
      { devMode: true, postLogoutRedirectUris: ['https://*.example.com/', 'https://*.vercel.app/'] },
      ['postLogoutRedirectUris[1]'],
    ],
    [
      'a star in the address of pages',
      { devMode: true, loginVersion: { loginV2: { baseUri: 'https://*.example.com' } } },
      ['loginVersion.loginV2.baseUri'],
    ],
    ['a scheme without a dot', { ...native, redirectUris: ['myapp:/a'] }, ['redirectUris[0]']],
    ['a script after signing out', { postLogoutRedirectUris: ['javascript:alert(1)'] }, ['postLogoutRedirectUris[0]']],
    ['a back-channel by http', { devMode: true, backChannelLogoutUri: 'http://localhost/' }, ['backChannelLogoutUri']],
    ['a private back-channel', { backChannelLogoutUri: 'https://10.0.0.1/' }, ['backChannelLogoutUri']],
    ['one in another spelling', { backChannelLogoutUri: 'https://0x7f.2/' }, ['backChannelLogoutUri']],
    ['an implicit grant', { grantTypes: ['OIDC_GRANT_TYPE_REFRESH_TOKEN'] }, ['grantTypes']],
    ['a secret in the browser', { appType: 'OIDC_APP_TYPE_USER_AGENT' }, ['authMethodType']],
    ['no PKCE for a native application', { ...native, allowMissingPkce: true }, ['allowMissingPkce']],
    [
      'no PKCE for a public client',
      { authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE', allowMissingPkce: true },
      ['allowMissingPkce'],
    ],
    ['a clock skew of 6 s', { clockSkew: '6s' }, ['clockSkew']],
    ['a clock skew below a second', { clockSkew: '0.5s' }, ['clockSkew']],
    ['a negative clock skew', { clockSkew: '-1s' }, ['clockSkew']],
    ['tokens of 59 s', { accessTokenLifetime: '59s' }, ['accessTokenLifetime']],
    ['tokens of more than a day', { accessTokenLifetime: '86401s' }, ['accessTokenLifetime']],
    ['two at once', { redirectUris: ['a'], clockSkew: '6s' }, ['redirectUris[0]', 'clockSkew']],
  ])('%s', async (_, settings, fields) => {
    const facts = { code: 3, reason: 'VALIDATION_FAILED', fields }
    const added = await json('AddOIDCApplication', { projectId, name: 'App', ...settings }, admin(home))
    expect(factsOf(added)).toMatchObject(facts)
    const { appId } = await newApplication(home, projectId)
    const changed = await json('UpdateOIDCConfig', { projectId, appId, ...settings }, admin(home))
    expect(factsOf(changed)).toMatchObject(facts)
  })

  test('an address for back-channel logouts is https, in development too', async () => {
    const request = { projectId, name: 'App', devMode: true, backChannelLogoutUri: 'http://localhost/' }
    const { error } = await json('AddOIDCApplication', request, admin(home))
    expect(JSON.stringify(error)).toContain('must be https"')
  })

  test('an application with a chosen client id keeps its scheme without a dot', async () => {
    const settings = { ...native, authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE', redirectUris: ['myapp:/a'] }
    const kept = await newApplication(home, projectId, { ...settings, clientId: unique('kept') })
    ok(await json('UpdateOIDCConfig', { projectId, appId: kept.appId, ...settings, devMode: true }, admin(home)))
  })

  test('a setting that stays is judged with those that change', async () => {
    const { appId } = await newApplication(home, projectId, { allowMissingPkce: true })
    const answer = await json('UpdateOIDCConfig', { projectId, appId, ...native }, admin(home))
    expect(factsOf(answer)).toMatchObject({ reason: 'VALIDATION_FAILED', fields: ['allowMissingPkce'] })
  })
})

async function hashesOf(appId: string): Promise<string[]> {
  if (!sql) return []
  const rows = await sql<{ hash: Buffer }[]>`
    select hash from roster_grants.application_secrets where application_id = ${appId}
  `
  return rows.map(({ hash }) => hash.toString('hex'))
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
