import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { admin, newHuman, newOrganization, ok, unique, uniqueEmail } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, newWebApplication, openBrowser, readText } from '../../examples/sign-in.ts'
import { type PeopleUpstream, startPeopleUpstream } from '../../support/upstreams/people-upstream.ts'
import { call, recordSecret } from '../clients/encodings.ts'
import { hasMailbox, linkTo, mailsTo, mailTo, noticeTo } from '../mailbox.ts'
import {
  type Browser,
  claimsOf,
  comeByProvider,
  enter,
  errorOf,
  identityOf,
  leadsTo,
  listProviders,
} from './provider-stage.ts'

// Who would take an account over by a provider.

const { house } = inject('roster')
const why = house ? '' : ' (skipped: it takes a Roster that reaches this machine)'

const secret = unique('idp-secret')
let home: string
let application: ExampleApplication
let upstream: PeopleUpstream
let making: string
let linking: string

beforeAll(async () => {
  if (!house) return
  ;[home, upstream] = await Promise.all([newOrganization(), startPeopleUpstream(secret)])
  application = await newWebApplication(home, await newProject(home))
  const settings = { clientId: 'roster', clientSecret: secret, issuer: upstream.url }
  const add = async (autoRegister: boolean) =>
    ok(await call('AddOrganizationOIDCIDP', { ...settings, name: unique('Acme'), autoRegister }, admin(home)))
      .idpId as string
  ;[making, linking] = await Promise.all([add(true), add(false)])
  await listProviders(home, [making, linking])
})
afterAll(() => upstream?.stop())

const comeBy = (idpId: string, browser?: Browser) => comeByProvider({ application, upstream }, idpId, browser)
const linksOf = async (userId: string) => ok(await call('ListIDPLinks', { userId }, admin(home))).links ?? []

const newPassword = () => {
  const password = unique('Password')
  recordSecret(password)
  return password
}

/** Has a code mailed to the address of the account. */
async function askForCode(browser: Browser) {
  const account = await browser.visit('/ui/account')
  expect(account.body).not.toContain('Enter the code')
  const asked = await browser.submit(account, { action: 'send' }, '/ui/account/email/code')
  expect(asked.body).toContain('A code is on its way')
  return asked
}

/** The owner of the address sets a password by mail. */
async function recover(userId: string, email: string) {
  const { user } = ok(await call('GetUser', { userId }, admin(home)))
  ok(await call('RequestPasswordReset', { loginName: user.userName }))
  const { code: verificationCode } = await mailTo(email, 2)
  const password = newPassword()
  ok(await call('ResetPassword', { userId, verificationCode, newPassword: password }))
  return password
}

describe.skipIf(!house || !hasMailbox())(`of an account that a provider made with somebody’s address${why},`, () => {
  test('who made it there stays out once the owner of the address comes by mail', async () => {
    const email = uniqueEmail()
    const person = { sub: unique('sub'), claims: claimsOf('Eve', { email }) }
    upstream.person = person
    const { browser, shown } = await comeBy(making)
    const userId = (await identityOf(application, shown))['sub'] as string
    await askForCode(browser)
    const { code: verificationCode } = await mailTo(email)
    ok(await call('VerifyEmail', { userId, verificationCode }))
    expect(await linksOf(userId)).toHaveLength(1)
    await recover(userId, email)
    expect(await linksOf(userId)).toEqual([])
    const silent = await browser.visit(authorizePath(application, { prompt: 'none' }))
    expect(silent.location).toContain('login_required')
    upstream.person = person
    const later = (await comeBy(making)).shown
    expect(later.body.includes('code=') && (await identityOf(application, later))['sub']).not.toBe(userId)
  })

  test('who has proved the address, signed in there, keeps the link after a new password by mail', async () => {
    const email = uniqueEmail()
    const person = { sub: unique('sub'), claims: claimsOf('Ada', { email }) }
    upstream.person = person
    const { browser, shown } = await comeBy(making)
    const userId = (await identityOf(application, shown))['sub'] as string
    const asked = await askForCode(browser)
    const { code } = await mailTo(email)
    const proved = await browser.submit(asked, { code, action: 'check' }, '/ui/account/email/code')
    expect(proved.body).toContain('The address is verified')
    await recover(userId, email)
    expect(await linksOf(userId)).toHaveLength(1)
    upstream.person = person
    expect((await identityOf(application, (await comeBy(making)).shown))['sub']).toBe(userId)
  })
})

