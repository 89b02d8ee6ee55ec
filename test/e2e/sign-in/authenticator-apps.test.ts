import { decodeJwt } from 'jose'
import { Secret, TOTP } from 'otpauth'
import { beforeAll, describe, expect, test } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { admin, newHuman, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, newWebApplication, openBrowser, redeem, type Shown } from '../../examples/sign-in.ts'
import { readPage } from '../../examples/sign-in-kinds.ts'
import { call, recordSecret } from '../clients/encodings.ts'
import { hasMailbox, noticeTo } from '../mailbox.ts'

const mailbox = hasMailbox() ? '' : ' (skipped: ROSTER_E2E_MAILBOX_URL is not set)'
let home: string
let application: ExampleApplication
beforeAll(async () => {
  home = await newOrganization()
  application = await newWebApplication(home, await newProject(home))
})

const newPerson = () => newHuman(home, { password: unique('Password') })
const authenticator = '/ui/account/authenticator'

/** The app that a page shows. */
function appOn({ body }: Shown): TOTP {
  const [, text] = /<code>([A-Z2-7 ]{30,})<\/code>/.exec(body)!
  const base32 = text!.replaceAll(' ', '')
  recordSecret(base32)
  return new TOTP({ secret: Secret.fromBase32(base32) })
}

const next = (app: TOTP) => app.generate({ timestamp: Date.now() + 30_000 })

async function eventsOf(id: string) {
  const filter = { aggregateTypes: ['user', 'session'], aggregateIds: [id] }
  const { events = [] } = ok(await call('SearchEvents', { filter }, admin()))
  return events as { type: string; data?: { kind?: string } }[]
}

describe.skipIf(!hasMailbox())(`an authenticator app${mailbox}`, () => {
  test('is set up on the account, asked for in another browser, and replaced by a recovery code there', async () => {
    const { userId, email, userName: login_name, password } = await newPerson()
    const browser = openBrowser()
    await browser.submit(await browser.visit('/ui/account'), { action: 'sign-in', login_name, password })
    const begun = await browser.submit(await browser.visit(authenticator), { action: 'begin' }, authenticator)
    expect(begun.body).toContain('<svg')
    const app = appOn(begun)
    const wrong = await browser.submit(begun, { action: 'confirm', code: '' }, authenticator)
    expect(wrong.body).toContain('This code is wrong, or was used already')
    const added = await browser.submit(wrong, { action: 'confirm', code: app.generate() }, authenticator)
    expect([readPage(added).kind, added.body]).toEqual(['account', expect.stringContaining('Make recovery codes')])
    const { subject, text } = await noticeTo(email)
    expect(subject).toBe('A second factor was added to your account')
    expect(text).toContain('/ui/account/sign-in')

    const made = await browser.submit(
      await browser.visit('/ui/account/recovery-codes'),
      { action: 'make' },
      '/ui/account/recovery-codes',
    )
    const codes = [...made.body.matchAll(/<code>((?:[2-9A-Z]{4}-){3}[2-9A-Z]{4})<\/code>/g)].map(([, code]) => code!)
    for (const code of codes) recordSecret(code)
    expect(codes).toHaveLength(10)
    expect((await browser.visit('/ui/account/recovery-codes')).body).not.toContain(codes[0])

    const other = openBrowser()
    const path = authorizePath(application, { scope: 'openid' })
    const asked = await other.submit(await other.visit(path), { action: 'sign-in', login_name, password })
    expect(readPage(asked).kind).toBe('app code')
    const lost = await other.submit(asked, { action: 'by-recovery-code' })
    expect(readPage(lost).kind).toBe('recovery code')
    const answer = await other.submit(lost, { action: 'check', code: codes[0]!.toLowerCase() })
    const { body } = await redeem(application, readPage(answer).answer!.searchParams.get('code')!)
    expect(decodeJwt(body.id_token as string)).toMatchObject({ sub: userId, amr: ['pwd', 'otp', 'mfa'] })

    const third = openBrowser()
    const again = await third.submit(await third.visit(path), { action: 'sign-in', login_name, password })
    expect(readPage(await third.submit(again, { action: 'check', code: next(app) })).kind).toBe('answer')
    await expect
      .poll(async () => (await eventsOf(userId)).map(({ type, data }) => [type, data?.kind]))
      .toEqual(
        expect.arrayContaining([
          ['roster.user.factor.added.v1', 'totp'],
          ['roster.user.factor.added.v1', 'recovery-code'],
        ]),
      )
  })

  test('is set up in the sign-in that demands it, and removed by an administrator, of which the person is told', async () => {
    const organization = await newOrganization()
    const own = await newWebApplication(organization, await newProject(organization))
    const settings = { forceMfa: true, secondFactors: { types: ['SECOND_FACTOR_TYPE_OTP'] } }
    ok(await call('UpdateLoginPolicy', { settings }, admin(organization)))
    const {
      userId,
      email,
      userName: login_name,
      password,
    } = await newHuman(organization, { password: unique('Password') })
    const browser = openBrowser()
    const asked = await browser.submit(await browser.visit(authorizePath(own)), {
      action: 'sign-in',
      login_name,
      password,
    })
    expect(readPage(asked).kind).toBe('set up app')
    const begun = await browser.submit(asked, { action: 'set-up' })
    const answer = await browser.submit(begun, { action: 'confirm', code: appOn(begun).generate() })
    expect(readPage(answer).kind).toBe('answer')
    expect((await noticeTo(email)).subject).toBe('A second factor was added to your account')
    ok(await call('RemoveTOTP', { userId }, admin()))
    await expect.poll(async () => (await noticeTo(email)).subject).toBe('A second factor was removed from your account')
    const later = openBrowser()
    const anew = await later.submit(await later.visit(authorizePath(own)), {
      action: 'sign-in',
      login_name,
      password,
    })
    expect(readPage(anew).kind).toBe('set up app')
  })
})
