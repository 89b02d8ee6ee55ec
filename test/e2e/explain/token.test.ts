import { describe, expect, test } from 'vitest'
import { inSeconds, newSignedInMachine } from '../../examples/machines.ts'
import { type ExampleClient, issuer, newClient, obtainToken } from '../../examples/oauth.ts'
import { admin, newHuman, newMember, newOrganization, ok, signIn, unique } from '../../examples/people.ts'
import { introspect, itself, newAskingApplication, revoke } from '../../examples/person-tokens.ts'
import { newCode, openBrowser, redeem, refresh } from '../../examples/sign-in.ts'
import { call } from '../clients/encodings.ts'
import { act } from './sign-in-scenes.ts'

/** A person, an application of another organization, and machines of both that introspect. */
async function setScene(more: object = {}) {
  const [home, owner] = [await newOrganization(), await newOrganization()]
  const { id: projectId } = await act('AddProject', { name: unique('Project'), hasProjectCheck: false }, owner)
  const grantTypes = ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN']
  const application = await newAskingApplication(owner, projectId, { grantTypes, ...more })
  const person = await newHuman(home, { password: unique('Password') })
  const [watcher, api] = [await newClient({ organization: home }), await newClient({ organization: owner })]
  return { home, owner, projectId, application, person, watcher, api, browser: openBrowser() }
}
type Scene = Awaited<ReturnType<typeof setScene>>

async function tokensOf(
  { person, application, browser }: Scene,
  scope = 'openid profile offline_access',
): Promise<Tokens> {
  const code = await newCode(person, application, { scope }, browser)
  const { body } = await redeem(application, code)
  return { code, access: body.access_token, refreshToken: body.refresh_token, idToken: body.id_token }
}
type Tokens = Record<'code' | 'access' | 'refreshToken' | 'idToken', string>

const explain = async (token: string, as: { token: string } = admin()) =>
  ok(await call('ExplainToken', { token }, { ...as, organization: undefined }))
const without = (prefix: string, text = '') => text.replace(prefix, '')
/** The kind; and why it is not active. */
const short = ({ kind, active = false, reason, ground }: any) =>
  [
    without('TOKEN_KIND_', kind) || 'UNKNOWN',
    active ? 'active' : without('TOKEN_REASON_', reason),
    ...(ground ? [without('SIGN_IN_REASON_', ground.reason)] : []),
  ].join(' ')
const clientOf = ({ userId, secret }: ExampleClient) => ({ clientId: userId, clientSecret: secret })
const isActive = async (client: ExampleClient, token: string) =>
  (await introspect(clientOf(client), token)).active === true

const unknown = 'UNKNOWN UNKNOWN'

describe('a token is told with its owner and what it opens:', () => {
  test('of a person, for an application', async () => {
    const scene = await setScene()
    const { person, application, projectId, home, api } = scene
    const tokens = await tokensOf(scene)
    const own = { userId: person.userId, organizationId: home, clientId: application.clientId }
    const access = await explain(tokens.access)
    expect(short(access)).toBe('ACCESS_OF_PERSON active')
    expect(access).toMatchObject({
      ...own,
      appId: application.appId,
      audience: [projectId],
      scopes: ['openid', 'profile', 'offline_access'],
      expirationDate: expect.any(String),
      creationDate: expect.any(String),
    })
    expect(access.actsInRoster).toBeUndefined()
    expect(await isActive(api, tokens.access)).toBe(true)
    // As it stands in a header, too.
    expect(await explain(` Bearer ${tokens.access}\n`)).toEqual(access)
    const refreshToken = await explain(tokens.refreshToken)
    expect([short(refreshToken), refreshToken.sessionId]).toEqual(['REFRESH active', access.sessionId])
    expect(refreshToken).toMatchObject({ ...own, appId: application.appId })
    const idToken = await explain(tokens.idToken)
    expect([short(idToken), idToken.sessionId]).toEqual(['ID active', access.sessionId])
    expect(idToken).toMatchObject({ ...own, audience: [application.clientId] })
    expect(short(await explain(tokens.code))).toBe('CODE USED')
    const fresh = await newCode(person, application, {}, scene.browser)
    expect(short(await explain(fresh))).toBe('CODE active')
    // Neither was used by that.
    expect((await redeem(application, fresh)).status).toBe(200)
    expect((await refresh(application, tokens.refreshToken)).status).toBe(200)
    const rosters = await explain((await tokensOf(scene, `openid ${itself}`)).access)
    expect(rosters.actsInRoster).toBe(true)
  })

  test('of a session, and of a machine', async () => {
    const { home, person, watcher, owner } = await setScene()
    const session = await signIn(person)
    const told = await explain(session)
    expect([short(told), told.userId, told.actsInRoster]).toEqual(['SESSION active', person.userId, true])
    const { sessions } = await act('SearchUserSessions', { userId: person.userId })
    expect(told.sessionId).toBe(sessions[0].id)
    const machine = await newSignedInMachine(home)
    const pat = await explain(machine.token)
    expect([short(pat), pat.credentialId]).toEqual(['PERSONAL_ACCESS active', machine.tokenId])
    for (const jwt of [false, true]) {
      const client = await newClient({ organization: owner, jwt })
      const access = await obtainToken(client, 'openid')
      const { userId, secretId } = client
      const ofMachine = await explain(access)
      expect(short(ofMachine)).toBe('ACCESS_OF_MACHINE active')
      expect(ofMachine).toMatchObject({
        userId,
        clientId: userId,
        credentialId: secretId,
        audience: [issuer()],
        scopes: ['openid'],
      })
    }
    for (const token of [session, machine.token]) expect(await isActive(watcher, token)).toBe(true)
  })
})

