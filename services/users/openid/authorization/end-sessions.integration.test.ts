import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OIDCAuthMethodType } from '#gen/roster/grants/v1/application_service'
import { IssueTokenRequest as codec } from '#gen/roster/users/v1/oauth_service'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { endSessions } from '../../../../operator/end-sessions.ts'
import { saltCodes } from '../../directory/email/salt-codes.ts'
import { authenticate } from '../../internal/authenticate.ts'
import { issueToken } from '../operations/issue-token.ts'
import { surplusSessions } from '../../sessions/surplus.ts'
import { surplusAuthorizations } from './surplus.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import { hashToken } from '../../directory/tokens/token.ts'
import { addPerson, noteApplication, nothingNewer, redirectUri, said, told, Visitor } from './testing/visitors.ts'

// What `roster sessions end` ends of people who signed in to applications, as after a restore.

let database: TestDatabase
let users: TestUsers
let grants: { stop(): Promise<void> }

async function open(): Promise<TestUsers> {
  const opened = await openUsers(database.urls.users)
  return { ...opened, keys: await saltCodes(opened.sql, opened.keys) }
}

beforeAll(async () => {
  database = await createDatabase()
  grants = await serveDomains({}, {}, { copied: nothingNewer(['client']) })
  users = await open()
}, 60_000)
afterAll(async () => {
  await Promise.all([users?.stop(), grants?.stop()])
  await database?.drop()
})

const redeem = (code: string) => {
  const request = { ...codec.decode(new Uint8Array()), grantType: 'authorization_code', clientId: 'client', code }
  return issueToken.handle(users, { ...request, codeVerifier: 'verifier', redirectUri }, callIn(''))
}

test('nothing of a browser, a request, a code or a token is left, and each session gets its event', async () => {
  const authMethodType = OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_NONE
  await noteApplication(users, 'client', { firstParty: true, authMethodType }, { organizationId: 'acme' })
  const userId = await addPerson(users, 'ada')
  const browser = new Visitor(users)
  const { code } = told(await browser.signIn(await browser.begin(), 'ada'))
  const { accessToken } = await redeem(code!)
  const kept = told(await browser.authorize())['code']!
  const asking = await browser.begin({ prompt: 'login' })
  expect(said(asking)).toBe('sign-in 0 fixed')
  await users.stop()
  const sql = postgres(database.urls.users, { max: 1 })
  // The session, and the access token.
  expect(await endSessions({ sql: () => sql })).toBe(2)
  await sql.end()
  users = await open()
  const again = new Visitor(users, browser.cookie)
  expect(told(await again.authorize({ prompt: 'none' }))['error']).toBe('login_required')
  expect(said(await again.show(asking.requestId))).toBe('notice 4')
  await expect(redeem(kept)).rejects.toMatchObject({ reason: 'INVALID_GRANT' })
  const holder = authenticate(users, { tokenHash: hashToken(accessToken) }, callIn(''))
  await expect(holder).rejects.toMatchObject({ reason: 'TOKEN_INVALID' })
  // The session, and what the application had.
  expect(await surplusSessions.end(users, [userId])).toBe(1)
  expect(await surplusAuthorizations.end(users, [userId])).toBe(1)
  const rows = await users.sql`
    select type from events where aggregate_type = 'session' and payload ->> 'userId' = ${userId} order by position
  `
  expect(rows.map(({ type }) => type)).toEqual(['created', 'ended'])
})
