import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { admin, newHuman, newOrganization, ok, unique, uniqueEmail } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, newWebApplication, openBrowser, type Shown } from '../../examples/sign-in.ts'
import { readPage } from '../../examples/sign-in-kinds.ts'
import { type LyingUpstream, startLyingUpstream } from '../../support/upstreams/lying-upstream.ts'
import { call } from '../clients/encodings.ts'
import { type Browser, enter, errorOf, identityOf, leadsTo, listProviders, press } from './provider-stage.ts'

const { house } = inject('roster')
const why = house ? '' : ' (skipped: it takes a Roster that reaches this machine)'

let home: string
let application: ExampleApplication
let upstream: LyingUpstream
let making: string
let linking: string

beforeAll(async () => {
  if (!house) return
  ;[home, upstream] = await Promise.all([newOrganization(), startLyingUpstream()])
  application = await newWebApplication(home, await newProject(home))
  ;[making, linking] = await Promise.all([newProvider(true), newProvider(false)])
  await listProviders(home, [making, linking])
})
afterAll(() => upstream?.stop())
beforeEach(() => {
  if (upstream) upstream.asked.length = 0
})

async function newProvider(autoRegister: boolean) {
  const settings = { name: unique('Liar'), clientId: 'roster', clientSecret: 'a secret', issuer: upstream.url }
  return ok(await call('AddOrganizationOIDCIDP', { ...settings, autoRegister }, admin(home))).idpId as string
}

const somebody = () => ({ sub: unique('sub'), email: uniqueEmail(), given_name: 'Ada', family_name: 'Lovelace' })

/** Begins there, and returns the way back. */
async function leave(browser: Browser, idpId: string, more: Record<string, string> = {}) {
  const page = await browser.visit(authorizePath(application, more))
  return upstream.back(leadsTo(await press(browser, page, idpId)))
}

async function comeBy(idpId: string, more?: Record<string, string>, browser = openBrowser()): Promise<Shown> {
  return browser.visit(await leave(browser, idpId, more))
}

