import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { addressesFollowed } from '../../examples/followed-addresses.ts'
import { admin, getUser, newHuman, newOrganization, ok, unique, uniqueEmail } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, formOf, newWebApplication, openBrowser, readText, type Shown } from '../../examples/sign-in.ts'
import { type PeopleUpstream, startPeopleUpstream } from '../../support/upstreams/people-upstream.ts'
import { factsOf } from '../clients/call.ts'
import { call, recordSecret } from '../clients/encodings.ts'
import { hasMailbox, mailCount, mailTo } from '../mailbox.ts'
import { claimsOf, comeBack, errorOf, newProvider, press, setPolicy } from './at-provider.ts'

const { house } = inject('roster')
const why = house ? '' : ' (skipped: it takes a Roster that reaches this machine)'
const mailbox = hasMailbox() ? '' : ' (skipped: ROSTER_E2E_MAILBOX_URL is not set)'

const secret = unique('idp-secret')
const password = unique('Password')
const names = { given_name: 'Grace', family_name: 'Hopper' }
let upstream: PeopleUpstream

beforeAll(async () => {
  if (house) upstream = await startPeopleUpstream(secret)
})
afterAll(() => upstream?.stop())

interface Place {
  home: string
  application: ExampleApplication
  idpIds: string[]
}

/** An organization whose people sign in by these providers alone. */
async function newPlace(providers: string[], more: object = {}): Promise<Place> {
  const home = await newOrganization()
  const idpIds = await Promise.all(providers.map((name) => newProvider(upstream, secret, home, { name })))
  const application = await newWebApplication(home, await newProject(home))
  await setPolicy(home, { identityProviders: { idpIds }, allowUsernamePassword: false, ...more })
  return { home, application, idpIds }
}

const setPerson = (claims: object = { given_name: 'Grace', family_name: 'Murray' }) =>
  (upstream.person = { sub: unique('sub'), claims: { ...claims, preferred_username: 'grace@there' } })

async function invite({ home, application }: Place, more: object = {}) {
  const request = { email: uniqueEmail(), appId: application.appId, returnLink: {}, ...more }
  const { invitationId, link } = ok(await call('AddInvitation', request, admin(home)))
  return { id: invitationId as string, email: request.email, code: link && codeOf(link) }
}

const codeOf = (link: string) => {
  const code = new URLSearchParams(new URL(link).hash.slice(1)).get('code')!
  recordSecret(code)
  return code
}

/** Opens an invitation in a browser, and presses the button. */
async function open({ id, code }: { id: string; code: string }) {
  const browser = openBrowser()
  const page = await browser.visit(`/ui/invitation/${id}`)
  return { browser, page: await browser.submit(page, { code }) }
}

const text = ({ body }: Shown) =>
  readText(
    body
      .replace(/^[^]*<main>/, '')
      .replaceAll(/<[^>]*>/g, '')
      .replaceAll(/\s+/g, ' '),
  )
const fieldsOf = (page: Shown) => Object.keys(formOf(page.body)?.fields ?? {})

/** Whom the application gets, which leads straight to the one provider. */
async function comesAs({ application }: Place) {
  const browser = openBrowser()
  const shown = await comeBack(upstream, browser, await browser.visit(authorizePath(application)))
  return (await claimsOf(application, shown))['sub'] as string
}

const isDone = (page: Shown) => page.body.includes('href="https://app.example.com"')

