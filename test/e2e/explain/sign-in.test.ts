import { describe, expect, test } from 'vitest'
import { admin, newHuman, newMember, ok, unique, signIn } from '../../examples/people.ts'
import { grantProject } from '../../examples/projects.ts'
import { authorizePath, newCode, openBrowser, redeem, redirectUri } from '../../examples/sign-in.ts'
import { revoke } from '../../examples/person-tokens.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'
import { act, doorOf, type Event, refresh, setSignInScene, signInOnce, type SignInScene } from './sign-in-scenes.ts'

const prefix = 'SIGN_IN_REASON_'
/** The reason of a refusal, or what is missing, each with its object. */
const short = ({ allowed = false, refusal, missing = [] }: any): string => {
  const name = ({ reason, objectType = '' }: any) => `${reason.slice(prefix.length)} ${objectType}`.trim()
  if (allowed) return 'allowed'
  return refusal ? `refused: ${name(refusal)}` : missing.map(name).join(', ')
}
const explain = async (
  { person: { userId }, application: { clientId } }: SignInScene,
  more: object = {},
  as = admin(),
) => ok(await call('ExplainSignIn', { userId, clientId, ...more }, as))

type Change = (scene: SignInScene) => Promise<unknown>
const nothing: Change = async () => {}
const ofUser =
  (operation: Parameters<typeof act>[0]): Change =>
  ({ person: { userId } }) =>
    act(operation, { userId })
const ofApplication =
  (operation: Parameters<typeof act>[0]): Change =>
  ({ projectId, application: { appId }, owner }) =>
    act(operation, { projectId, appId }, owner)
const checks =
  (more: object): Change =>
  async ({ projectId, owner }) => {
    const { project } = await act('GetProject', { projectId }, owner)
    await act('UpdateProject', { projectId, name: project.name, ...more }, owner)
  }
const inTurn =
  (...changes: Change[]): Change =>
  async (scene) => {
    for (const change of changes) await change(scene)
  }
const other = 'urn:zitadel:iam:org:id:another'

interface Case {
  name: string
  change?: Change
  /** Of the request, and as the explanation names it. */
  asked?: Record<string, string>
  explained?: object
  says: string
  door: string[]
}

