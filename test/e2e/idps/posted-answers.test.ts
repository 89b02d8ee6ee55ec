import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request as requestOf } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { admin, newOrganization, ok, unique, uniqueEmail } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, newWebApplication, openBrowser } from '../../examples/sign-in.ts'
import { type PeopleUpstream, type PostedForm, startPeopleUpstream } from '../../support/upstreams/people-upstream.ts'
import { startHostileProvider, type Upstream } from '../../support/upstreams/upstreams.ts'
import { call } from '../clients/encodings.ts'
import { type Browser, errorOf, identityOf, leadsTo, listProviders, press } from './provider-stage.ts'

// Answers of providers that come by POST, or in a header.

const { house, url } = inject('roster')
const why = house ? '' : ' (skipped: it takes a Roster that reaches this machine)'

let home: string
let application: ExampleApplication
let upstream: PeopleUpstream
let apple: string

beforeAll(async () => {
  if (!house) return
  ;[home, upstream] = await Promise.all([newOrganization(), startPeopleUpstream(unique('no-secret'))])
  application = await newWebApplication(home, await newProject(home))
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const settings = {
    name: unique('Apple'),
    preset: 'IDP_PRESET_APPLE',
    issuer: upstream.url,
    clientId: 'roster',
    clientSecret: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    appleKey: { teamId: 'TEAM', keyId: 'KEY' },
    autoRegister: true,
  }
  apple = ok(await call('AddOrganizationOIDCIDP', settings, admin(home))).idpId as string
  await listProviders(home, [apple])
})
afterAll(() => upstream?.stop())

/** Goes to a provider with a form, and comes back with it. */
async function goTo(browser: Browser): Promise<PostedForm> {
  const page = await browser.visit(authorizePath(application))
  return upstream.visitForm(leadsTo(await press(browser, page, apple)))
}

/** As a browser does that comes from another site: its cookie is Lax. The path that it is sent to. */
async function post({ url: { pathname } }: PostedForm, fields: Record<string, string>) {
  const headers = { origin: upstream.url, 'sec-fetch-site': 'cross-site' }
  const init = { method: 'POST', body: new URLSearchParams(fields), headers, redirect: 'manual' as const }
  const answer = await fetch(new URL(pathname, url), init)
  return { status: answer.status, path: answer.headers.get('location') ?? '', cookies: answer.headers.getSetCookie() }
}

// Apple says it once, beside the first code.
const user = JSON.stringify({ name: { firstName: 'Ada', lastName: 'Lovelace' } })

describe.skipIf(!house)(`an answer that the browser posts across sites${why}:`, () => {
  test('signs the person in, with the name beside it, once the browser comes with its cookie', async () => {
    upstream.person = { sub: unique('sub'), claims: { email: uniqueEmail(), email_verified: 'true' } }
    const browser = openBrowser()
    const form = await goTo(browser)
    expect(upstream.asked.at(-1)).toMatchObject({ response_mode: 'form_post', scope: 'openid name email' })
    const { status, path, cookies } = await post(form, { ...form.fields, user })
    expect([status, cookies]).toEqual([303, []])
    expect(path).not.toContain(form.fields['code'])
    // The state alone opens nothing.
    expect((await openBrowser().visit(path)).body).toContain('This link has expired')
    const { sub } = await identityOf(application, await browser.visit(path))
    const { human } = ok(await call('GetUser', { userId: sub }, admin(home))).user
    expect(human.profile).toMatchObject({ firstName: 'Ada', lastName: 'Lovelace' })
    const again = openBrowser()
    const next = await goTo(again)
    expect((await identityOf(application, await again.visit((await post(next, next.fields)).path)))['sub']).toBe(sub)
  })

  test('is kept for a state that is known, and the first one counts', async () => {
    upstream.person = { sub: unique('sub'), claims: { email: uniqueEmail() } }
    const browser = openBrowser()
    const form = await goTo(browser)
    const { state } = form.fields
    for (const unknown of ['', `${state}x`, state!.replace('.', 'x.'), randomUUID()]) {
      const { path } = await post(form, { ...form.fields, state: unknown })
      expect(path).not.toContain('/callback')
    }
    const elsewhere = { ...form, url: new URL(form.url.href.replace(apple, unique('other'))) }
    expect((await post(elsewhere, form.fields)).path).not.toContain('/callback')
    const { path } = await post(form, { ...form.fields, user })
    expect((await post(form, { state: state!, error: 'access_denied' })).path).toBe(path)
    expect((await identityOf(application, await browser.visit(path)))['sub']).toBeTruthy()
  })

  test('says that the person did not want to', async () => {
    const browser = openBrowser()
    const form = await goTo(browser)
    const { state, iss } = form.fields
    const denied = { state: state!, iss: iss!, error: 'user_cancelled_authorize' }
    expect(errorOf(await browser.visit((await post(form, denied)).path))).toContain('cancelled')
  })
})

