import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { OIDCAuthMethodType } from '#gen/roster/grants/v1/application_service'
import type { Event } from '#gen/roster/feed/v1/feed'
import { IssueTokenRequest as codec } from '#gen/roster/users/v1/oauth_service'
import { createStore } from '#lib/eventstore/store'
import { createHold } from '#test/support/hold'
import { createDatabase, type TestDatabase } from '#test/support/database'
import {
  addPerson,
  noteApplication,
  nothingNewer,
  said,
  told,
  Visitor,
} from '../../openid/authorization/testing/visitors.ts'
import { model } from '../../model.ts'
import { addPersonalAccessToken } from '../operations/credential/add-personal-access-token.ts'
import { authenticate } from '../../internal/authenticate.ts'
import { issueToken } from '../../openid/operations/issue-token.ts'
import { createSession } from '../../sessions/operations/session/create-session.ts'
import { getSession } from '../../sessions/operations/session/get-session.ts'
import { searchUserSessions } from '../../sessions/operations/session/search-user-sessions.ts'
import { setSession } from '../../sessions/operations/session/set-session.ts'
import { addMachineUser } from '../operations/user/add-machine-user.ts'
import { deactivateUser } from '../operations/user/deactivate-user.ts'
import { deleteUser } from '../operations/user/delete-user.ts'
import { lockUser } from '../operations/user/lock-user.ts'
import { reactivateUser } from '../operations/user/reactivate-user.ts'
import { restoreUser } from '../operations/user/restore-user.ts'
import { unlockUser } from '../../sessions/operations/unlock-user.ts'
import { findPresented } from '../../sessions/presented-session.ts'
import { surplusSessions } from '../../sessions/surplus.ts'
import { callIn, openUsers, serveDomains, signInBy, type TestUsers } from '../../testing/test-users.ts'
import { hashToken } from '../tokens/token.ts'
import { endSessionsOfOrganization } from '../../sessions/end-organization-sessions.ts'
import { statuses } from './statuses.ts'

let database: TestDatabase
let users: TestUsers
let domains: { stop(): Promise<void> }
const slow = createHold()

beforeAll(async () => {
  database = await createDatabase()
  // Nobody follows what happens to organizations: what ends them is noted, and nothing is taken away.
  users = await openUsers(database.urls.users, { FORGET_AFTER_DAYS: '7' })
  domains = await serveDomains({}, {}, { copied: nothingNewer(['client']) })
  const settings = { firstParty: true, authMethodType: OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_NONE }
  await noteApplication(users, 'client', { ...settings, backChannelLogoutUri: 'https://app.example.com/logout' })
}, 60_000)
afterAll(async () => {
  await Promise.all([users?.stop(), domains?.stop()])
  await database?.drop()
})

let people = 0
const call = () => ({ ...callIn(''), clientAddress: `2001:db8:${(++people).toString(16)}::` })
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'in',
    ({ reason }: { reason: string }) => reason,
  )
const holder = (token: string) => reasonOf(authenticate(users, { tokenHash: hashToken(token) }, call()))
const use = (grantType: string, more: object, by = users) =>
  issueToken.handle(
    by,
    { ...codec.decode(new Uint8Array()), grantType, clientId: 'client', ...more },
    { ...call(), caller: { ...callIn('').caller, userId: '' } },
  )
const redeem = (code: string, by = users) =>
  use('authorization_code', { code, codeVerifier: 'verifier', redirectUri: 'https://app.example.com/callback' }, by)

let events = 0
const eventOf = (organizationId: string, type: string) =>
  ({
    id: `grants-${++events}`,
    type: `roster.organization.${type}.v1`,
    aggregateId: organizationId,
    organizationId,
    sequence: events,
    actor: '',
    requestId: '',
  }) as Event
const note = (organizationId: string, type: string) => statuses.record(users.store, eventOf(organizationId, type))

/** All that a person has, and the state of each: `in`, or why not. */
async function everything(organizationId: string) {
  const name = `person-${++people}`
  const [userId, password] = [await addPerson(users, name, organizationId), `${name}-password`]
  const browser = new Visitor(users)
  const asked = await browser.signIn(await browser.begin({ scope: 'openid profile offline_access' }), name)
  const { code: used } = told(await browser.decide(asked, 'allow'))
  const tokens = await redeem(used!)
  const { code: unused } = told(await browser.authorize({ scope: 'openid' }))
  const whole = await signInBy(users, { loginName: name, password }, call())
  const begun = await createSession.handle(users, { userId, loginName: '', password: '', lifetime: undefined }, call())
  const set = ({ sessionId, sessionToken }: typeof whole) =>
    setSession.handle(users, { sessionId, sessionToken, password, otpEmailCode: '', lifetime: undefined }, call())
  const silent = async () => {
    const { code, error } = told(await browser.silently())
    return code === undefined ? error! : 'in'
  }
  const isPresented = async ({ sessionId, sessionToken }: typeof begun) =>
    (await findPresented(users, sessionId, sessionToken)) !== undefined
  const paging = { userId, limit: 0, cursor: '', withTotal: true }
  const states = async () => ({
    session: await holder(whole.sessionToken),
    shown: await reasonOf(getSession(users, { sessionId: whole.sessionId })),
    listed: (await searchUserSessions(users, paging, callIn(organizationId))).total,
    'half-done': await reasonOf(getSession(users, { sessionId: begun.sessionId })),
    presented: await isPresented(whole),
    'half-done presented': await isPresented(begun),
    browser: await silent(),
    access: await holder(tokens.accessToken),
  })
  const uses = async () => ({
    session: await reasonOf(set(whole)),
    'half-done': await reasonOf(set(begun)),
    code: await reasonOf(redeem(unused!)),
    refresh: await reasonOf(use('refresh_token', { refreshToken: tokens.refreshToken })),
  })
  return { name, userId, password, browser, whole, code: unused!, states, uses }
}

