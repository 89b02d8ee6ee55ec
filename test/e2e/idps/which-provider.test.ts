import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { admin, getUser, newHuman, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import {
  authorizePath,
  formOf,
  newWebApplication,
  openBrowser,
  readText,
  redeem,
  type Shown,
} from '../../examples/sign-in.ts'
import { type PeopleUpstream, startPeopleUpstream } from '../../support/upstreams/people-upstream.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'
import { type Browser, claimsOf, comeBack, errorOf, leadsTo, newProvider, press, setPolicy } from './at-provider.ts'

const { house } = inject('roster')
const why = house ? '' : ' (skipped: it takes a Roster that reaches this machine)'
const patient = { timeout: 15_000, interval: 500 }

const secret = unique('idp-secret')
const password = unique('Password')
let upstream: PeopleUpstream

beforeAll(async () => {
  if (house) upstream = await startPeopleUpstream(secret)
})
afterAll(() => upstream?.stop())

async function newPlace() {
  const home = await newOrganization()
  const [application, idpId] = await Promise.all([
    newProject(home).then((projectId) => newWebApplication(home, projectId)),
    newProvider(upstream, secret, home, { autoRegister: true }),
  ])
  return { home, application, idpId }
}

const isLed = ({ body }: Shown) => body.includes(`${upstream.url}/auth`)
const hasPassword = ({ body }: Shown) => body.includes('name="password"')

describe.skipIf(!house)(`pages that ask for the name alone first${why}`, () => {
  const domain = `${unique('d')}.example`
  let place: Awaited<ReturnType<typeof newPlace>>
  const policy = () => ({
    allowDomainDiscovery: true,
    identityProviders: { idpIds: [place.idpId], domains: [{ domain, idpId: place.idpId, trusted: true }] },
  })
  beforeAll(async () => {
    place = await newPlace()
    ok(await call('ConfirmOrganizationDomain', { orgId: place.home, domain }, admin()))
    await setPolicy(place.home, policy())
    await vi.waitFor(async () => expect(isLed(await type(`x@${domain}`))).toBe(true), patient)
  })

  /** Types a name where it is asked for alone: the page that comes then. */
  async function type(name: string, { application } = place, browser = openBrowser(), more = {}) {
    const page = await browser.visit(authorizePath(application, more))
    expect(hasPassword(page)).toBe(false)
    return browser.submit(page, { action: 'name', login_name: name })
  }

  test('lead to the provider of the domain that an organization proved, whoever has the name', async () => {
    const ada = await newHuman(place.home, { email: `${unique('ada')}@${domain}`, password })
    const upper = ada.email.toUpperCase()
    for (const name of [ada.email, upper, `${unique('nobody')}@${domain}`]) {
      const browser = openBrowser()
      const leaving = await type(name, place, browser)
      upstream.person = { sub: unique('sub'), refuses: true }
      const back = await comeBack(upstream, browser, leaving)
      expect(upstream.asked.at(-1)).toMatchObject({ login_hint: name })
      // What went wrong stands on the page, which goes on with a password.
      expect([errorOf(back), hasPassword(back)]).toEqual([expect.stringContaining('cancelled'), true])
    }
    upstream.person = { sub: unique('sub'), claims: { email: ada.email, email_verified: true } }
    const browser = openBrowser()
    const done = await comeBack(upstream, browser, await type(ada.email, place, browser))
    expect(errorOf(done)).toBe('')
    expect((await claimsOf(place.application, done))['sub']).toBe(ada.userId)
  })

  test('lead there by a name that the person typed as a button does: who comes may connect the own account', async () => {
    const linking = await newProvider(upstream, secret, place.home)
    const domains = [{ domain, idpId: linking }]
    await setPolicy(place.home, {
      allowDomainDiscovery: true,
      identityProviders: { idpIds: [place.idpId, linking], domains },
    })
    const ada = await newHuman(place.home, { email: `${unique('ada')}@${domain}`, password })
    const enter = async (more: Record<string, string>) => {
      const browser = openBrowser()
      upstream.person = { sub: unique('sub'), claims: { email: ada.email } }
      const back = await comeBack(upstream, browser, await type(ada.email, place, browser, more))
      return browser.submit(back, { action: 'sign-in', login_name: ada.email, password })
    }
    expect((await enter({})).body).toContain('Connect your account?')
    // What the application filled in is nobody's choice.
    const filled = await enter({ login_hint: ada.email })
    expect((await claimsOf(place.application, filled))['sub']).toBe(ada.userId)
    // A browser sends a line break of it back no more.
    const broken = await enter({ login_hint: ada.email.replace('@', '@\n') })
    expect((await claimsOf(place.application, broken))['sub']).toBe(ada.userId)
    await setPolicy(place.home, policy())
  })

  test('ask for the password else, alike for each name', async () => {
    const bob = await newHuman(place.home, { password })
    const shown = async (name: string) => {
      const page = await type(name)
      expect([isLed(page), hasPassword(page)]).toEqual([false, true])
      expect(formOf(page.body)!.fields['login_name']).toBe(name)
      return page.body.replaceAll(name, 'NAME').replaceAll(/[\w-]{20,}/g, '')
    }
    const [one, ...others] = await Promise.all(
      [bob.email, bob.userName, unique('nobody'), `x@sub.${domain}`, `x@${unique('d')}.example`].map(shown),
    )
    for (const other of others) expect(other).toBe(one)
    const browser = openBrowser()
    const page = await type(bob.userName, place, browser)
    const done = await browser.submit(page, { action: 'sign-in', login_name: bob.userName, password })
    expect((await claimsOf(place.application, done))['sub']).toBe(bob.userId)
  })

  test('lead there from applications of others, unless these take their own people alone or do not ask', async () => {
    const other = await newPlace()
    ok(await call('UpdateLoginPolicy', { settings: { allowDomainDiscovery: true } }, admin(other.home)))
    const name = `${unique('eve')}@${domain}`
    expect(isLed(await type(name, other))).toBe(true)
    const scope = `openid urn:zitadel:iam:org:id:${other.home}`
    expect(isLed(await type(name, other, openBrowser(), { scope }))).toBe(false)
    // A provider that is not listed any more, and an entry without one, lead nowhere.
    await setPolicy(place.home, { allowDomainDiscovery: true, identityProviders: { idpIds: [place.idpId] } })
    expect(isLed(await type(name))).toBe(false)
    await setPolicy(place.home, policy())
    const { application } = place
    ok(await call('UpdateLoginPolicy', { settings: { allowDomainDiscovery: false } }, admin(other.home)))
    const plain = await openBrowser().visit(authorizePath(other.application))
    expect(hasPassword(plain)).toBe(true)
    ok(await call('RemoveOrganizationDomain', { domain }, admin(place.home)))
    await vi.waitFor(async () => expect(isLed(await type(name, { ...place, application }))).toBe(false), patient)
  })
})

describe.skipIf(!house)(`where an organization lets people sign in by one provider alone${why}`, () => {
  let place: Awaited<ReturnType<typeof newPlace>>
  const alone = () => ({ allowUsernamePassword: false, identityProviders: { idpIds: [place.idpId] } })
  beforeAll(async () => {
    place = await newPlace()
    await setPolicy(place.home, alone())
  })
  const setPerson = (more: object = {}) => {
    upstream.person = {
      sub: unique('sub'),
      claims: { email: `${unique('a')}@x.example`, given_name: 'A', family_name: 'B' },
      ...more,
    }
  }
  const visit = (browser: Browser, application: ExampleApplication, more = {}) =>
    browser.visit(authorizePath(application, more))

  test('a request leads there without a page, but not silently, not after an error, and not twice', async () => {
    const { application, idpId } = place
    setPerson()
    const browser = openBrowser()
    const { location } = await visit(browser, application, { prompt: 'none' })
    expect(location).toContain('error=login_required')
    const done = await comeBack(upstream, browser, await visit(browser, application))
    expect((await claimsOf(application, done))['sub']).toBeTruthy()
    setPerson({ refuses: true })
    const another = openBrowser()
    const leaving = await visit(another, application)
    const request = new URL(leadsTo(leaving)).searchParams.get('state')!.split('.')[0]!
    const refused = await comeBack(upstream, another, leaving)
    expect([errorOf(refused), hasPassword(refused)]).toEqual([expect.stringContaining('cancelled'), false])
    const again = await another.visit(`/ui/login/${request}`)
    expect([isLed(again), again.body.includes(idpId)]).toEqual([false, true])
    // Back from the provider, the page is there.
    const third = openBrowser()
    const left = await visit(third, application)
    const state = new URL(leadsTo(left)).searchParams.get('state')!
    const back = await third.visit(`/ui/login/${state.split('.')[0]}`)
    expect([isLed(left), isLed(back), back.body.includes(idpId)]).toEqual([true, false, true])
  })

  test('after a sign-out a page comes, or whoever is signed in at the provider would be back at once', async () => {
    const { application, idpId } = place
    setPerson()
    const browser = openBrowser()
    const done = await comeBack(upstream, browser, await visit(browser, application))
    const code = new URL(done.location || leadsTo(done)).searchParams.get('code')!
    const { body } = await redeem(application, code)
    const hint = new URLSearchParams({ id_token_hint: body['id_token'] as string })
    await browser.visit(`/oidc/v1/end_session?${hint.toString()}`)
    const page = await visit(browser, application)
    expect([isLed(page), page.body.includes(idpId)]).toEqual([false, true])
    const signedIn = await comeBack(upstream, browser, await press(browser, page, idpId))
    expect((await claimsOf(application, signedIn))['sub']).toBeTruthy()
  })

  test('a password signs nobody in, but who has a role of Roster, whom a link made by an address alone does not', async () => {
    const other = await newPlace()
    await setPolicy(other.home, { identityProviders: { idpIds: [other.idpId] } })
    const ada = await newHuman(place.home, { password })
    const enter = async (application: ExampleApplication, typed = password) => {
      const browser = openBrowser()
      const page = await visit(browser, application)
      return browser.submit(page, { action: 'sign-in', login_name: ada.userName, password: typed })
    }
    const refused = await enter(other.application)
    // As a wrong one: nobody learns that it is right.
    const wrong = await enter(other.application, unique('Wrong'))
    expect([refused.location, errorOf(refused)]).toEqual(['', errorOf(wrong)])
    expect(errorOf(wrong)).not.toBe('')
    const projectId = await newProject(place.home)
    const { userId } = ada
    // A role elsewhere opens no password here, or anybody with an organization could open those of others.
    const elsewhere = { userId, roles: ['ORG_OWNER_VIEWER'] }
    ok(await call('AddOrganizationMember', elsewhere, admin(other.home)))
    expect(errorOf(await enter(other.application))).toBe(errorOf(wrong))
    ok(await call('RemoveOrganizationMember', { userId }, admin(other.home)))
    const roles: [give: () => Promise<unknown>, take: () => Promise<unknown>][] = [
      [
        async () => ok(await call('AddInstanceMember', { userId, roles: ['IAM_OWNER_VIEWER'] }, admin())),
        async () => ok(await call('RemoveInstanceMember', { userId }, admin())),
      ],
      [
        async () => ok(await call('AddOrganizationMember', { userId, roles: ['ORG_OWNER_VIEWER'] }, admin(place.home))),
        async () => ok(await call('RemoveOrganizationMember', { userId }, admin(place.home))),
      ],
      [
        async () =>
          ok(await call('AddProjectMember', { userId, projectId, roles: ['PROJECT_OWNER_VIEWER'] }, admin(place.home))),
        async () => ok(await call('RemoveProjectMember', { userId, projectId }, admin(place.home))),
      ],
    ]
    for (const [give, take] of roles) {
      await give()
      try {
        // Signed in, though without a grant of that project.
        const { body } = await enter(other.application)
        expect(readText(body)).toContain(`(<bdi>${ada.userName}</bdi>) has no access to`)
      } finally {
        await take()
      }
    }
    // Linked by the domain, and an owner since: after the provider, the page asks for the password.
    const domain = `${unique('d')}.example`
    ok(await call('ConfirmOrganizationDomain', { orgId: place.home, domain }, admin()))
    const entry = { domain, idpId: place.idpId, trusted: true }
    const { identityProviders } = alone()
    await setPolicy(place.home, { ...alone(), identityProviders: { ...identityProviders, domains: [entry] } })
    const bob = await newHuman(place.home, { email: `${unique('bob')}@${domain}`, password })
    const come = async () => {
      const browser = openBrowser()
      return { browser, shown: await comeBack(upstream, browser, await visit(browser, place.application)) }
    }
    const of = (email: string) => ({ email, email_verified: true, given_name: 'B', family_name: 'B' })
    // Users has heard of the domain once an account that the provider makes has a proved address.
    await vi.waitFor(async () => {
      setPerson({ claims: of(`${unique('b')}@${domain}`) })
      const { sub } = await claimsOf(place.application, (await come()).shown)
      expect((await getUser(sub as string)).human.email.isVerified).toBe(true)
    }, patient)
    setPerson({ claims: of(bob.email) })
    expect((await claimsOf(place.application, (await come()).shown))['sub']).toBe(bob.userId)
    ok(await call('AddOrganizationMember', { userId: bob.userId, roles: ['ORG_OWNER'] }, admin(place.home)))
    const { browser, shown } = await come()
    expect([shown.location, hasPassword(shown)]).toEqual(['', true])
    const done = await browser.submit(shown, { action: 'sign-in', login_name: bob.email, password })
    expect((await claimsOf(place.application, done))['sub']).toBe(bob.userId)
  })

  test('the own account and the console show its button to who comes from there, beside the password', async () => {
    const { home, idpId } = place
    const button = `value="${idpId}"`
    const open = async (path: string) => {
      const browser = openBrowser()
      let shown = await browser.visit(path)
      while (shown.location !== '') {
        const { pathname, search } = new URL(shown.location, 'https://roster.invalid')
        shown = await browser.visit(pathname + search)
      }
      return { browser, shown }
    }
    const paths = [
      `/ui/account?org=${home}`,
      `/ui/console/sign-in?to=/ui/console/o/${home}/people`,
      `/ui/console/sign-in?to=${encodeURIComponent(`/ui/console?org=${home}`)}`,
    ]
    for (const path of paths) {
      const { shown } = await open(path)
      expect.soft([path, shown.body.includes(button), hasPassword(shown)]).toEqual([path, true, true])
    }
    for (const path of ['/ui/account', `/ui/account?org=${unique('none')}`, '/ui/console/sign-in?to=/ui/console']) {
      const { shown } = await open(path)
      expect.soft([path, shown.body.includes(button), hasPassword(shown)]).toEqual([path, false, true])
    }
    // Who has an account in another organization comes in, too, and this one's people by the provider.
    const bob = await newHuman(await newOrganization(), { password })
    const { browser, shown } = await open(paths[0]!)
    const entered = await browser.submit(shown, { action: 'sign-in', login_name: bob.userName, password })
    expect(entered.body).toContain(bob.userName)
    setPerson()
    const other = await open(paths[0]!)
    const account = await comeBack(upstream, other.browser, await press(other.browser, other.shown, idpId))
    expect(account.body).toContain((upstream.person.claims as { email: string }).email)
  })

  test('it lists one itself, and the instance keeps its passwords', async () => {
    const field = ['settings.allowUsernamePassword']
    const settings = { allowUsernamePassword: false }
    const wrong = async (name: 'UpdateLoginPolicy' | 'UpdateInstanceLoginPolicy', more: object, who: object) =>
      factsOf(await call(name, { settings: { ...settings, ...more } }, { ...admin(), ...who })).fields
    expect(await wrong('UpdateLoginPolicy', {}, admin(place.home))).toEqual(field)
    const listed = { identityProviders: { idpIds: [place.idpId] } }
    expect(await wrong('UpdateInstanceLoginPolicy', listed, {})).toEqual(field)
    const { policy, settings: own } = ok(await call('GetLoginPolicy', {}, admin(place.home)))
    expect([policy.allowUsernamePassword ?? false, own]).toEqual([false, expect.objectContaining(settings)])
  })
})
