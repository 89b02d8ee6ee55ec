import { afterAll, beforeAll, expect, test } from 'vitest'
import { shiftClock } from '#test/support/shift-clock'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { closureKey } from '../applications/closures.ts'
import { authenticate } from '../../internal/authenticate.ts'
import { deleteSession } from '../../sessions/operations/session/delete-session.ts'
import { lockUser } from '../../directory/operations/user/lock-user.ts'
import { unlockUser } from '../../sessions/operations/unlock-user.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import { hashToken, newToken, tokenRow } from '../../directory/tokens/token.ts'
import type { AuthorizationEvent } from '../events/authorization.ts'
import { findAuthorization, loadAuthorization } from './later-facts.ts'
import { readCode } from './sealed-code.ts'
import { addPerson, longNonce, noteApplication, nothingNewer, redirectUri, told, Visitor } from './testing/visitors.ts'

let database: TestDatabase
let users: TestUsers
let domains: { stop(): Promise<void> }

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  domains = await serveDomains({}, {}, { copied: nothingNewer(['first', 'browser']) })
  const ofAcme = { organizationId: 'acme' }
  await noteApplication(users, 'first', { firstParty: true, redirectUris: [redirectUri] }, ofAcme)
  await noteApplication(users, 'browser', { firstParty: true, redirectUris: [redirectUri], appType: 1 }, ofAcme)
}, 60_000)

afterAll(async () => {
  await Promise.all([users?.stop(), domains?.stop()])
  await database?.drop()
})

/** What a person lets an application have, with an access token. */
async function grant(name: string, { clientId = 'first', scope = 'openid' } = {}) {
  const userId = await addPerson(users, name)
  const browser = new Visitor(users)
  const { code } = told(await browser.signIn(await browser.begin({ clientId, scope, nonce: longNonce }), name))
  const { authorizationId } = readCode(users.keys, code!)!
  const authorization = await loadAuthorization(users, authorizationId)
  const { signedInUser } = (await findAuthorization(users, authorization, callIn('')))!
  const token = newToken()
  const row = { userId, organizationId: 'acme', human: true, sessionId: '', expiresAt: new Date(Date.now() + 60_000) }
  const access = {
    tokenId: token,
    scope: `openid project:${signedInUser.project.id}`,
    projectOrganizationId: 'acme',
    issuedAt: new Date(),
    dpopThumbprint: null,
  }
  const stored = tokenRow(token, { ...row, access, authorizationId })
  const store = () => users.sql`select keep_tokens(${JSON.stringify([stored])}::text::json)`
  await store()
  const holder = () => authenticate(users, { tokenHash: hashToken(token) }, callIn(''))
  return { userId, sessionId: signedInUser.sessionId, holder, happen, store }

  async function happen(event: AuthorizationEvent) {
    await users.store.execute({
      aggregate: { type: 'authorization', id: authorizationId },
      call: callIn('acme'),
      decide: () => ({ events: [event], answer: undefined }),
    })
  }
}

test('an access token of a person names its authorization, and counts as no session', async () => {
  const { userId, holder } = await grant('ada')
  expect(await holder()).toMatchObject({ userId, human: true, forProject: true })
  expect((await holder()).authorizationId).not.toBe('')
  const [{ count }] = await users.sql<[{ count: number }]>`
    select count(*)::int as count from tokens where user_id = ${userId} and session_id <> ''
  `
  expect(count).toBe(1)
})

const tokenInvalid = 'TOKEN_INVALID'
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: { reason: string }) => error.reason,
  )
const endSession = (sessionId: string) => deleteSession.handle(users, { sessionId, sessionToken: '' }, callIn('acme'))

test('it ends with its session; with offline_access it goes on, but for an application in the browser', async () => {
  const bound = await grant('b1')
  const offline = await grant('b2', { scope: 'openid offline_access' })
  const inBrowser = await grant('b3', { scope: 'openid offline_access', clientId: 'browser' })
  for (const { sessionId } of [bound, offline, inBrowser]) await endSession(sessionId)
  expect(await reasonOf(bound.holder())).toBe(tokenInvalid)
  expect(await reasonOf(offline.holder())).toBe('ok')
  expect(await reasonOf(inBrowser.holder())).toBe(tokenInvalid)
})

test('what it stands on shuts it out for good, also after that is open again', async () => {
  const ofLocked = await grant('c1', { scope: 'openid offline_access' })
  await lockUser(users, { userId: ofLocked.userId }, callIn('acme'))
  await unlockUser(users, { userId: ofLocked.userId }, callIn('acme'))
  expect(await reasonOf(ofLocked.holder())).toBe(tokenInvalid)
  const ofClosed = await grant('c2', { scope: 'openid offline_access' })
  for (const [index, state] of (['inactive', 'active'] as const).entries())
    await users.store.execute({
      aggregate: closureKey('application', 'app-first'),
      call: callIn('acme'),
      decide: () => ({
        organizationId: 'acme',
        events: [{ type: 'noted', payload: { state, sequence: index + 2 } }],
        answer: undefined,
      }),
    })
  expect(await reasonOf(ofClosed.holder())).toBe(tokenInvalid)
})

test('an authorization that ended opens nothing, and a row that came after all opens nothing either', async () => {
  const { userId, holder, happen, store } = await grant('d1')
  await happen({ type: 'ended', payload: { userId, applicationId: 'app-first', reason: 'code-reuse' } })
  expect(await users.sql`select 1 from tokens where user_id = ${userId} and token_id is not null`).toHaveLength(0)
  await store()
  expect(await reasonOf(holder())).toBe(tokenInvalid)
})

test('it ends at its time', async () => {
  const { holder } = await grant('late', { scope: 'openid offline_access' })
  await shiftClock(users.sql, '61 seconds')
  expect(await reasonOf(holder())).toBe(tokenInvalid)
})
