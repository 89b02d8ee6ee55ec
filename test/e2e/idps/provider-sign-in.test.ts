import { afterAll, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { admin, newHuman, newOrganization, ok, unique, uniqueEmail } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, newWebApplication, openBrowser, readText, type Shown } from '../../examples/sign-in.ts'
import { type PeopleUpstream, startPeopleUpstream } from '../../support/upstreams/people-upstream.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'
import { hasMailbox, mailsTo } from '../mailbox.ts'
import {
  type Browser,
  claimsOf,
  comeByProvider,
  enter,
  errorOf,
  identityOf,
  leadsTo,
  listProviders,
  press,
} from './provider-stage.ts'

const { house } = inject('roster')
const why = house ? '' : ' (skipped: it takes a Roster that reaches this machine)'

const secret = unique('idp-secret')
let home: string
let application: ExampleApplication
let upstream: PeopleUpstream
/** A provider of the organization that makes users, and one that does not. */
let making: string
let linking: string

const password = unique('Password')

beforeAll(async () => {
  if (!house) return
  ;[home, upstream] = await Promise.all([newOrganization(), startPeopleUpstream(secret)])
  application = await newWebApplication(home, await newProject(home))
  ;[making, linking] = await Promise.all([newProvider(true), newProvider(false)])
  await list(home, [making, linking])
})
afterAll(() => upstream?.stop())
beforeEach(() => {
  if (upstream) upstream.asked.length = 0
})

type Names = { name?: string; organization?: string }

async function newProvider(autoRegister: boolean, { name = unique('Acme'), organization = home }: Names = {}) {
  const settings = { name, autoRegister, clientId: 'roster', clientSecret: secret, issuer: upstream.url }
  return ok(await call('AddOrganizationOIDCIDP', settings, admin(organization))).idpId as string
}

const list = listProviders
const comeBy = (idpId: string, browser?: Browser, more?: Record<string, string>) =>
  comeByProvider({ application, upstream }, idpId, browser, more)
const subjectOf = (shown: Shown) => identityOf(application, shown)