describe.skipIf(!house)(`a token in a header${why}:`, () => {
  let keys: Upstream
  let proxy: Awaited<ReturnType<typeof startAddingProxy>>
  let idpId: string
  let sign: (claims: object) => Promise<string>
  beforeAll(async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    const jwk = { ...(await exportJWK(publicKey)), kid: 'one', use: 'sig' }
    ;[keys, proxy] = await Promise.all([startHostileProvider({ '/keys': { keys: [jwk] } }), startAddingProxy()])
    const settings = {
      name: unique('Tokens'),
      autoRegister: true,
      jwtEndpoint: 'https://sign-in.example.com/start',
      keysEndpoint: `${keys.url}/keys`,
      issuer: 'acme',
      headerName: 'X-Acme-Token',
    }
    idpId = ok(await call('AddOrganizationJWTIDP', settings, admin(home))).idpId as string
    await listProviders(home, [apple, idpId])
    sign = (claims) => {
      const now = Math.floor(Date.now() / 1000)
      const all = { iss: 'acme', aud: `${url}/idps/${idpId}`, jti: randomUUID(), iat: now, exp: now + 60, ...claims }
      return new SignJWT(all).setProtectedHeader({ alg: 'ES256', kid: 'one' }).sign(privateKey)
    }
  })
  afterAll(() => Promise.all([keys?.stop(), proxy?.stop()]))

  /** Goes to the provider, and comes back through what adds headers. */
  async function comeWith(added: [string, string][]) {
    const browser = openBrowser()
    const leaving = await press(browser, await browser.visit(authorizePath(application)), idpId)
    const to = new URL(leadsTo(leaving))
    expect(to.href).toMatch(/^https:\/\/sign-in\.example\.com\/start\?/)
    const back = new URL(to.searchParams.get('redirect_uri')!)
    proxy.added = added
    try {
      return await openBrowser(proxy.url, browser.cookie()).visit(
        `${back.pathname}?state=${encodeURIComponent(to.searchParams.get('state')!)}`,
      )
    } finally {
      proxy.added = []
    }
  }

  test('signs the person in, once', async () => {
    const claims = { sub: unique('sub'), email: uniqueEmail(), given_name: 'Ada', family_name: 'Lovelace' }
    const token = await sign(claims)
    const { sub } = await identityOf(application, await comeWith([['x-acme-token', `Bearer ${token}`]]))
    const { human } = ok(await call('GetUser', { userId: sub }, admin(home))).user
    expect(human.profile).toMatchObject({ firstName: 'Ada', lastName: 'Lovelace' })
    expect(errorOf(await comeWith([['x-acme-token', token]]))).toContain('could not be accepted')
    expect((await identityOf(application, await comeWith([['X-ACME-TOKEN', await sign(claims)]])))['sub']).toBe(sub)
  })

  test.each([
    ['that comes twice', async (token: string) => [token, token]],
    ['that is missing', async () => []],
    ['beside an empty one', async (token: string) => [token, '']],
  ])('proves nobody, %s', async (_, values) => {
    const token = await sign({ sub: unique('sub'), email: uniqueEmail(), given_name: 'Ada', family_name: 'Lovelace' })
    const added = (await values(token)).map((value): [string, string] => ['x-acme-token', value])
    expect(errorOf(await comeWith(added))).toContain('could not be accepted')
  })

  test('counts in the header alone that the record named when the sign-in began', async () => {
    const token = await sign({ sub: unique('sub'), email: uniqueEmail(), given_name: 'Ada', family_name: 'Lovelace' })
    expect(errorOf(await comeWith([['x-token', token]]))).toContain('could not be accepted')
    expect(errorOf(await comeWith([['authorization', `Bearer ${token}`]]))).toContain('could not be accepted')
  })
})

/** A reverse proxy in front of Roster that adds headers, each in a line of its own. */
async function startAddingProxy() {
  const state = { added: [] as [string, string][] }
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const { host, hostname, port } = new URL(url)
    const own = request.rawHeaders.map((each, at) =>
      request.rawHeaders[at - 1]?.toLowerCase() === 'host' ? host : each,
    )
    const isCallback = request.url!.includes('/callback')
    const headers = [...own, ...(isCallback ? state.added.flat() : [])]
    const onward = requestOf({ hostname, port, path: request.url, method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(response)
    })
    onward.end(body)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return Object.assign(state, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  })
}