type Change = (scene: Scene, tokens: Tokens) => Promise<unknown>

/** What ends tokens of a person; what is said of the access token, as a JWT, and of the refresh token. */
const ends: [string, Change, string, string][] = [
  ['nothing', async () => {}, 'ACCESS_OF_PERSON active', 'REFRESH active'],
  [
    'the user is locked',
    ({ person: { userId } }) => act('LockUser', { userId }),
    'ACCESS_OF_PERSON GROUND USER_LOCKED',
    'REFRESH GROUND USER_LOCKED',
  ],
  [
    'the user has another password',
    ({ person: { userId } }) => act('SetPassword', { userId, newPassword: { password: unique('New') } }),
    'ACCESS_OF_PERSON TAKEN_BACK',
    'REFRESH GROUND SIGNED_OUT',
  ],
  [
    'the consent is taken back',
    ({ person: { userId }, application: { appId: applicationId } }) =>
      act('WithdrawConsent', { userId, applicationId }),
    'ACCESS_OF_PERSON GROUND CONSENT_WITHDRAWN',
    'REFRESH GROUND CONSENT_WITHDRAWN',
  ],
  [
    'the refresh token is revoked',
    ({ application }, { refreshToken }) => revoke(application, refreshToken),
    'ACCESS_OF_PERSON TAKEN_BACK',
    'REFRESH TAKEN_BACK',
  ],
  [
    'the access token is revoked',
    ({ application }, { access }) => revoke(application, access),
    'ACCESS_OF_PERSON TAKEN_BACK',
    'REFRESH active',
  ],
  [
    'the project wants a grant',
    async ({ projectId, owner }) => {
      const { project } = await act('GetProject', { projectId }, owner)
      await act('UpdateProject', { projectId, name: project.name, projectRoleCheck: true }, owner)
    },
    'ACCESS_OF_PERSON GROUND ROLE_CHECK',
    'REFRESH GROUND ROLE_CHECK',
  ],
  [
    'the application is deactivated',
    ({ projectId, application: { appId }, owner }) => act('DeactivateApplication', { projectId, appId }, owner),
    'ACCESS_OF_PERSON GROUND APPLICATION_CLOSED',
    'REFRESH GROUND APPLICATION_CLOSED',
  ],
  [
    'the policy demands another factor',
    ({ home }) => act('UpdateLoginPolicy', { settings: { forceMfa: true } }, home),
    'ACCESS_OF_PERSON FACTOR_MISSING FACTOR',
    'REFRESH FACTOR_MISSING FACTOR',
  ],
]

describe('a token of a person is as active as introspection says, and the reason is told, where', () => {
  test.concurrent.for(ends)('%s', async ([, end, ofAccess, ofRefresh], { expect }) => {
    const scene = await setScene({ accessTokenType: 'OIDC_TOKEN_TYPE_JWT' })
    const tokens = await tokensOf(scene)
    await end(scene, tokens)
    await expect.poll(async () => short(await explain(tokens.access))).toBe(ofAccess)
    await expect.poll(async () => short(await explain(tokens.refreshToken))).toBe(ofRefresh)
    expect(await isActive(scene.api, tokens.access)).toBe(ofAccess.endsWith(' active'))
    const { active = false } = await introspect(scene.application, tokens.refreshToken)
    expect(active).toBe(ofRefresh.endsWith(' active'))
  })
})

