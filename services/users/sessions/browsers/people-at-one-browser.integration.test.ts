import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { createDatabase, type TestDatabase } from '#test/support/database'
import {
  addPerson,
  noteApplication,
  nothingNewer,
  sealedIn,
  told,
  Visitor,
} from '../../openid/authorization/testing/visitors.ts'
import { deleteSession } from '../operations/session/delete-session.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import type { Session } from '../events/session.ts'

let database: TestDatabase
let users: TestUsers
let domains: { stop(): Promise<void> }
let [ada, grace]: string[] = []

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  domains = await serveDomains({}, {}, { copied: nothingNewer(['client']) })
  await noteApplication(users, 'client', { firstParty: true }, { organizationId: 'acme' })
  ;[ada, grace] = await Promise.all(['ada', 'grace'].map((name) => addPerson(users, name)))
}, 60_000)

afterAll(async () => {
  await Promise.all([users?.stop(), domains?.stop()])
  await database?.drop()
})

/** Whose code it is, and of which session. */
async function comes(answer: PageAnswer) {
  const { userId, sessionId } = sealedIn(users, told(answer)['code']!).granted
  const session = (await users.store.load<Session>('session', sessionId))!.state
  expect(session.userId).toBe(userId)
  return { userId, sessionId }
}
const end = (sessionId: string) => deleteSession.handle(users, { sessionId, sessionToken: '' }, callIn('acme'))
const errorOf = (answer: PageAnswer) => told(answer)['error']

test('who signs in at the browser of another person gets a session of their own, and nothing of one that ended', async () => {
  const browser = new Visitor(users)
  const adas = await comes(await browser.signIn(await browser.begin(), 'ada'))
  expect(adas.userId).toBe(ada)
  // Ended elsewhere, so the browser still has its cookie.
  await end(adas.sessionId)
  expect(errorOf(await browser.silently())).toBe('login_required')
  const graces = await comes(await browser.signIn(await browser.begin(), 'grace'))
  expect(graces.userId).toBe(grace)
  expect(graces.sessionId).not.toBe(adas.sessionId)
  expect(await comes(await browser.silently())).toEqual(graces)
  // The cookie was lost, and the session lives on: whoever comes next is somebody else.
  const next = new Visitor(users)
  expect(errorOf(await next.silently())).toBe('login_required')
  const again = await comes(await next.signIn(await next.begin(), 'ada'))
  expect([adas.sessionId, graces.sessionId]).not.toContain(again.sessionId)
  expect(await comes(await browser.silently())).toEqual(graces)
})

test('of two who are signed in at one browser, each request is answered for the person that it went on as', async () => {
  const browser = new Visitor(users)
  const adas = await comes(await browser.signIn(await browser.begin(), 'ada'))
  const fresh = await browser.begin({ prompt: 'login' })
  const choosing = await browser.begin({ prompt: 'select_account' })
  const graces = await comes(await browser.signIn(await browser.choose(choosing, ''), 'grace'))
  expect(graces).toEqual({ userId: grace, sessionId: expect.any(String) })
  expect(graces.sessionId).not.toBe(adas.sessionId)
  // It was begun as Ada.
  const shown = await browser.show(fresh.requestId)
  expect(shown.answer).toMatchObject({ $case: 'signIn', value: { loginName: 'ada', nameIsFixed: true } })
  expect(await comes(await browser.signIn(shown, 'ada'))).toEqual(adas)
  for (const [userId, session] of [
    [ada, adas],
    [grace, graces],
  ] as const) {
    const claims = JSON.stringify({ id_token: { sub: { value: userId } } })
    expect(await comes(await browser.authorize({ prompt: 'none', claims }))).toEqual(session)
  }
  await end(adas.sessionId)
  expect(await comes(await browser.silently())).toEqual(graces)
})

test('a form of before somebody signed in counts for whom it names', async () => {
  const browser = new Visitor(users)
  const adas = await comes(await browser.signIn(await browser.begin(), 'ada'))
  const shown = await browser.begin({ prompt: 'login' })
  expect(shown.answer).toMatchObject({ $case: 'signIn', value: { loginName: 'ada', nameIsFixed: true } })
  // The page of before had the name as a field.
  const graces = await comes(await browser.signIn(shown, 'grace'))
  expect(graces.userId).toBe(grace)
  expect(graces.sessionId).not.toBe(adas.sessionId)
})