describe.skipIf(!house)(`where providers alone sign in${why},`, () => {
  test('an invited person is told so, signs in there, gives what is missing, and comes back that way', async () => {
    const place = await newPlace(['Acme'])
    const [idpId] = place.idpIds
    const invited = await invite(place)
    const { browser, page } = await open(invited)
    expect(text(page)).toContain('You join by signing in with Acme.')
    expect(text(page)).toContain('Continue with Acme')
    expect(fieldsOf(page)).not.toContain('password')
    expect(fieldsOf(page)).not.toContain('family_name')
    setPerson({ given_name: 'Grace' })
    const proved = await comeBack(upstream, browser, await press(browser, page, idpId!))
    expect(text(proved)).toContain('Acme has signed you in as grace@there.')
    expect(formOf(proved.body)!.fields).toMatchObject({ given_name: 'Grace', family_name: '' })
    const nameless = await browser.submit(proved, {})
    expect(errorOf(nameless)).toContain('name')
    expect(isDone(await browser.submit(nameless, { family_name: 'Murray' }))).toBe(true)
    const user = await getUser(invited.id)
    expect(user.human).toMatchObject({ profile: { lastName: 'Murray' }, email: { email: invited.email } })
    expect(await comesAs(place)).toBe(invited.id)
  })

  test.skipIf(!hasMailbox())(`the mail names each provider, and proves the address${mailbox}`, async () => {
    const place = await newPlace(['Acme', 'Globex'])
    const { id, email } = await invite(place, { returnLink: undefined })
    const mail = await mailTo(email)
    expect(mail.text).toContain('You join by signing in with Acme or Globex, and need no password.')
    const { browser, page } = await open({ id, code: mail.code })
    expect(text(page)).toContain('You join by signing in with Acme or Globex.')
    setPerson()
    const proved = await comeBack(upstream, browser, await press(browser, page, place.idpIds[1]!))
    expect(isDone(await browser.submit(proved, {}))).toBe(true)
    expect((await getUser(id)).human.email.isVerified).toBe(true)
    const german = await newHuman(place.home, { verification: {}, profile: { preferredLanguage: 'de' } })
    const brief = await mailTo(german.email)
    expect(brief.text).toContain('Sie nehmen teil, indem Sie sich mit Acme oder Globex anmelden.')
  })

  test('a user without a password joins so, whose invitation is used up then', async () => {
    const place = await newPlace(['Acme'])
    const [idpId] = place.idpIds
    const { userId } = await newHuman(place.home, { verification: { returnCode: {} } })
    const { inviteCode } = ok(await call('CreateInviteCode', { userId, returnCode: {} }, admin(place.home)))
    recordSecret(inviteCode)
    const { browser, page } = await open({ id: userId, code: inviteCode })
    expect(text(page)).toContain('You join by signing in with Acme.')
    setPerson()
    const back = await comeBack(upstream, browser, await press(browser, page, idpId!))
    expect(text(back)).toContain('Acme has signed you in as grace@there.')
    expect((await browser.submit(back, {})).body).toContain((await getUser(userId)).userName)
    expect(await comesAs(place)).toBe(userId)
    expect(text((await open({ id: userId, code: inviteCode })).page)).toContain('does not open')
  })

  test('who is to have a role of Roster chooses a password, and is told why', async () => {
    const place = await newPlace(['Acme'])
    const invited = await invite(place, { organizationRoles: ['ORG_OWNER_VIEWER'] })
    const { browser, page } = await open(invited)
    expect(text(page)).toContain('The people of this organization sign in with Acme. You will help to manage it')
    const done = await browser.submit(page, { ...names, password })
    expect(isDone(done)).toBe(true)
    expect((await browser.visit('/ui/account')).body).toContain('Grace Hopper')
    const other = openBrowser()
    const entered = await other.submit(await other.visit('/ui/account'), {
      action: 'sign-in',
      login_name: (await getUser(invited.id)).userName,
      password,
    })
    expect(entered.body).toContain('Grace Hopper')
  })

  test('nobody joins without the provider, by what it proved of another person, or by one that was taken off the list', async () => {
    const place = await newPlace(['Acme', 'Globex'])
    const [idpId, other] = place.idpIds
    const invited = await invite(place)
    const { browser, page } = await open(invited)
    const forced = await browser.submit(page, { ...names, password })
    expect(errorOf(forced)).toContain('sign in once more')
    setPerson()
    const first = await invite(place)
    const taken = await open(first)
    const proved = await comeBack(upstream, taken.browser, await press(taken.browser, taken.page, idpId!))
    // Two invitations, and one person there.
    const waiting = await comeBack(upstream, browser, await press(browser, forced, idpId!))
    expect(isDone(await taken.browser.submit(proved, {}))).toBe(true)
    expect(errorOf(await browser.submit(waiting, {}))).toContain('another account')
    const again = await open(invited)
    const back = await comeBack(upstream, again.browser, await press(again.browser, again.page, idpId!))
    expect(errorOf(back)).toContain('another account')
    setPerson()
    const late = await comeBack(upstream, again.browser, await press(again.browser, back, idpId!))
    await setPolicy(place.home, { identityProviders: { idpIds: [other!] }, allowUsernamePassword: false })
    expect(errorOf(await again.browser.submit(late, {}))).toContain('sign in once more')
    expect(factsOf(await call('GetUser', { userId: invited.id }, admin(place.home))).reason).toBe('USER_NOT_FOUND')
  })

  test.skipIf(!hasMailbox())(`a known person of elsewhere joins with the password of there${mailbox}`, async () => {
    const [place, elsewhere] = [await newPlace(['Acme']), await newOrganization()]
    const known = await newHuman(elsewhere, { password })
    await addressesFollowed(elsewhere)
    const { id } = await invite(place, { email: known.email, returnLink: undefined })
    const mail = await mailTo(known.email)
    expect(mail.text).not.toContain('Acme')
    const { browser, page } = await open({ id, code: mail.code })
    const signedIn = await browser.submit(page, { action: 'sign-in', login_name: known.userName, password })
    expect(text(signedIn)).toContain('You join as')
    expect(isDone(await browser.submit(signedIn, {}))).toBe(true)
  })

  test.skipIf(!hasMailbox())(
    `a forgotten password is renewed by who has a role, and the page says to everybody where all others have theirs${mailbox}`,
    async () => {
      const place = await newPlace(['Acme'])
      const [member, manager] = [await newHuman(place.home, { password }), await newHuman(place.home, { password })]
      const { userId } = manager
      ok(await call('AddOrganizationMember', { userId, roles: ['ORG_OWNER_VIEWER'] }, admin(place.home)))
      const said = 'The people of this organization sign in with Acme, and change their passwords there.'
      for (const login_name of [member.userName, unique('nobody'), manager.userName]) {
        const browser = openBrowser()
        const begun = await browser.visit(`/ui/account/sign-in?org=${place.home}`)
        const page =
          begun.location === '' ? begun : await browser.visit(new URL(begun.location, 'https://x.invalid').pathname)
        const asked = await browser.submit(withAction(page, '/recovery'), { action: 'begin', login_name })
        const sent = await browser.submit(asked, { action: 'send', login_name })
        for (const shown of [asked, sent]) expect(text(shown)).toContain(said)
      }
      expect((await mailTo(manager.email)).code).not.toBe('')
      // The mail of the manager was asked for last.
      expect(await mailCount(member.email)).toBe(0)
    },
  )
})

/** The form of a page, sent elsewhere by one of its buttons. */
function withAction(page: Shown, step: string): Shown {
  const action = new RegExp(`formaction="([^"]+${step})"`).exec(page.body)![1]!
  return { ...page, body: page.body.replace(/(<form method="post" action=")[^"]+"/, `$1${action}"`) }
}