describe('so is one of a session or a machine, where', () => {
  test('it has expired, was removed, or its owner may not sign in', async () => {
    const { home, watcher } = await setScene()
    const { userId, token, tokenId } = await newSignedInMachine(home)
    const request = { userId, expirationDate: inSeconds(3) }
    const brief = (await act('AddPersonalAccessToken', request)).token
    await expect.poll(async () => short(await explain(brief)), { timeout: 10_000 }).toBe('PERSONAL_ACCESS EXPIRED')
    // Who calls with it is told as much.
    const refused = await call('GetMyUser', {}, { token: brief, organization: undefined })
    expect(JSON.stringify(refused)).toContain('The bearer token has expired.')
    await act('LockUser', { userId })
    const locked = short(await explain(token))
    expect(['PERSONAL_ACCESS GROUND USER_LOCKED', unknown]).toContain(locked)
    await act('UnlockUser', { userId })
    await act('RemovePersonalAccessToken', { userId, tokenId })
    expect(short(await explain(token))).toBe(unknown)
    for (const each of [brief, token]) expect(await isActive(watcher, each)).toBe(false)
  })

  test('a factor is missing, it was ended, or the organization is closed', async () => {
    const { home, person, watcher } = await setScene()
    const [session, { token: pat }] = [await signIn(person), await newSignedInMachine(home)]
    await act('UpdateLoginPolicy', { settings: { forceMfa: true } }, home)
    const partial = await explain(session)
    expect(short(partial)).toBe('SESSION FACTOR_MISSING')
    expect(partial.missingFactors).toEqual(['AUTHENTICATION_METHOD_TYPE_OTP_EMAIL'])
    expect(await isActive(watcher, session)).toBe(false)
    await act('DeleteSession', { sessionId: partial.sessionId })
    expect(short(await explain(session))).toBe(unknown)
    await act('DeactivateOrganization', {}, home)
    await expect.poll(async () => short(await explain(pat))).toBe('PERSONAL_ACCESS GROUND ORGANIZATION_CLOSED')
  })
})

test('what is wrong with a JWT is told to everybody, and what it says of itself is not believed', async () => {
  const scene = await setScene({ accessTokenType: 'OIDC_TOKEN_TYPE_JWT' })
  const { access } = await tokensOf(scene)
  const [header, payload, signature] = access.split('.') as [string, string, string]
  const change = (part: string, more: object) =>
    Buffer.from(
      JSON.stringify({ ...(JSON.parse(Buffer.from(part, 'base64url').toString()) as object), ...more }),
    ).toString('base64url')
  const stranger = await newMember(await newOrganization(), [])
  for (const [text, says] of [
    [`${header}.${change(payload, { sub: 'another' })}.${signature}`, 'UNKNOWN SIGNATURE_WRONG'],
    [`${change(header, { kid: 'another' })}.${payload}.${signature}`, 'UNKNOWN KEY_UNKNOWN'],
    [`${header}.${change(payload, { iss: 'https://other.example' })}.${signature}`, 'UNKNOWN OTHER_ISSUER'],
    [`${header}.${payload}`, unknown],
    [unique('no-token'), unknown],
  ] as const) {
    const told = await explain(text, stranger)
    expect([short(told), told.userId ?? '']).toEqual([says, ''])
  }
})

test('only those learn of a token who may read its user; all others get the answer of an unknown one', async () => {
  const scene = await setScene()
  const { home, owner, person } = scene
  const { access, refreshToken, idToken } = await tokensOf(scene)
  const machine = await newSignedInMachine(home)
  const session = await signIn(person)
  const self = { token: session }
  const told = async (as: { token: string }, token: string) => short(await explain(token, as))
  const none = await explain(unique('no-token'))
  const [manager, foreign, ordinary] = [
    await newMember(home, ['ORG_USER_MANAGER']),
    await newMember(owner, ['ORG_OWNER']),
    await newMember(home, []),
  ]
  for (const token of [access, refreshToken, idToken, session]) {
    for (const as of [manager, self]) expect(await told(as, token)).toMatch(/ active$/)
    for (const as of [foreign, ordinary]) expect(await explain(token, as)).toEqual(none)
  }
  expect(await told(manager, machine.token)).toBe('PERSONAL_ACCESS active')
  for (const as of [foreign, ordinary, self]) expect(await explain(machine.token, as)).toEqual(none)
})