/** What is so, what an explanation says, and what the pages did. */
const cases: Case[] = [
  { name: 'nothing is missing', says: 'allowed', door: ['code'] },
  {
    name: 'the session has ended',
    change: ({ sessionId }) => act('DeleteSession', { sessionId }),
    says: 'PERSON session',
    door: ['sign in', 'code'],
  },
  {
    name: 'an account has to be chosen',
    asked: { prompt: 'select_account' },
    explained: { prompts: ['select_account'] },
    says: 'ACCOUNT',
    door: ['accounts'],
  },
  {
    name: 'the password is asked for again',
    asked: { prompt: 'login' },
    explained: { prompts: ['login'] },
    says: 'FRESH_FACTOR session',
    door: ['password'],
  },
  {
    name: 'the password is too old',
    asked: { max_age: '0' },
    explained: { maxAge: 0 },
    says: 'FRESH_FACTOR session',
    door: ['password'],
  },
  {
    name: 'the application asks for a second factor',
    asked: { acr_values: 'urn:roster:acr:2' },
    explained: { acrValues: ['urn:roster:acr:2'] },
    says: 'CONTEXT',
    door: ['code'],
  },
  {
    name: 'a scope was never given',
    asked: { scope: 'openid email' },
    explained: { scopes: ['openid', 'email'] },
    says: 'CONSENT user.consent',
    door: ['consent'],
  },
  {
    name: 'all is asked for again',
    asked: { prompt: 'consent login' },
    explained: { prompts: ['login', 'consent'] },
    says: 'FRESH_FACTOR session, CONSENT user.consent',
    door: ['password'],
  },
  {
    name: 'the user is locked',
    change: ofUser('LockUser'),
    says: 'refused: USER_LOCKED user',
    door: ['sign in', 'credentials invalid'],
  },
  {
    name: 'the user is deactivated',
    change: ofUser('DeactivateUser'),
    says: 'refused: USER_INACTIVE user',
    door: ['sign in', 'credentials invalid'],
  },
  {
    name: 'the organization of the user is closed',
    change: ({ home }) => act('DeactivateOrganization', {}, home),
    says: 'refused: ORGANIZATION_CLOSED organization',
    door: ['sign in', 'credentials invalid'],
  },
  {
    name: 'the application is deactivated',
    change: ofApplication('DeactivateApplication'),
    says: 'refused: APPLICATION_CLOSED application',
    door: ['client unknown'],
  },
  {
    name: 'the application is removed',
    change: ofApplication('RemoveApplication'),
    says: 'refused: APPLICATION_CLOSED',
    door: ['client unknown'],
  },
  {
    name: 'the project is deactivated',
    change: ({ projectId, owner }) => act('DeactivateProject', { projectId }, owner),
    says: 'refused: APPLICATION_CLOSED project',
    door: ['client unknown'],
  },
  {
    name: 'the organization of the project is closed',
    change: ({ owner }) => act('DeactivateOrganization', {}, owner),
    says: 'refused: PROJECT_ORGANIZATION_CLOSED organization',
    door: ['no access'],
  },
  {
    name: 'another organization is asked for',
    asked: { scope: `openid ${other}` },
    explained: { scopes: ['openid', other] },
    says: 'refused: OTHER_ORGANIZATION organization',
    door: ['no access'],
  },
  {
    name: 'the project checks who comes',
    change: checks({ hasProjectCheck: true }),
    says: 'refused: PROJECT_CHECK project',
    door: ['no access'],
  },
  {
    name: 'the project wants a grant',
    change: checks({ projectRoleCheck: true }),
    says: 'refused: ROLE_CHECK project',
    door: ['no access'],
  },
  {
    name: 'somebody else is asked for',
    asked: { claims: JSON.stringify({ id_token: { sub: { value: 'another' } } }) },
    explained: { hintedUserId: 'another' },
    says: 'refused: OTHER_PERSON user',
    door: ['other person'],
  },
  {
    name: 'the application may not ask for that',
    asked: { scope: 'openid urn:zitadel:iam:org:project:id:zitadel:aud' },
    explained: { scopes: ['openid', 'urn:zitadel:iam:org:project:id:zitadel:aud'] },
    says: 'refused: SCOPES',
    door: ['invalid_scope'],
  },
]

describe('an explanation says what the pages do where', () => {
  test.concurrent.for(cases)(
    '$name',
    async ({ change = nothing, asked = {}, explained = {}, says, door }, { expect }) => {
      const scene = await setSignInScene()
      await change(scene)
      const { sessionId, application } = scene
      await expect.poll(async () => short(await explain(scene, { sessionId, ...explained }))).toBe(says)
      const without = await explain(scene, explained)
      expect(await doorOf(scene, authorizePath(application, { scope: 'openid profile', ...asked }))).toEqual(door)
      // Without the session the person signs in first. That is a password that is young enough.
      if (without.refusal) expect(short(without)).toBe(says)
      else
        expect(short(without)).toBe(
          ['PERSON', ...says.split(', ').filter((each) => /^(ACC|CON|CLI)/.test(each))].join(', '),
        )
    },
  )

  test('a program of the machine gets the answer; a session of the API counts as others do', async () => {
    const redirect = 'http://localhost:4000/callback'
    const scene = await setSignInScene({
      appType: 'OIDC_APP_TYPE_NATIVE',
      authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE',
      redirectUris: [redirect, redirectUri],
    })
    const { sessionId, application, person } = scene
    expect(short(await explain(scene, { sessionId }))).toBe('CLICK')
    expect(short(await explain(scene, { sessionId, redirectUri }))).toBe('allowed')
    expect(await doorOf(scene, authorizePath(application, { redirect_uri: redirect, scope: 'openid' }))).toEqual([
      'click',
    ])
    await signIn(person)
    const { sessions } = await act('SearchUserSessions', { userId: person.userId, limit: 1 })
    expect(short(await explain(scene, { sessionId: sessions[0].id, redirectUri }))).toBe('allowed')
  })
})