describe.skipIf(!house)(`people sign in at an OpenID Connect provider${why}:`, () => {
  test('the first sign-in makes the user from its claims, and the next one finds the user', async () => {
    upstream.person = { sub: unique('sub'), claims: claimsOf('Ada') }
    const first = await subjectOf((await comeBy(making)).shown)
    const { user } = ok(await call('GetUser', { userId: first['sub'] }, admin(home)))
    expect(user.human).toMatchObject({
      profile: { firstName: 'Ada', lastName: 'Lovelace' },
      email: { email: upstream.person.claims!['email'] },
    })
    // The word of a provider proves no address.
    expect(user.human.email.isVerified).toBeFalsy()
    upstream.person.claims = claimsOf('Somebody else')
    const second = await subjectOf((await comeBy(making)).shown)
    expect(second['sub']).toBe(first['sub'])
    expect(second['amr'] ?? []).toEqual([])
  })

  test('a page asks for what the provider does not say', async () => {
    upstream.person = { sub: unique('sub'), claims: { email: uniqueEmail() } }
    const { browser, shown } = await comeBy(making)
    expect(shown.body).toContain('Complete your account')
    const wrong = await browser.submit(shown, { action: 'register', given_name: '', family_name: 'Hopper' })
    expect(errorOf(wrong)).not.toBe('')
    const done = await browser.submit(wrong, { action: 'register', given_name: 'Grace', family_name: 'Hopper' })
    const { sub } = await subjectOf(done)
    const { user } = ok(await call('GetUser', { userId: sub }, admin(home)))
    expect(user.human.profile).toMatchObject({ firstName: 'Grace', lastName: 'Hopper' })
  })

  test('a provider that makes nobody is connected to an account by a complete sign-in, and by nothing else', async () => {
    const ada = await newHuman(home, { password })
    upstream.person = { sub: unique('sub'), claims: { ...claimsOf('Ada'), email: ada.email, email_verified: true } }
    const { browser, shown } = await comeBy(linking)
    expect(errorOf(shown)).toContain('No account here is connected')
    const asked = await enter(browser, shown, ada)
    expect(asked.body).toContain('Connect your account?')
    const done = await browser.submit(asked, { action: 'link' })
    expect((await subjectOf(done))['sub']).toBe(ada.userId)
    if (hasMailbox())
      await vi.waitFor(
        async () => {
          const texts = (await mailsTo(ada.email)).map(({ text }) => text)
          expect(texts.join()).toContain('/ui/account/providers')
        },
        { timeout: 20_000 },
      )
    expect((await subjectOf((await comeBy(linking)).shown))['sub']).toBe(ada.userId)
  })

  test('links are listed and removed, by another hand also the last way in, and what began there ends', async () => {
    const sub = unique('sub')
    upstream.person = { sub, claims: claimsOf('Ada') }
    const { browser, shown } = await comeBy(making)
    const userId = (await subjectOf(shown))['sub'] as string
    const { links } = ok(await call('ListIDPLinks', { userId }, admin(home)))
    expect(links).toEqual([
      {
        idpId: making,
        userId: sub,
        userName: 'ada@there',
        issuer: upstream.url,
        creationDate: expect.stringMatching(/^20/),
      },
    ])
    const remove = { userId, idpId: making, linkedUserId: sub }
    const wrong = { ...remove, linkedUserId: unique('sub') }
    expect(factsOf(await call('RemoveIDPLink', wrong, admin(home))).reason).toBe('IDP_LINK_NOT_FOUND')
    const silent = () => browser.visit(authorizePath(application, { prompt: 'none' }))
    expect((await silent()).location).toContain('code=')
    ok(await call('RemoveIDPLink', remove, admin(home)))
    expect((await silent()).location).toContain('login_required')
    const other = await subjectOf((await comeBy(making)).shown)
    expect(other['sub']).not.toBe(userId)
  })

  test('what a removed link opened stays closed, whoever is linked later; and a role on the instance ends it, too', async () => {
    const ada = await newHuman(home, { password })
    const link = async () => {
      upstream.person = { sub: unique('sub'), claims: claimsOf('Ada') }
      const { browser, shown } = await comeBy(linking)
      const asked = await enter(browser, shown, ada)
      await browser.submit(asked, { action: 'link' })
      return upstream.person
    }
    const first = await link()
    upstream.person = first
    const { browser } = await comeBy(linking)
    const silent = async () => (await browser.visit(authorizePath(application, { prompt: 'none' }))).location
    expect(await silent()).toContain('code=')
    const remove = { userId: ada.userId, idpId: linking, linkedUserId: first.sub }
    ok(await call('RemoveIDPLink', remove, admin(home)))
    const second = await link()
    expect(await silent()).toContain('login_required')
    upstream.person = second
    await comeBy(linking, browser)
    expect(await silent()).toContain('code=')
    ok(await call('AddInstanceMember', { userId: ada.userId, roles: ['IAM_OWNER_VIEWER'] }, admin()))
    try {
      await vi.waitFor(async () => expect(await silent()).toContain('login_required'), { timeout: 10_000 })
      expect(errorOf((await comeBy(linking)).shown)).toContain('cannot sign in here in this way')
    } finally {
      ok(await call('RemoveInstanceMember', { userId: ada.userId }, admin()))
    }
  })

  test('the options of a provider decide whether a page asks before it makes a user, and whether accounts are connected', async () => {
    const oidc = { issuer: upstream.url, clientId: 'roster' }
    const whole = { name: unique('Whole'), clientSecret: secret, oidc, options: { isCreationAllowed: true } }
    const { idpId } = ok(await call('AddOrganizationIdentityProvider', whole, admin(home)))
    await list(home, [making, linking, idpId])
    upstream.person = { sub: unique('sub'), claims: claimsOf('Ada') }
    const { browser, shown } = await comeBy(idpId)
    expect(shown.body).toContain('Complete your account')
    const filled = { action: 'register', given_name: 'Ada', family_name: 'King' }
    const { sub } = await subjectOf(await browser.submit(shown, filled))
    const { user } = ok(await call('GetUser', { userId: sub }, admin(home)))
    expect(user.human.profile).toMatchObject({ firstName: 'Ada', lastName: 'King' })
    ok(await call('ReplaceOrganizationIdentityProvider', { idpId, name: whole.name, oidc }, admin(home)))
    upstream.person = { sub: unique('sub'), claims: claimsOf('Ada') }
    const refused = await comeBy(idpId)
    expect(errorOf(refused.shown)).toContain('cannot sign in here in this way')
    const ada = await newHuman(home, { password })
    // Nothing is offered after the sign-in.
    expect((await subjectOf(await enter(refused.browser, refused.shown, ada)))['sub']).toBe(ada.userId)
    await list(home, [making, linking])
  })

  test('nobody is made by a provider that was switched off before the account was complete', async () => {
    const idpId = await newProvider(true)
    await list(home, [making, linking, idpId])
    const email = uniqueEmail()
    upstream.person = { sub: unique('sub'), claims: { email } }
    const { browser, shown } = await comeBy(idpId)
    ok(await call('DeactivateOrganizationIDP', { idpId }, admin(home)))
    await vi.waitFor(
      async () => {
        const { policy } = ok(await call('GetLoginPolicy', {}, admin(home)))
        expect(policy.identityProviders).toEqual([making, linking])
      },
      { timeout: 10_000 },
    )
    const refused = await browser.submit(shown, { action: 'register', given_name: 'Ada', family_name: 'Lovelace' })
    expect(errorOf(refused)).toContain('cannot sign in here in this way')
    const { users } = ok(await call('SearchUsers', { queries: [{ emailQuery: { emailAddress: email } }] }, admin(home)))
    expect(users ?? []).toEqual([])
    await list(home, [making, linking])
  })

  test('what the record does not allow any more is not done on a page that was shown before', async () => {
    upstream.person = { sub: unique('sub'), claims: { email: uniqueEmail() } }
    const idpId = await newProvider(true)
    await list(home, [making, linking, idpId])
    const first = await comeBy(idpId)
    expect(first.shown.body).toContain('Complete your account')
    ok(await call('UpdateOrganizationIDP', { idpId, autoRegister: false }, admin(home)))
    const filled = { action: 'register', given_name: 'Ada', family_name: 'Lovelace' }
    expect(errorOf(await first.browser.submit(first.shown, filled))).toContain('cannot sign in here in this way')

    const ada = await newHuman(home, { password })
    const { browser, shown } = await comeBy(idpId)
    const asked = await enter(browser, shown, ada)
    expect(asked.body).toContain('Connect your account?')
    const name = unique('Whole')
    const oidc = { issuer: upstream.url, clientId: 'roster' }
    ok(await call('ReplaceOrganizationIdentityProvider', { idpId, name, oidc, options: {} }, admin(home)))
    await browser.submit(asked, { action: 'link' })
    expect(ok(await call('ListIDPLinks', { userId: ada.userId }, admin(home))).links ?? []).toEqual([])
    await list(home, [making, linking])
  })

  test('a person disconnects a provider on the page of the account, unless it is the last way in', async () => {
    upstream.person = { sub: unique('sub'), claims: claimsOf('Ada') }
    const { browser, shown } = await comeBy(making)
    const userId = (await subjectOf(shown))['sub'] as string
    // The account asks for a sign-in of late, by the provider that the person is linked to.
    const account = async () => {
      const page = await browser.visit('/ui/account/providers')
      if (!page.body.includes('formaction')) return page
      const back = await upstream.visit(leadsTo(await press(browser, page, making)))
      return browser.visit(back.pathname + back.search)
    }
    const path = '/ui/account/providers/remove'
    const refused = await browser.submit(await account(), {}, path)
    expect(refused.body).toContain('could not sign in any more without this service')
    ok(await call('SetPassword', { userId, newPassword: { password } }, admin(home)))
    await comeBy(making, browser)
    const done = await browser.submit(await account(), {}, path)
    // The session began there.
    expect(done.body).toContain('name="password"')
    expect(ok(await call('ListIDPLinks', { userId }, admin(home))).links ?? []).toEqual([])
  })

  test('who does not want to connect goes on without', async () => {
    const ada = await newHuman(home, { password })
    upstream.person = { sub: unique('sub'), claims: claimsOf('Ada') }
    const { browser, shown } = await comeBy(linking)
    const asked = await enter(browser, shown, ada)
    expect((await subjectOf(await browser.submit(asked, { action: 'not-now' })))['sub']).toBe(ada.userId)
    expect(errorOf((await comeBy(linking)).shown)).toContain('No account here is connected')
  })

  test('an answer counts once, in the browser and for the provider that it was asked for', async () => {
    upstream.person = { sub: unique('sub'), claims: claimsOf('Ada') }
    const browser = openBrowser()
    const page = await browser.visit(authorizePath(application))
    const leaving = await press(browser, page, making)
    const back = await upstream.visit(leadsTo(leaving))
    const elsewhere = back.pathname.replace(making, linking) + back.search
    const another = openBrowser()
    await another.visit(authorizePath(application))
    expect((await another.visit(back.pathname + back.search)).body).toContain('This link has expired')
    expect((await browser.visit(elsewhere)).body).toContain('name="password"')
    const forged = back.pathname + back.search.replace(/state=[^&]+/, (state) => `${state}x`)
    expect((await browser.visit(forged)).body).toContain('name="password"')
    const { sub } = await subjectOf(await browser.visit(back.pathname + back.search))
    const again = await browser.visit(back.pathname + back.search)
    expect(again.body).not.toContain('name="password"')
    expect(sub).toBeTruthy()
  })

  test('the page says what went wrong, and a password goes on to work', async () => {
    const ada = await newHuman(home, { password })
    upstream.person = { sub: unique('sub'), refuses: true }
    const { browser, shown } = await comeBy(making)
    expect(errorOf(shown)).toContain('cancelled')
    expect((await subjectOf(await enter(browser, shown, ada)))['sub']).toBe(ada.userId)
  })

  test('what the application asks for goes on to the provider, and its time counts', async () => {
    upstream.person = { sub: unique('sub'), claims: claimsOf('Ada') }
    await comeBy(making)
    const { shown } = await comeBy(making, openBrowser(), { max_age: '60', prompt: 'login', login_hint: 'ada' })
    expect(upstream.asked.at(-1)).toMatchObject({ prompt: 'login', max_age: '60', login_hint: 'ada' })
    const { auth_time } = await subjectOf(shown)
    expect(Math.abs(auth_time - Date.now() / 1000)).toBeLessThan(60)
  })

  test('an application leads straight to a provider of the policy, and to no other one', async () => {
    upstream.person = { sub: unique('sub'), claims: claimsOf('Ada') }
    const scope = (id: string) => `openid profile urn:zitadel:iam:org:idp:id:${id}`
    const browser = openBrowser()
    const leaving = await browser.visit(authorizePath(application, { scope: scope(making) }))
    const back = await upstream.visit(leadsTo(leaving))
    expect((await subjectOf(await browser.visit(back.pathname + back.search)))['sub']).toBeTruthy()
    const foreign = await newProvider(true, { organization: await newOrganization() })
    for (const id of [unique('unknown'), foreign]) {
      const { location, body } = await browser.visit(authorizePath(application, { scope: scope(id) }))
      expect(location + body).toContain('invalid_scope')
    }
  })

  test('a provider that is switched off, not listed any more, or of another organization proves nobody', async () => {
    const idpId = await newProvider(true)
    await list(home, [making, linking, idpId])
    upstream.person = { sub: unique('sub'), claims: claimsOf('Ada') }
    const { browser, shown } = await comeBy(idpId)
    await subjectOf(shown)
    const silent = () => browser.visit(authorizePath(application, { prompt: 'none' }))
    expect((await silent()).location).toContain('code=')
    // Begun before it is switched off, and answered after.
    const late = openBrowser()
    const leaving = await press(late, await late.visit(authorizePath(application)), idpId)
    const back = await upstream.visit(leadsTo(leaving))
    ok(await call('DeactivateOrganizationIDP', { idpId }, admin(home)))
    await vi.waitFor(async () => expect((await silent()).location).toContain('login_required'), { timeout: 10_000 })
    const page = await late.visit(back.pathname + back.search)
    expect(errorOf(page)).toContain('does not work at the moment')
    expect(page.body).not.toContain(idpId)
    ok(await call('ReactivateOrganizationIDP', { idpId }, admin(home)))
    await vi.waitFor(async () => expect((await silent()).location).toContain('code='), { timeout: 10_000 })
    ok(await call('UpdateLoginPolicy', { settings: { identityProviders: { idpIds: [making, linking] } } }, admin(home)))
    expect((await silent()).location).toContain('login_required')
    const other = await newOrganization()
    ok(await call('UpdateLoginPolicy', { settings: { identityProviders: { idpIds: [making] } } }, admin(other)))
    const { policy } = ok(await call('GetLoginPolicy', {}, admin(other)))
    expect(policy.identityProviders ?? []).toEqual([])
  })

  test('a changed name and switch of the record change the page, and what a first sign-in does', async () => {
    const idpId = await newProvider(false)
    await list(home, [making, linking, idpId])
    const name = unique('Renamed <b>Acme</b>')
    ok(
      await call(
        'UpdateOrganizationIDP',
        { idpId, name, stylingType: 'STYLING_TYPE_GOOGLE', autoRegister: true },
        admin(home),
      ),
    )
    await vi.waitFor(
      async () => {
        const { body } = await openBrowser().visit(authorizePath(application))
        expect(readText(body)).toContain(`Continue with <bdi>${name}</bdi>`)
        expect(body).not.toContain(name)
        expect(body).toContain('<svg')
      },
      { timeout: 10_000 },
    )
    upstream.person = { sub: unique('sub'), claims: claimsOf('Ada') }
    expect((await subjectOf((await comeBy(idpId)).shown))['sub']).toBeTruthy()
    await list(home, [making, linking])
  })
})