const living = {
  session: 'in',
  shown: 'in',
  listed: 2,
  'half-done': 'in',
  presented: true,
  'half-done presented': true,
  browser: 'in',
  access: 'in',
}
const over = {
  session: 'TOKEN_INVALID',
  shown: 'SESSION_NOT_FOUND',
  listed: 0,
  'half-done': 'SESSION_NOT_FOUND',
  presented: false,
  'half-done presented': false,
  browser: 'login_required',
  access: 'TOKEN_INVALID',
}
const refused = {
  session: 'SESSION_NOT_FOUND',
  'half-done': 'SESSION_NOT_FOUND',
  code: 'INVALID_GRANT',
  refresh: 'INVALID_GRANT',
}

type Act = (userId: string, organizationId: string) => Promise<unknown>
const ofUser =
  (
    operation: (
      context: TestUsers,
      request: { userId: string; forgetNow: boolean },
      by: ReturnType<typeof callIn>,
    ) => Promise<unknown>,
  ): Act =>
  (userId, organizationId) =>
    operation(users, { userId, forgetNow: false }, callIn(organizationId))

describe.each<[string, Act, Act]>([
  ['a lock of the user', ofUser(lockUser), ofUser(unlockUser)],
  ['a deactivation of the user', ofUser(deactivateUser), ofUser(reactivateUser)],
  ['a removal of the user', ofUser(deleteUser), ofUser(restoreUser)],
  ['a deactivation of the organization', (_, id) => note(id, 'deactivated'), (_, id) => note(id, 'reactivated')],
])('%s', (_, end, undo) => {
  test('ends for good all that its people have, and undoing it brings nothing back', async () => {
    const organizationId = `org-${++people}`
    const { name, userId, browser, states, uses } = await everything(organizationId)
    expect(await states()).toEqual(living)
    await end(userId, organizationId)
    expect(await states()).toEqual(over)
    await undo(userId, organizationId)
    expect(await states()).toEqual(over)
    expect(await uses()).toEqual(refused)
    // Who signs in again, in the same browser, has another session. It is the only one.
    expect(said(await browser.begin())).toBe('sign-in 0')
    expect(told(await browser.signIn(await browser.begin(), name))).toHaveProperty('code')
    expect(await states()).toEqual({ ...over, listed: 1, browser: 'in' })
  })
})

test('the deactivation of an organization ends nothing of others, and tokens of its machines for as long as it lasts', async () => {
  const [organizationId, elsewhere] = [`org-${++people}`, await everything(`org-${++people}`)]
  const machine = { userName: organizationId, name: 'M', description: '', accessTokenType: 0 as const }
  await addMachineUser(users, { ...machine, userId: organizationId }, callIn(organizationId))
  const asked = { userId: organizationId, expirationDate: undefined }
  const { token } = await addPersonalAccessToken.handle(users, asked, callIn(organizationId))
  await note(organizationId, 'deactivated')
  expect([await holder(token), await elsewhere.states()]).toEqual(['TOKEN_INVALID', living])
  await note(organizationId, 'reactivated')
  expect([await holder(token), await elsewhere.states()]).toEqual(['in', living])
  expect(await elsewhere.uses()).toEqual({ session: 'in', 'half-done': 'in', code: 'in', refresh: 'in' })
})

describe('what is decided before a deactivation and would be stored after the reactivation goes on with no session:', () => {
  type Had = Awaited<ReturnType<typeof everything>>
  const late: [string, (context: TestUsers, had: Had) => Promise<unknown>, unknown][] = [
    ['a code', (context, { code }) => reasonOf(redeem(code, context)), 'INVALID_GRANT'],
    [
      'a further check',
      (context, { whole: { sessionId, sessionToken }, password }) =>
        reasonOf(
          setSession.handle(
            context,
            { sessionId, sessionToken, password, otpEmailCode: '', lifetime: undefined },
            call(),
          ),
        ),
      'SESSION_NOT_FOUND',
    ],
  ]
  test.each(late)('%s', async (_, work, says) => {
    const organizationId = `org-${++people}`
    const had = await everything(organizationId)
    const store = createStore(slow.wrap(users.sql), model, users.log, () => {}, undefined, users)
    const { arrived, release } = slow.hold()
    const working = work({ ...users, store }, had)
    await arrived
    await note(organizationId, 'deactivated')
    await note(organizationId, 'reactivated')
    release()
    expect(await working).toBe(says)
    expect(await had.states()).toEqual(over)
  })
})

test('what is left of ended sessions goes later, applications are told, and what began since stays', async () => {
  const organizationId = `org-${++people}`
  const { userId, name, password, states } = await everything(organizationId)
  const deactivated = eventOf(organizationId, 'deactivated')
  await statuses.record(users.store, deactivated)
  await note(organizationId, 'reactivated')
  const since = await signInBy(users, { loginName: name, password }, call())
  await endSessionsOfOrganization(users, deactivated, new AbortController().signal)
  const left = await users.sql`select session_id from tokens where user_id = ${userId} and session_id <> ''`
  expect(left.map(({ session_id }) => session_id)).toEqual([since.sessionId])
  expect([await holder(since.sessionToken), await states()]).toEqual(['in', { ...over, listed: 1 }])
  await surplusSessions.end(users)
  const ended = await users.sql`
    select from events e where aggregate_type = 'session' and type = 'ended' and payload ->> 'userId' = ${userId}
      and exists (select from session_applications a where a.session_id = e.aggregate_id)
  `
  expect(ended).toHaveLength(1)
})