/** What ends what an application has; and, as its refresh token is refused, why. */
const ends: [string, Change, string][] = [
  ['nothing', nothing, 'allowed'],
  [
    'the token is revoked',
    ({ application, refreshToken }) => revoke(application, refreshToken),
    'refused: AUTHORIZATION_ENDED authorization',
  ],
  ['the user is locked', ofUser('LockUser'), 'refused: USER_LOCKED user'],
  ['the user was locked meanwhile', inTurn(ofUser('LockUser'), ofUser('UnlockUser')), 'refused: SIGNED_OUT user'],
  [
    'the user has another password',
    ({ person: { userId } }) => act('SetPassword', { userId, newPassword: { password: unique('New') } }),
    'refused: SIGNED_OUT user',
  ],
  [
    'the consent is taken back',
    ({ person: { userId }, application: { appId: applicationId } }) =>
      act('WithdrawConsent', { userId, applicationId }),
    'refused: CONSENT_WITHDRAWN user.consent',
  ],
  [
    'the application was closed meanwhile',
    inTurn(ofApplication('DeactivateApplication'), ofApplication('ReactivateApplication')),
    'refused: CLOSED_MEANWHILE application',
  ],
  [
    'the project was closed meanwhile',
    inTurn(
      ({ projectId, owner }) => act('DeactivateProject', { projectId }, owner),
      ({ projectId, owner }) => act('ReactivateProject', { projectId }, owner),
    ),
    'refused: CLOSED_MEANWHILE project',
  ],
  ['the project wants a grant', checks({ projectRoleCheck: true }), 'refused: ROLE_CHECK project'],
]

describe('an explanation says why a refresh token is refused, where', () => {
  test.concurrent.for(ends)('%s', async ([, end, says], { expect }) => {
    const scene = await setSignInScene()
    const { authorizationId } = scene
    expect(short(await explain(scene, { authorizationId }))).toBe('allowed')
    await end(scene)
    await expect.poll(async () => short(await explain(scene, { authorizationId }))).toBe(says)
    expect((await refresh(scene)).status).toBe(says === 'allowed' ? 200 : 400)
  })

  test('its session has ended, with which it ends', async () => {
    const scene = await setSignInScene({
      appType: 'OIDC_APP_TYPE_USER_AGENT',
      authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE',
    })
    const { authorizationId, sessionId } = scene
    await act('DeleteSession', { sessionId })
    const { refusal } = await explain(scene, { authorizationId })
    expect(['AUTHORIZATION_ENDED', 'SESSION_ENDED']).toContain(refusal.reason.slice(prefix.length))
    expect((await refresh(scene)).status).toBe(400)
  })
})

describe('what happened', () => {
  const kinds = (events: Event[]) =>
    events.map(({ type, data: { what, reason } }) =>
      [type.replace(/^roster\.(.+)\.v1$/, '$1'), what, reason].filter(Boolean).join(' '),
    )

  test('is told sign-in by sign-in, the newest first, with what was refused and why it ended', async () => {
    const scene = await setSignInScene()
    const { application, browser, person } = scene
    const again = await signInOnce(scene)
    const code = await newCode(person, application, { scope: 'openid' }, browser)
    expect((await redeem(application, code, { code_verifier: 'x'.repeat(50) })).status).toBe(400)
    expect((await redeem(application, code)).status).toBe(200)
    expect((await refresh({ ...scene, ...again })).status).toBe(200)
    await revoke(application, again.refreshToken)
    const first = await explain(scene, { limit: 1 })
    const ofSession = ['session.created']
    expect(kinds(first.events)).toEqual([
      'authorization.redeemed',
      'authorization.granted',
      'session.code.refused verifier',
      ...ofSession,
    ])
    // These say how another organization guards its project, and where the log was.
    const granted = first.events.find(({ type }: Event) => type.endsWith('.granted.v1'))!
    expect(granted.data).toMatchObject({ redirectUri: expect.any(String) })
    for (const name of ['rounds', 'admittedBy']) expect(granted.data).not.toHaveProperty(name)
    const second = await explain(scene, { limit: 1, cursor: first.nextCursor })
    expect(kinds(second.events)).toEqual([
      'authorization.ended revoked',
      'authorization.refreshed',
      'authorization.redeemed',
      'authorization.granted',
      ...ofSession,
    ])
    const third = await explain(scene, { limit: 1, cursor: second.nextCursor })
    expect([kinds(third.events), third.nextCursor ?? '']).toEqual([
      ['authorization.redeemed', 'authorization.granted', ...ofSession],
      '',
    ])
    expect((await explain(scene)).events).toHaveLength(3 + 4 + 2 + 1)
    // Also after the removal of the application, by its id.
    await ofApplication('RemoveApplication')(scene)
    const { userId } = person
    const removed = await act('ExplainSignIn', { userId, applicationId: application.appId })
    expect(removed.events).toHaveLength(10)
    const stolen = { userId, clientId: application.clientId, limit: 1, cursor: first.nextCursor }
    const owner = await newMember(scene.home, ['ORG_OWNER'])
    expect(factsOf(await call('ExplainSignIn', stolen, owner)).reason).toBe('CURSOR_INVALID')
  })
})

