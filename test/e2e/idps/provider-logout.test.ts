import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { sendForm } from '../../examples/oauth.ts'
import { newLoginClient } from '../../examples/login-applications.ts'
import { admin, newOrganization, ok, unique, uniqueEmail } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, newWebApplication, openBrowser } from '../../examples/sign-in.ts'
import { type LyingUpstream, startLyingUpstream } from '../../support/upstreams/lying-upstream.ts'
import { factsOf } from '../clients/call.ts'
import { call, encodings, recordSecret } from '../clients/encodings.ts'
import { type Browser, identityOf, leadsTo, listProviders, press } from './provider-stage.ts'

// A provider says that somebody has signed out there (OpenID Connect Back-Channel Logout 1.0).

const { house } = inject('roster')
const why = house ? '' : ' (skipped: it takes a Roster that reaches this machine)'
const event = 'http://schemas.openid.net/event/backchannel-logout'

let home: string
let application: ExampleApplication
let upstream: LyingUpstream
let idpId: string

beforeAll(async () => {
  if (!house) return
  ;[home, upstream] = await Promise.all([newOrganization(), startLyingUpstream()])
  application = await newWebApplication(home, await newProject(home))
  idpId = await newProvider()
  await listProviders(home, [idpId])
})
afterAll(() => upstream?.stop())

async function newProvider(issuer = upstream.url) {
  const settings = { name: unique('Acme'), clientId: 'roster', clientSecret: 'a secret', issuer }
  return ok(await call('AddOrganizationOIDCIDP', { ...settings, autoRegister: true }, admin(home))).idpId as string
}

interface There {
  sub: string
  sid?: string | undefined
  browser: Browser
  userId: string
}

const newPerson = () => ({ sub: unique('sub'), email: uniqueEmail(), given_name: 'Ada', family_name: 'Lovelace' })

/** Signs in there, in a browser of its own unless one is named. */
async function signIn(
  person = newPerson(),
  sid: string | undefined = unique('sid'),
  { at = idpId, browser = openBrowser(), more = {} } = {},
): Promise<There> {
  upstream.claims = { ...person, sid, auth_time: now() + 1 }
  const leaving = await press(browser, await browser.visit(authorizePath(application, more)), at)
  const shown = await browser.visit(upstream.back(leadsTo(leaving)))
  const { sub: userId } = await identityOf(application, shown)
  expect(userId).toBeTruthy()
  return { sub: person.sub, sid, browser, userId }
}

const isIn = async ({ browser }: There) =>
  (await browser.visit(authorizePath(application, { prompt: 'none' }))).location.includes('code=')

/** A sign-in there that a login application began: what it gets. */
async function prove(client: { token: string }, person: object, sid = unique('sid')) {
  upstream.claims = { ...person, sid }
  const urls = { successUrl: 'https://app.example.com/idp', failureUrl: 'https://app.example.com/failed' }
  const { authUrl } = ok(await call('StartIdentityProviderIntent', { idpId, urls }, client))
  const browser = openBrowser()
  const { location } = await browser.visit(new URL(authUrl).pathname)
  const end = new URL((await browser.visit(upstream.back(location))).location)
  const [idpIntentId, idpIntentToken] = ['id', 'token'].map((name) => end.searchParams.get(name)!)
  recordSecret(idpIntentToken)
  return { sid, proof: { idpIntentId: idpIntentId!, idpIntentToken: idpIntentToken! } }
}

const now = () => Math.floor(Date.now() / 1000)
const claimsOf = (more: object) => ({
  iss: upstream.url,
  aud: 'roster',
  iat: now(),
  exp: now() + 120,
  jti: randomUUID(),
  events: { [event]: {} },
  ...more,
})

async function tell(token: string, id = idpId): Promise<number> {
  return (await sendForm(`/oauth/v2/idps/${id}/backchannel_logout`, { logout_token: token })).status
}

async function tellOf(more: object, header: Record<string, unknown> = { typ: 'logout+jwt' }) {
  return tell(await upstream.sign(claimsOf(more), header))
}

const isOut = (there: There) => vi.waitFor(async () => expect(await isIn(there)).toBe(false), { timeout: 1000 })