describe.skipIf(!house)(`of a provider that says what it likes${why},`, () => {
  test('a time of the sign-in that is no time is not believed, and the page goes on', async () => {
    for (const auth_time of [1e14, 9e15, 1e300, -1, 'yesterday']) {
      upstream.claims = { ...somebody(), auth_time }
      const shown = await comeBy(making)
      expect([auth_time, shown.status, errorOf(shown)]).toEqual([auth_time, 200, expect.stringContaining('accepted')])
    }
  })

  test('a sign-in without a time satisfies neither max_age nor prompt=login', async () => {
    upstream.claims = somebody()
    expect((await identityOf(application, await comeBy(making)))['sub']).toBeTruthy()
    for (const more of [{ max_age: '3600' }, { prompt: 'login' }])
      expect(errorOf(await comeBy(making, more))).toContain('does not say that you did')
  })

  test('one answer counts, of sixty at once, and the provider is asked once', async () => {
    upstream.claims = somebody()
    const browser = openBrowser()
    const back = await leave(browser, making)
    let go!: () => void
    upstream.stalls = new Promise((resolve) => (go = resolve))
    const comers = Array.from({ length: 60 }, () => openBrowser(undefined, browser.cookie()).visit(back))
    let back59 = 0
    const counted = comers.map((one) => one.finally(() => (back59 += 1)))
    // All but the one that asks come back at once.
    await vi.waitFor(() => expect(back59).toBeGreaterThan(0), { timeout: 20_000 })
    go()
    upstream.stalls = undefined
    const shown = await Promise.all(counted)
    expect(shown.some(({ body }) => body.includes('name="password"'))).toBe(true)
    expect(upstream.asked).toHaveLength(1)
  })

  test('a subject of the former issuer is nobody, and the link that it had gives way to a new one', async () => {
    const ada = await newHuman(home, { password: unique('Password') })
    const claims = somebody()
    upstream.claims = claims
    const connect = async () => {
      const browser = openBrowser()
      const asked = await enter(browser, await comeBy(linking, {}, browser), ada)
      expect(asked.body).toContain('Connect your account?')
      return identityOf(application, await browser.submit(asked, { action: 'link' }))
    }
    expect((await connect())['sub']).toBe(ada.userId)
    expect((await identityOf(application, await comeBy(linking)))['sub']).toBe(ada.userId)
    const former = upstream
    upstream = await startLyingUpstream()
    try {
      const change = { idpId: linking, issuer: upstream.url, clientSecret: 'another secret' }
      ok(await call('UpdateOrganizationIDPOIDCConfig', change, admin(home)))
      upstream.claims = claims
      expect(errorOf(await comeBy(linking))).toContain('No account here is connected')
      expect((await connect())['sub']).toBe(ada.userId)
      const { links } = ok(await call('ListIDPLinks', { userId: ada.userId }, admin(home)))
      expect(links).toEqual([expect.objectContaining({ idpId: linking, issuer: upstream.url })])
    } finally {
      await upstream.stop()
      upstream = former
      const back = { idpId: linking, issuer: former.url, clientSecret: 'a secret' }
      ok(await call('UpdateOrganizationIDPOIDCConfig', back, admin(home)))
    }
  })

  test('a sign-in that belongs to none, at an account that has another one there, is refused in words', async () => {
    const ada = await newHuman(home, { password: unique('Password') })
    upstream.claims = somebody()
    const browser = openBrowser()
    await browser.submit(await enter(browser, await comeBy(linking, {}, browser), ada), { action: 'link' })
    upstream.claims = somebody()
    const again = openBrowser()
    const page = await enter(again, await comeBy(linking, {}, again), ada)
    expect(errorOf(page)).toContain('already connected to another account at')
    expect(page.body).not.toContain('value="link"')
    expect((await identityOf(application, await again.submit(page, { action: 'not-now' })))['sub']).toBe(ada.userId)
  })

  test('nothing is connected before the second factor of the account', async () => {
    const ada = await newHuman(home, { password: unique('Password') })
    const { secret } = ok(await call('RegisterTOTP', { userId: ada.userId }, admin(home)))
    const app = new TOTP({ secret: Secret.fromBase32(secret) })
    const timestamp = Date.now() - 30_000
    ok(await call('VerifyTOTPRegistration', { userId: ada.userId, code: app.generate({ timestamp }) }, admin(home)))
    upstream.claims = somebody()
    const browser = openBrowser()
    const half = await enter(browser, await comeBy(linking, {}, browser), ada)
    expect(readPage(half).kind).toBe('app code')
    const linked = async () => ok(await call('ListIDPLinks', { userId: ada.userId }, admin(home))).links ?? []
    const body = half.body.replace(/(<form method="post" action="\/ui\/login\/[^"/]+)[^"]*"/, '$1/provider"')
    await browser.submit({ ...half, body }, { action: 'link' })
    expect(await linked()).toEqual([])
    const asked = await browser.submit(half, { action: 'check', factor: 'totp', code: app.generate() })
    expect(readPage(asked).kind).toBe('connect provider')
    expect((await identityOf(application, await browser.submit(asked, { action: 'link' })))['sub']).toBe(ada.userId)
    expect(await linked()).toHaveLength(1)
  })

  test('two people who connect the same sign-in: the second one is told', async () => {
    const [ada, bob] = await Promise.all([1, 2].map(() => newHuman(home, { password: unique('Password') })))
    upstream.claims = somebody()
    const [one, other] = [openBrowser(), openBrowser()]
    const first = await enter(one, await comeBy(linking, {}, one), ada!)
    const second = await enter(other, await comeBy(linking, {}, other), bob!)
    expect((await identityOf(application, await one.submit(first, { action: 'link' })))['sub']).toBe(ada!.userId)
    const told = await other.submit(second, { action: 'link' })
    expect(errorOf(told)).toContain('already connected to another account here')
    expect((await identityOf(application, await other.submit(told, { action: 'not-now' })))['sub']).toBe(bob!.userId)
  })
})
