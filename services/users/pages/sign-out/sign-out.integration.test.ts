import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { EndSessionRequest, NoticeReason, type PageAnswer, SignOutRequest } from '#gen/roster/users/v1/sign_in_service'
import {
  addPerson,
  noteApplication,
  nothingNewer,
  requestOf,
  said,
  told,
  Visitor,
} from '../../openid/authorization/testing/visitors.ts'
import { findBrowser } from '../../sessions/browsers/session-cookie.ts'
import { formToken } from '../../sessions/browsers/form-token.ts'
import { signIdToken } from '../../openid/tokens/id-token.ts'
import { endSession } from '../operations/sign-out/end-session.ts'
import { showSignOut } from '../operations/sign-out/show-sign-out.ts'
import { signOut } from '../operations/sign-out/sign-out.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'

const returnUri = 'https://app.example.com/bye?of=tests'
const signedOut = `notice ${NoticeReason.NOTICE_REASON_SIGNED_OUT}`
const unknown = `notice ${NoticeReason.NOTICE_REASON_REQUEST_UNKNOWN}`

let database: TestDatabase
let users: TestUsers
let domains: { stop(): Promise<void> }
let people: Record<'ada' | 'grace', string>

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  domains = await serveDomains({}, {}, { copied: nothingNewer(['client', 'other', 'own-pages']) })
  const settings = { firstParty: true, postLogoutRedirectUris: [returnUri] }
  await noteApplication(users, 'client', settings, { organizationId: 'acme' })
  await noteApplication(users, 'other', settings, { organizationId: 'acme' })
  people = { ada: await addPerson(users, 'ada'), grace: await addPerson(users, 'grace') }
}, 60_000)

afterAll(async () => {
  await Promise.all([users?.stop(), domains?.stop()])
  await database?.drop()
})

/** A browser in which these people are signed in, and their sessions. */
async function browserOf(...names: ('ada' | 'grace')[]) {
  const browser = new Visitor(users)
  for (const name of names) {
    const page = await browser.begin({ prompt: 'select_account' })
    const asked = page.answer?.$case === 'accounts' ? await browser.choose(page, '') : page
    await browser.signIn(asked, name)
  }
  return { browser, sessions: await sessionsOf(browser) }
}

async function sessionsOf(browser: Visitor): Promise<Record<string, string>> {
  const page = await browser.begin({ prompt: 'select_account' })
  if (page.answer?.$case !== 'accounts') return {}
  return Object.fromEntries(page.answer.value.accounts.map(({ loginName, sessionId }) => [loginName, sessionId]))
}

function hintOf(name: 'ada' | 'grace', sid: string, aud = 'client', iat = 1_700_000_000) {
  return signIdToken(users, 'RS256', { sub: people[name], aud, sid }, iat)
}

const silently = (browser: Visitor) => browser.silently()
const browserId = async (value: string) => (await findBrowser(users.sql, value)).browser!.id
const nobody = expect.objectContaining({ error: 'login_required' })
const noCall = () => ({ ...callIn(''), caller: { ...callIn('').caller, userId: '' } })

function keep(browser: Visitor, answer: PageAnswer): PageAnswer {
  if (answer.newBrowser !== '') browser.cookie = answer.newBrowser
  return answer
}

async function end(browser: Visitor, more: Partial<EndSessionRequest> = {}): Promise<PageAnswer> {
  const request = { ...EndSessionRequest.decode(new Uint8Array()), browser: browser.cookie, ...more }
  return follow(browser, keep(browser, await endSession(users, request, noCall())))
}

async function follow(browser: Visitor, answer: PageAnswer): Promise<PageAnswer> {
  const id = pageOf(answer)
  if (id === undefined) return answer
  return keep(browser, await showSignOut(users, { browser: browser.cookie, requestId: id }, noCall()))
}

function pageOf({ answer }: PageAnswer): string | undefined {
  const location = answer?.$case === 'redirect' ? answer.value.location : ''
  return /^\/ui\/login\/([\w-]+)\/sign-out$/.exec(location)?.[1]
}

async function submit(
  browser: Visitor,
  { requestId, formToken }: Pick<PageAnswer, 'requestId' | 'formToken'>,
  more: Partial<SignOutRequest>,
) {
  const request = { browser: browser.cookie, requestId, formToken, sessionId: '', action: '', ...more }
  return follow(browser, keep(browser, await signOut(users, request, noCall())))
}

/** Whom the page of a sign-out offers. */
function offered({ answer }: PageAnswer) {
  if (answer?.$case !== 'signOut') throw new Error(`no question: ${JSON.stringify(answer)}`)
  return { names: answer.value.accounts.map(({ loginName }) => loginName).toSorted(), all: answer.value.offersAll }
}