describe.skipIf(!house)(`people sign in at an OAuth 2.0 provider${why}:`, () => {
  const newOauthProvider = async () => {
    const { url } = upstream
    const endpoints = { authorizationEndpoint: `${url}/auth`, tokenEndpoint: `${url}/token`, userEndpoint: `${url}/me` }
    const settings = { name: unique('OAuth'), autoRegister: true, clientId: 'roster', clientSecret: secret }
    const ofOauth = { ...endpoints, scopes: ['openid', 'profile', 'email'], idAttribute: 'sub' }
    return ok(await call('AddOrganizationOAuthIDP', { ...settings, ...ofOauth }, admin(home))).idpId as string
  }

  test('the person is whom its address of users names, and another provider knows nobody of it', async () => {
    const idpId = await newOauthProvider()
    await list(home, [making, linking, idpId])
    upstream.person = { sub: unique('sub'), claims: claimsOf('Ada') }
    const first = await subjectOf((await comeBy(idpId)).shown)
    const { user } = ok(await call('GetUser', { userId: first['sub'] }, admin(home)))
    expect(user.human.profile).toMatchObject({ firstName: 'Ada', lastName: 'Lovelace' })
    expect((await subjectOf((await comeBy(idpId)).shown))['sub']).toBe(first['sub'])
    expect(errorOf((await comeBy(linking)).shown)).toContain('No account here is connected')
    // OAuth 2.0 has no time of a sign-in, so none is young enough.
    const { shown } = await comeBy(idpId, openBrowser(), { prompt: 'login' })
    expect(errorOf(shown)).not.toBe('')
    await list(home, [making, linking])
  })
})