describe.skipIf(!house)(`what a provider ends by a logout token${why}:`, () => {
  test('the session of its sid, within a second, and no other one', async () => {
    const person = newPerson()
    const [one, other] = [await signIn(person), await signIn(person)]
    expect([await isIn(one), await isIn(other)]).toEqual([true, true])
    expect(await tellOf({ sid: one.sid, sub: one.sub })).toBe(200)
    await isOut(one)
    expect(await isIn(other)).toBe(true)
    expect(await tellOf({ sid: other.sid }, {})).toBe(200)
    await isOut(other)
  })

  test('all sessions of its subject, where it names no sid, and nobody else’s', async () => {
    const person = newPerson()
    const [one, other, stranger] = [await signIn(person), await signIn(person, undefined), await signIn()]
    expect(await tellOf({ sub: person.sub })).toBe(200)
    await Promise.all([isOut(one), isOut(other)])
    expect(await isIn(stranger)).toBe(true)
    expect(await tellOf({ sub: unique('nobody') })).toBe(200)
    // A session of one person, in the name of another.
    expect(await tellOf({ sub: person.sub, sid: stranger.sid })).toBe(200)
    expect(await isIn(stranger)).toBe(true)
  })

  test('nothing by a token that is none, of another, too old, or for others', async () => {
    const there = await signIn()
    const { sub, sid } = there
    const of = { sub, sid }
    const { events, ...withoutEvents } = claimsOf(of)
    const { jti, ...withoutId } = claimsOf(of)
    const { iat, ...withoutTime } = claimsOf(of)
    expect([events, jti, iat].every(Boolean)).toBe(true)
    const wrong: [string, string][] = [
      ['no token', 'no token'],
      ['without events', await upstream.sign(withoutEvents)],
      ['without jti', await upstream.sign(withoutId)],
      ['without iat', await upstream.sign(withoutTime)],
      ['of another event', await upstream.sign(claimsOf({ ...of, events: { other: {} } }))],
      ['whose event is a text', await upstream.sign(claimsOf({ ...of, events: { [event]: 'yes' } }))],
      ['with a nonce', await upstream.sign(claimsOf({ ...of, nonce: '' }))],
      ['of nobody', await upstream.sign(claimsOf({}))],
      ['for another client', await upstream.sign(claimsOf({ ...of, aud: 'other' }))],
      ['of another issuer', await upstream.sign(claimsOf({ ...of, iss: 'https://other.example.com' }))],
      ['of long ago', await upstream.sign(claimsOf({ ...of, iat: now() - 3600 }))],
      ['that has expired', await upstream.sign(claimsOf({ ...of, exp: now() - 120 }))],
      ['of another type', await upstream.sign(claimsOf(of), { typ: 'at+jwt' })],
      ['with a wrong signature', (await upstream.sign(claimsOf(of))).replace(/.{20}$/, 'A'.repeat(20))],
      [
        'unsigned',
        `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify(claimsOf(of))).toString('base64url')}.`,
      ],
    ]
    const answers = await Promise.all(wrong.map(async ([what, token]) => [what, await tell(token)]))
    expect(answers).toEqual(wrong.map(([what]) => [what, 400]))
    expect(await isIn(there)).toBe(true)
    const right = await upstream.sign(claimsOf(of))
    expect(await tell(right, unique('no-provider'))).toBe(400)
    const refused = factsOf(await encodings[1].call('LogOutByProvider', { idpId, logoutToken: 'no token' }))
    expect(refused).toMatchObject({ reason: 'LOGOUT_TOKEN_INVALID', code: 3 })
    expect(await tell(right)).toBe(200)
    await isOut(there)
    // Once.
    expect(await tell(right)).toBe(400)
  })

  test('the session that another provider has signed in to since', async () => {
    const other = await newProvider()
    await listProviders(home, [idpId, other])
    const person = newPerson()
    const there = await signIn(person)
    ok(await call('AddIDPLink', { userId: there.userId, idpLink: { idpId: other, userId: person.sub } }, admin(home)))
    const again = await signIn(person, unique('sid'), { at: other, browser: there.browser, more: { prompt: 'login' } })
    expect(await tellOf({ sid: again.sid })).toBe(200)
    expect(await isIn(there)).toBe(true)
    expect(await tellOf({ sid: there.sid, sub: there.sub })).toBe(200)
    await isOut(there)
    await listProviders(home, [idpId])
  })

  test('what it proved before to a login application, of the sid or of its subject', async () => {
    const client = await newLoginClient(home)
    const [one, other, both] = [newPerson(), newPerson(), newPerson()]
    const [of, ofOther, next] = [await prove(client, one), await prove(client, other), await prove(client, one)]
    const [stays, ofSub] = [await prove(client, both), await prove(client, both)]
    const open = async ({ proof }: Awaited<ReturnType<typeof prove>>) => {
      const answer = await call('RetrieveIdentityProviderIntent', proof, client)
      return answer.error ? factsOf(answer).reason : 'in'
    }
    // Nobody here is linked to them yet.
    expect(await tellOf({ sub: one.sub, sid: of.sid })).toBe(200)
    expect(await Promise.all([of, next, ofOther].map(open))).toEqual(['IDP_INTENT_NOT_FOUND', 'in', 'in'])
    expect(await tellOf({ sid: ofOther.sid, sub: both.sub })).toBe(200)
    expect(await Promise.all([ofOther, stays].map(open))).toEqual(['in', 'in'])
    expect(await tellOf({ sub: both.sub })).toBe(200)
    expect(await Promise.all([stays, ofSub, ofOther].map(open))).toEqual([
      ...Array(2).fill('IDP_INTENT_NOT_FOUND'),
      'in',
    ])
    expect(await tellOf({ sid: ofOther.sid })).toBe(200)
    expect(await open(ofOther)).toBe('IDP_INTENT_NOT_FOUND')
  })

  test('nothing by a key that nobody knows, which may be new: the provider is told to come again', async () => {
    const fresh = await startLyingUpstream()
    const at = await newProvider(fresh.url)
    const tellUnknown = async () =>
      tell(await fresh.sign({ ...claimsOf({ sub: 'ada' }), iss: fresh.url }, { kid: 'new' }), at)
    // The keys are read for the first one, and not for a minute after it.
    expect([await tellUnknown(), await tellUnknown()]).toEqual([400, 503])
    await fresh.stop()
  })

  test('nothing at another provider of the same issuer', async () => {
    const there = await signIn()
    const other = await newProvider()
    expect(await tell(await upstream.sign(claimsOf({ sub: there.sub, sid: there.sid })), other)).toBe(200)
    expect(await isIn(there)).toBe(true)
  })
})