test('whose people sign in at a login application, they sign out there', async () => {
  const loginBaseUri = 'https://login.example.com/'
  const settings = { firstParty: true, postLogoutRedirectUris: [returnUri], loginBaseUri }
  await noteApplication(users, 'own-pages', settings, { organizationId: 'acme' })
  const { browser, sessions } = await browserOf('ada')
  const asked = {
    clientId: 'own-pages',
    logoutHint: 'ada',
    uiLocales: 'de',
    state: 'x',
    postLogoutRedirectUri: returnUri,
  }
  const back = encodeURIComponent(`${returnUri}&state=x`)
  const location = `https://login.example.com/logout?post_logout_redirect=${back}&logout_hint=ada&ui_locales=de`
  expect((await end(browser, asked)).answer).toEqual({ $case: 'redirect', value: { location } })
  const unregistered = await end(browser, { clientId: 'own-pages', postLogoutRedirectUri: 'https://evil.example' })
  expect(unregistered.answer).toEqual({ $case: 'redirect', value: { location: 'https://login.example.com/logout' } })
  expect(await sessionsOf(browser)).toEqual(sessions)
})

test('an expired hint of a session of this browser ends that one alone, and gives the browser another value', async () => {
  const { browser, sessions } = await browserOf('ada', 'grace')
  const before = browser.cookie
  const idTokenHint = await hintOf('ada', sessions['ada']!)
  const answer = await end(browser, { idTokenHint, postLogoutRedirectUri: returnUri, state: 'a state & more' })
  expect(answer.answer).toEqual({ $case: 'redirect', value: { location: `${returnUri}&state=a%20state%20%26%20more` } })
  expect(browser.cookie).not.toBe(before)
  expect(Object.keys(await sessionsOf(browser))).toEqual(['grace'])
  expect(told(await silently(browser))).toHaveProperty('code')
  expect(told(await silently(new Visitor(users, before)))).toEqual(nobody)
})

test('a hint never ends a session of another browser, and of another person here', async () => {
  const [own, foreign] = [await browserOf('ada'), await browserOf('ada')]
  const adas = async ({ browser }: typeof own) => told(await silently(browser))
  const idTokenHint = await hintOf('ada', own.sessions['ada'] ?? 'unknown')
  const asked = await end(foreign.browser, { idTokenHint, postLogoutRedirectUri: returnUri })
  expect(offered(asked)).toEqual({ names: ['ada'], all: false })
  for (const each of [own, foreign]) expect(await adas(each)).toHaveProperty('code')
  const graces = await browserOf('grace')
  const back = await end(graces.browser, { idTokenHint, postLogoutRedirectUri: returnUri })
  expect(back.answer).toEqual({ $case: 'redirect', value: { location: returnUri } })
  for (const each of [own, foreign, graces]) expect(await adas(each)).toHaveProperty('code')
})

test.each([
  ['none', async () => ({})],
  ['of no form', async () => ({ idTokenHint: 'x.y.z' })],
  [
    'of another client than client_id',
    async (sid: string) => ({ idTokenHint: await hintOf('ada', sid), clientId: 'other' }),
  ],
])('with a hint that is none (%s) a page asks, and what it is told happens', async (_, hintFor) => {
  const { browser } = await browserOf('ada', 'grace')
  const { ada } = await sessionsOf(browser)
  const more = { clientId: 'client', postLogoutRedirectUri: returnUri, ...(await hintFor(ada!)) }
  const stayed = await submit(browser, await end(browser, more), { action: 'stay' })
  expect(said(stayed)).toBe(`notice ${NoticeReason.NOTICE_REASON_STILL_SIGNED_IN}`)
  const asked = await end(browser, more)
  expect(offered(asked)).toEqual({ names: ['ada', 'grace'], all: true })
  const one = await submit(browser, asked, { sessionId: ada! })
  expect(one.answer).toEqual({ $case: 'leaving', value: { location: returnUri } })
  const link = keep(
    browser,
    await showSignOut(users, { browser: browser.cookie, requestId: asked.requestId }, noCall()),
  )
  expect(link.answer).toMatchObject({ $case: 'notice', value: { location: returnUri } })
  const rest = await end(browser)
  expect(offered(rest)).toEqual({ names: ['grace'], all: false })
  expect(said(await submit(browser, rest, { action: 'all' }))).toBe(signedOut)
  expect(told(await silently(browser))).toEqual(nobody)
})

test('a logout_hint narrows the question, and ends nobody', async () => {
  const { browser } = await browserOf('ada', 'grace')
  for (const logoutHint of ['grace', people.grace, (await sessionsOf(browser))['grace']!])
    expect(offered(await end(browser, { logoutHint }))).toEqual({ names: ['grace'], all: true })
})

