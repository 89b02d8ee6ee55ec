import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { searchUserConsents } from './search-user-consents.ts'
import { withdrawConsent } from './withdraw-consent.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import { addPerson, noteApplication, nothingNewer, said, told, Visitor } from '../authorization/testing/visitors.ts'

let database: TestDatabase
let users: TestUsers
let grants: { stop(): Promise<void> }

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  grants = await serveDomains({}, {}, { copied: nothingNewer(['client', 'another']) })
  await noteApplication(users, 'client')
  await noteApplication(users, 'another')
}, 60_000)
afterAll(async () => {
  await Promise.all([users?.stop(), grants?.stop()])
  await database?.drop()
})

const page = { limit: 0, cursor: '', withTotal: true }
const consentsOf = async (userId: string) => {
  const { consents } = await searchUserConsents(users, { userId, ...page }, callIn('acme'))
  return consents.map(({ applicationId, scopes }) => [applicationId, ...scopes].join(' '))
}
const withdraw = (userId: string, applicationId: string) =>
  withdrawConsent.handle(users, { userId, applicationId }, callIn('acme'))

async function signedIn(name: string) {
  const [userId, browser] = [await addPerson(users, name), new Visitor(users)]
  return { userId, browser, asking: await browser.signIn(await browser.begin(), name) }
}

test('what is given is listed, and once it is taken back, the application has to ask again', async () => {
  const { userId, browser, asking } = await signedIn('ada')
  expect(await consentsOf(userId)).toEqual([])
  await browser.decide(asking, 'allow')
  await browser.decide(await browser.begin({ scope: 'openid email' }), 'allow')
  await browser.decide(await browser.begin({ clientId: 'another', scope: 'openid' }), 'allow')
  expect(await consentsOf(userId)).toEqual(['app-another openid', 'app-client openid profile email'])
  const silently = async () => told(await browser.authorize({ scope: 'openid', prompt: 'none' }))['error']
  expect(await silently()).toBeUndefined()
  await withdraw(userId, 'app-client')
  expect(await silently()).toBe('consent_required')
  expect(await consentsOf(userId)).toEqual(['app-another openid'])
  for (const nothing of ['app-client', 'app-unknown'])
    await expect(withdraw(userId, nothing)).rejects.toMatchObject({ reason: 'CONSENT_NOT_FOUND' })
  // Given anew, it has what was given then.
  expect(said(await browser.begin())).toBe('consent openid profile')
  await browser.decide(await browser.begin({ scope: 'openid' }), 'allow')
  expect(await consentsOf(userId)).toEqual(['app-another openid', 'app-client openid'])
})

test('an application that asks for no scope is let in once, listed, and taken back as others', async () => {
  const { userId, browser } = await signedIn('mary')
  const bare = { scope: '' }
  const silently = async (more = {}) => told(await browser.authorize({ ...bare, prompt: 'none', ...more }))['error']
  expect(await silently()).toBe('consent_required')
  const first = await browser.begin(bare)
  expect(first.answer).toMatchObject({ $case: 'consent', value: { scopes: [], clickOnly: false } })
  expect(told(await browser.decide(first, 'deny'))).toMatchObject({ error: 'access_denied' })
  expect(await consentsOf(userId)).toEqual([])
  expect(told(await browser.decide(await browser.begin(bare), 'allow'))['code']).toBeDefined()
  expect(await consentsOf(userId)).toEqual(['app-client'])
  expect(await silently()).toBeUndefined()
  expect(told(await browser.authorize(bare))['code']).toBeDefined()
  expect(said(await browser.begin({ ...bare, prompt: 'consent' }))).toBe('consent ')
  // It gave no scope, and none to another application.
  expect(await silently({ scope: 'openid' })).toBe('consent_required')
  expect(await silently({ clientId: 'another' })).toBe('consent_required')
  await withdraw(userId, 'app-client')
  expect(await consentsOf(userId)).toEqual([])
  expect(await silently()).toBe('consent_required')
  await browser.decide(await browser.begin(bare), 'allow')
  await browser.decide(await browser.begin({ scope: 'openid' }), 'allow')
  expect(await consentsOf(userId)).toEqual(['app-client openid'])
  expect(await silently()).toBeUndefined()
})

test('by what it asks for without a page, an application learns nothing of a person who did not let it in', async () => {
  const { userId, browser } = await signedIn('dora')
  const silently = async (more: object) => told(await browser.authorize({ prompt: 'none', ...more }))['error']
  const hint = (sub: string) => ({ claims: JSON.stringify({ id_token: { sub: { value: sub } } }) })
  const probes = [
    hint(userId),
    hint('another'),
    { scope: 'openid urn:zitadel:iam:org:id:acme' },
    { scope: 'openid urn:zitadel:iam:org:id:umbrella' },
    { scope: 'openid', maxAge: '0' },
  ]
  for (const probe of probes) expect(await silently(probe)).toBe('consent_required')
  await browser.decide(await browser.begin({ scope: '' }), 'allow')
  expect(await silently(hint('another'))).toBe('login_required')
})

test('who has given something to a thousand applications is told to take one back before a further one', async () => {
  const { userId, browser, asking } = await signedIn('grace')
  await users.sql`
    insert into consents select ${userId}, 'app-' || n, '{openid}', roster_now() from generate_series(1, 999) n
  `
  await browser.decide(asking, 'allow')
  const further = await browser.begin({ clientId: 'another' })
  const full = await browser.decide(further, 'allow')
  expect(full.answer).toMatchObject({ $case: 'consent', value: { scopes: ['openid', 'profile'], tooMany: true } })
  expect(told(await browser.decide(full, 'deny'))).toMatchObject({ error: 'access_denied' })
  const waiting = await browser.decide(await browser.begin({ clientId: 'another' }), 'allow')
  const more = await browser.decide(await browser.begin({ scope: 'openid email' }), 'allow')
  expect(told(more)['code']).toBeDefined()
  await withdraw(userId, 'app-client')
  expect(told(await browser.decide(waiting, 'allow'))['code']).toBeDefined()
})