describe.skipIf(!house)(`of whoever would have somebody else connect a sign-in${why},`, () => {
  test('the page shows whom the provider proves, and its words as its own', async () => {
    const ada = await newHuman(home, { password: newPassword() })
    const claims = claimsOf('Eve', {
      preferred_username: `${ada.userName}. Your administrator asks you to connect. ${'x'.repeat(100)}`,
    })
    upstream.person = { sub: unique('sub'), claims }
    const { browser, shown } = await comeBy(linking)
    const { body } = await enter(browser, shown, ada)
    const text = readText(body.replaceAll(/<[^>]*>/g, ''))
    expect(text).toContain(upstream.person.sub)
    expect(text).toContain(claims.email)
    expect(text).not.toContain('x'.repeat(61))
    const [ours, theirs] = ['Connect them only if', 'Your administrator'].map((part) => text.indexOf(part))
    expect(ours).toBeGreaterThan(0)
    expect(theirs).toBeGreaterThan(ours!)
    expect(/<q>[^<]*<bdi>[^<]*Your admin/.test(body)).toBe(true)
  })

  test('a sign-in to which a link of an application led is connected to nothing', async () => {
    const ada = await newHuman(home, { password: newPassword() })
    upstream.person = { sub: unique('sub'), claims: claimsOf('Eve') }
    const browser = openBrowser()
    const scope = `openid profile urn:zitadel:iam:org:idp:id:${linking}`
    const leaving = await browser.visit(authorizePath(application, { scope }))
    const back = await upstream.visit(leadsTo(leaving))
    const shown = await browser.visit(back.pathname + back.search)
    expect(errorOf(shown)).toContain('press the button')
    expect((await identityOf(application, await enter(browser, shown, ada)))['sub']).toBe(ada.userId)
    expect(await linksOf(ada.userId)).toEqual([])
  })

  test.skipIf(!hasMailbox())('the mailbox alone connects nothing', async () => {
    const ada = await newHuman(home, { password: newPassword() })
    ok(await call('RequestPasswordReset', { loginName: ada.userName }))
    const { code: verificationCode } = await mailTo(ada.email)
    const password = newPassword()
    ok(await call('ResetPassword', { userId: ada.userId, verificationCode, newPassword: password }))
    upstream.person = { sub: unique('sub'), claims: claimsOf('Eve') }
    const { browser, shown } = await comeBy(linking)
    const done = await enter(browser, shown, { ...ada, password })
    expect(done.body).not.toContain('Connect your account?')
    expect((await identityOf(application, done))['sub']).toBe(ada.userId)
    expect(await linksOf(ada.userId)).toEqual([])
  })

  test.skipIf(!hasMailbox())('an address that is taken back ends what was connected since', async () => {
    const ada = await newHuman(home, { password: newPassword() })
    const kept = { sub: unique('kept'), claims: claimsOf('Ada') }
    const connect = async (idpId: string, person: typeof kept) => {
      upstream.person = person
      const { browser, shown } = await comeBy(idpId)
      const asked = await enter(browser, shown, ada)
      expect((await identityOf(application, await browser.submit(asked, { action: 'link' })))['sub']).toBe(ada.userId)
    }
    await connect(linking, kept)
    const thief = openBrowser()
    await enter(thief, await thief.visit('/ui/account'), ada)
    const email = uniqueEmail()
    const asking = await thief.submit(await thief.visit('/ui/account/email'), { email }, '/ui/account/email')
    const { code } = await mailTo(email)
    await thief.submit(asking, { code, action: 'check' }, '/ui/account/email/code')
    const second = ok(
      await call(
        'AddOrganizationOIDCIDP',
        { name: unique('Second'), clientId: 'roster', clientSecret: secret, issuer: upstream.url },
        admin(home),
      ),
    ).idpId as string
    await listProviders(home, [making, linking, second])
    await connect(second, { sub: unique('thief'), claims: claimsOf('Eve') })
    expect(await linksOf(ada.userId)).toHaveLength(2)
    const notice =
      (await mailsTo(ada.email)).find(({ text }) => text.includes('take-back')) ?? (await noticeTo(ada.email))
    const link = new URL(linkTo(notice.text))
    const owner = openBrowser()
    const page = await owner.visit(link.pathname + link.search)
    const back = new URLSearchParams(link.hash.slice(1)).get('code')!
    expect((await owner.submit(page, { secret: back }, '/ui/take-back')).body).toContain('You have your account back')
    expect(await linksOf(ada.userId)).toEqual([expect.objectContaining({ idpId: linking, userId: kept.sub })])
    await listProviders(home, [making, linking])
    // The provider that stays moves the address no more, though its record says so.
    ok(await call('SetOrganizationIDPClaims', { idpId: linking, isAutoUpdate: true }, admin(home)))
    upstream.person = { ...kept, claims: claimsOf('Augusta') }
    await comeBy(linking)
    const { human } = ok(await call('GetUser', { userId: ada.userId }, admin(home))).user
    expect(human).toMatchObject({ profile: { firstName: 'Augusta' }, email: { email: ada.email, isVerified: true } })
  })
})