describe('of what belongs to another organization', () => {
  test('its readers learn it, those it is granted to, too, and all others what the user would see', async () => {
    const scene = await setSignInScene()
    const { home, owner, projectId, sessionId, person } = scene
    await checks({ projectRoleCheck: true })(scene)
    const manager = await newMember(home, ['ORG_USER_MANAGER'])
    const guest = await newMember(home, ['ORG_USER_MANAGER'])
    await act('AddProjectMember', { projectId, userId: guest.userId, roles: ['PROJECT_OWNER_VIEWER'] }, owner)
    const self = { token: await signIn(person) }
    const seen = async (as: { token: string }) =>
      short(await explain(scene, { sessionId }, { ...as, organization: undefined }))
    await expect.poll(() => seen(guest)).toBe('refused: ROLE_CHECK project')
    expect(await seen(manager)).toBe('refused: NOT_ADMITTED')
    expect(await seen(self)).toBe('refused: NOT_ADMITTED')
    await act('AddProjectRole', { projectId, roleKey: 'reader', displayName: 'Reader' }, owner)
    await grantProject(owner, projectId, home, ['reader'])
    expect(await seen(manager)).toBe('refused: ROLE_CHECK project')
    expect(await seen(self)).toBe('refused: NOT_ADMITTED')
    await act('DeactivateOrganization', {}, owner)
    await expect.poll(() => seen(manager)).toBe('refused: NOT_ADMITTED')
    // What is not the user's own session or authorization is nothing.
    const other = await setSignInScene()
    for (const [field, id] of [
      ['sessionId', other.sessionId],
      ['authorizationId', other.authorizationId],
    ] as const)
      expect(short(await explain(scene, { [field]: id }))).toBe(short(await explain(scene, { [field]: 'unknown' })))
  })

  test('an application that the user never came to is answered by its id as an unknown one', async () => {
    const [scene, foreign] = [await setSignInScene(), await setSignInScene()]
    const { home, person, application } = scene
    const { userId } = person
    const manager = await newMember(home, ['ORG_OWNER'])
    const ask = async (applicationId: string) => ok(await call('ExplainSignIn', { userId, applicationId }, manager))
    expect(await ask(foreign.application.appId)).toEqual(await ask('unknown'))
    expect(short(await ask('unknown'))).toBe('refused: APPLICATION_CLOSED')
    expect(short(await ask(application.appId))).toBe('PERSON')
    await redeem(foreign.application, await newCode(person, foreign.application, {}, openBrowser()))
    expect(short(await ask(foreign.application.appId))).toBe('PERSON')
  })

  test('only the user and who may read its sessions ask', async () => {
    const scene = await setSignInScene()
    const { home, owner, person, application } = scene
    const request = { userId: person.userId, clientId: application.clientId }
    const reason = async (as: { token: string }) => factsOf(await call('ExplainSignIn', request, as)).reason
    for (const [organization, roles] of [
      [home, []],
      [home, ['ORG_USER_PERMISSION_EDITOR']],
      [owner, ['ORG_OWNER']],
    ] as const)
      expect(await reason(await newMember(organization, [...roles]))).toBe('PERMISSION_DENIED')
    for (const roles of [['ORG_USER_MANAGER'], ['ORG_OWNER_VIEWER']])
      expect(await reason(await newMember(home, roles))).toBeUndefined()
    expect(await reason({ token: await signIn(person) })).toBeUndefined()
    expect(factsOf(await call('ExplainSignIn', { ...request, userId: 'unknown' }, admin())).reason).toBe(
      'USER_NOT_FOUND',
    )
    const beside = await newHuman(home)
    expect(short(await explain({ ...scene, person: beside }))).toBe('PERSON, CONSENT user.consent')
  })
})
