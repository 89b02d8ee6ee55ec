import { decodeJwt } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { IssueTokenRequest as codec } from '#gen/roster/users/v1/oauth_service'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import { pruneAuthorizations } from '../../openid/authorization/prune-authorizations.ts'
import {
  addPerson,
  noteApplication,
  nothingNewer,
  redirectUri,
  told,
  Visitor,
} from '../../openid/authorization/testing/visitors.ts'
import { listSessionApplications } from '../../internal/list-session-applications.ts'
import { signLogoutToken } from '../../internal/sign-logout-token.ts'
import { issueToken } from '../../openid/operations/issue-token.ts'
import { deleteSession } from '../../sessions/operations/session/delete-session.ts'
import { setPassword } from '../../directory/operations/password/set-password.ts'
import { deactivateUser } from '../../directory/operations/user/deactivate-user.ts'
import { deleteUser } from '../../directory/operations/user/delete-user.ts'
import { lockUser } from '../../directory/operations/user/lock-user.ts'
import { pruneSessions } from '../../sessions/sessions.ts'
import { surplusSessions } from '../../sessions/surplus.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'

const backChannelLogoutUri = 'https://app.example.com/logout'
const applications = ['client', 'other', 'silent']

let database: TestDatabase
let users: TestUsers
let domains: { stop(): Promise<void> }
beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  domains = await serveDomains({}, {}, { copied: nothingNewer(applications) })
  for (const name of applications)
    await noteApplication(
      users,
      name,
      {
        firstParty: true,
        authMethodType: 2,
        grantTypes: [0],
        backChannelLogoutUri: name === 'silent' ? '' : backChannelLogoutUri,
      },
      { organizationId: 'acme' },
    )
}, 60_000)
afterAll(async () => {
  await Promise.all([users?.stop(), domains?.stop()])
  await database?.drop()
})

let people = 0

/** The session of a new person, who has signed in to these applications. */
async function newSession(scopes: Record<string, string>) {
  const name = `person${people++}`
  const userId = await addPerson(users, name)
  const browser = new Visitor(users)
  await browser.signIn(await browser.begin(), name)
  for (const [clientId, scope] of Object.entries(scopes)) {
    const { code } = told(await browser.authorize({ clientId, scope }))
    await issueToken.handle(
      users,
      {
        ...codec.decode(new Uint8Array()),
        grantType: 'authorization_code',
        clientId,
        codeVerifier: 'verifier',
        code: code!,
        redirectUri,
      },
      { ...callIn(''), caller: { ...callIn('').caller, userId: '' }, clientAddress: `2001:db8:${people}::` },
    )
  }
  const [row] = await users.sql<{ sessionId: string }[]>`
    select session_id as "sessionId" from tokens where user_id = ${userId} and session_id <> ''
  `
  return { userId, sessionId: row!.sessionId }
}

async function listed(sessionId: string) {
  const answer = await listSessionApplications(users, { sessionIds: [sessionId] })
  return answer.applications.map(({ applicationId }) => applicationId).toSorted()
}

const sign = (sessionId: string, applicationId = 'app-client') => signLogoutToken(users, { sessionId, applicationId })
const nothing = { uri: '', logoutToken: '' }

test('those are told that have an ID token of the session and an address, and only once it has ended', async () => {
  const { userId, sessionId } = await newSession({
    client: 'openid offline_access',
    other: 'profile',
    silent: 'openid',
  })
  expect(await listed(sessionId)).toEqual(['app-client'])
  expect(await sign(sessionId)).toEqual(nothing)
  await deleteSession.handle(users, { sessionId, sessionToken: '' }, callIn('acme'))
  // Its authorizations have lost their rows, or live on.
  expect(await listed(sessionId)).toEqual(['app-client'])
  const { uri, logoutToken } = await sign(sessionId)
  expect([uri, decodeJwt(logoutToken)]).toMatchObject([
    backChannelLogoutUri,
    { aud: 'client', sub: userId, sid: sessionId },
  ])
  for (const other of ['app-other', 'app-silent', 'unknown']) expect(await sign(sessionId, other)).toEqual(nothing)
  expect(await sign('unknown')).toEqual(nothing)
})

test.each([
  ['a lock', (userId: string) => lockUser(users, { userId }, callIn('acme'))],
  ['a deactivation', (userId: string) => deactivateUser(users, { userId }, callIn('acme'))],
  ['a removal for good', (userId: string) => deleteUser(users, { userId, forgetNow: true }, callIn('acme'))],
  [
    'another password',
    (userId: string) =>
      setPassword.handle(
        users,
        { userId, newPassword: { password: 'another password', changeRequired: false } },
        callIn('acme'),
      ),
  ],
])('after %s each session that an application is to be told of gets its event', async (_, end) => {
  const [{ userId, sessionId }, alone] = [
    await newSession({ client: 'openid' }),
    await newSession({ other: 'profile' }),
  ]
  await end(userId)
  await end(alone.userId)
  await surplusSessions.end(users)
  const ended = await users.sql`
    select aggregate_id as id from events where aggregate_type = 'session' and type like '%ended%'
      and aggregate_id in (${sessionId}, ${alone.sessionId})
  `
  expect(ended.map(({ id }) => id)).toEqual([sessionId])
  expect((await sign(sessionId)).uri).toBe(backChannelLogoutUri)
})

test('the list goes with the state of the session', async () => {
  const { sessionId } = await newSession({ client: 'openid' })
  await deleteSession.handle(users, { sessionId, sessionToken: '' }, callIn('acme'))
  await pruneAuthorizations(users.sql)
  expect(await listed(sessionId)).toEqual(['app-client'])
  await shiftClock(users.sql, '31 days')
  await pruneSessions(users.sql)
  await pruneAuthorizations(users.sql)
  await shiftClock(users.sql, '0')
  expect(await listed(sessionId)).toEqual([])
})