test('the former value of a cookie ends nothing, and its browser goes on with the present one', async () => {
  const { browser, sessions: _ } = await browserOf('ada')
  const former = browser.cookie
  await browser.signIn(await browser.begin({ prompt: 'login' }), 'ada')
  const late = new Visitor(users, former)
  const wayOn = await endSession(users, { ...EndSessionRequest.decode(new Uint8Array()), browser: former }, noCall())
  const signedIn = `notice ${NoticeReason.NOTICE_REASON_STILL_SIGNED_IN}`
  expect(said(await follow(late, wayOn))).toBe(signedIn)
  const form = { requestId: pageOf(wayOn)!, formToken: formToken(users.keys, await browserId(former), pageOf(wayOn)!) }
  expect(said(await submit(late, form, { action: 'all' }))).toBe(signedIn)
  expect(told(await silently(browser))).toHaveProperty('code')
  expect(offered(await follow(browser, wayOn))).toEqual({ names: ['ada'], all: false })
})

test('a POST is kept without a cookie, and its GET ends the session of the browser, once', async () => {
  const { browser } = await browserOf('ada')
  const request = { ...EndSessionRequest.decode(new Uint8Array()), posted: true, postLogoutRedirectUri: returnUri }
  const { answer } = await endSession(users, { ...request, clientId: 'client' }, noCall())
  const [, postedRequest] = /^\/oidc\/v1\/end_session\?posted_request=(.+)$/.exec(
    answer?.$case === 'redirect' ? answer.value.location : '',
  )!
  // A handle of one endpoint is none at the other.
  expect(said(await browser.authorize({ postedRequest: postedRequest! }))).toBe(unknown)
  expect(said(await end(browser, { postedRequest: postedRequest! }))).toBe(unknown)
  const again = await endSession(users, { ...request, clientId: 'client' }, noCall())
  const location = again.answer?.$case === 'redirect' ? again.answer.value.location : ''
  expect(offered(await end(browser, { postedRequest: location.split('=')[1]! }))).toEqual({
    names: ['ada'],
    all: false,
  })
})

test('a sign-out and a sign-in do not know each other’s requests and forms', async () => {
  const { browser } = await browserOf('ada')
  const signingOut = await end(browser)
  const signingIn = requestOf(await browser.authorize({ prompt: 'login' }))
  expect(said(await browser.show(signingOut.requestId))).toBe(unknown)
  const shown = await showSignOut(users, { browser: browser.cookie, requestId: signingIn }, noCall())
  expect(said(shown)).toBe(unknown)
  const forged = await submit(
    browser,
    { ...signingOut, formToken: (await browser.show(signingIn)).formToken },
    { action: 'all' },
  )
  expect(said(forged)).toBe(`notice ${NoticeReason.NOTICE_REASON_FORM_INVALID}`)
  const foreign = await browserOf('grace')
  expect(said(await submit(foreign.browser, signingOut, { action: 'all' }))).toBe(unknown)
  expect(told(await silently(browser))).toHaveProperty('code')
})

test('a page that waited for an hour begins again, and an unknown browser is signed out already', async () => {
  const { browser } = await browserOf('ada')
  const asked = await end(browser)
  await users.sql`update authorization_requests set expires_at = roster_now() where id = ${asked.requestId}`
  const again = await submit(browser, asked, { action: 'all' })
  const next = await follow(browser, again)
  expect(offered(next)).toEqual({ names: ['ada'], all: false })
  expect(next.requestId).not.toBe(asked.requestId)
  const stranger = new Visitor(users)
  const answer = await end(stranger, { clientId: 'client', postLogoutRedirectUri: returnUri })
  expect(answer.answer).toMatchObject({ $case: 'notice', value: { location: returnUri } })
})

test('nobody is sent to an address that is not registered', async () => {
  const { browser, sessions: _ } = await browserOf('ada')
  const spellings = [
    returnUri.toUpperCase(),
    `${returnUri}/`,
    `${returnUri}&a=b`,
    `${returnUri}#x`,
    returnUri.replace('app.', 'app.example.com@evil.'),
    'https://app.example.com/callback',
    '//app.example.com/bye?of=tests',
    'javascript:alert(1)',
  ]
  for (const postLogoutRedirectUri of spellings) {
    const asked = await end(browser, { clientId: 'client', postLogoutRedirectUri })
    expect(asked.answer).toMatchObject({ $case: 'signOut', value: { uriUnregistered: true } })
    const gone = await end(new Visitor(users), { clientId: 'client', postLogoutRedirectUri })
    expect(gone.answer).toMatchObject({ $case: 'notice', value: { location: '' } })
  }
  const tokens = { idTokenHint: await hintOf('ada', 'x'), postLogoutRedirectUri: spellings[0]! }
  expect(offered(await end(browser, tokens))).toEqual({ names: ['ada'], all: false })
})
