import { decodeJwt } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { newLoginClient } from '../../examples/login-applications.ts'
import { admin, newHuman, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, newWebApplication, openBrowser, redeem } from '../../examples/sign-in.ts'
import { readPage } from '../../examples/sign-in-kinds.ts'
import { factsOf } from '../clients/call.ts'
import { call, recordSecret } from '../clients/encodings.ts'
import { hasMailbox, mailCount, mailTo } from '../mailbox.ts'
import { allowedLinkHost } from '../running.ts'

const mailbox = hasMailbox() ? '' : ' (skipped: ROSTER_E2E_MAILBOX_URL is not set)'
// A mail shows no name that may be a telephone number.
const applicationName = 'Billing of Acme'
let home: string
let application: ExampleApplication
beforeAll(async () => {
  home = await newOrganization()
  application = await newWebApplication(home, await newProject(home), { name: applicationName })
  ok(await call('UpdateLoginPolicy', { settings: { forceMfa: true } }, admin(home)))
})

const newPerson = () => newHuman(home, { password: unique('Password') })

/** The types and data of what happened to an aggregate. */
async function eventsOf(aggregateType: string, id: string) {
  const filter = { aggregateTypes: [aggregateType], aggregateIds: [id] }
  const { events = [] } = ok(await call('SearchEvents', { filter }, admin()))
  return events.map(({ type, data }: any) => [type.replace(/^roster\.(.*)\.v1$/, '$1'), data])
}

describe.skipIf(!hasMailbox())(`a code by mail${mailbox}`, () => {
  test('follows the password on the pages of sign-in, and the application is told of both', async () => {
    const { userId, email, userName: login_name, password } = await newPerson()
    const browser = openBrowser()
    const path = authorizePath(application, { scope: 'openid' })
    const asked = await browser.submit(await browser.visit(path), { action: 'sign-in', login_name, password })
    recordSecret(browser.cookie().split('=')[1])
    expect([readPage(asked).kind, asked.body.includes(email)]).toEqual(['code', false])
    const { subject, text, html, link, code } = await mailTo(email)
    expect(subject).toBe(`Your code to sign in at ${applicationName}`)
    for (const told of [text, html])
      for (const part of ['Ada L.', applicationName, code, '10 minutes']) expect(told).toContain(part)
    expect(link).toBe('')

    const wrong = await browser.submit(asked, { action: 'check', code: 'ZZZZZZ' })
    expect([readPage(wrong).kind, wrong.body]).toEqual(['code', expect.stringContaining('This code is wrong')])
    const answer = await browser.submit(wrong, {
      action: 'check',
      code: ` ${code.slice(0, 3).toLowerCase()}-${code.slice(3)}`,
    })
    const { body } = await redeem(application, readPage(answer).answer!.searchParams.get('code')!)
    const { sub, amr, sid } = decodeJwt(body.id_token as string)
    expect({ sub, amr }).toEqual({ sub: userId, amr: ['pwd', 'otp', 'mfa'] })
    expect(readPage(await browser.visit('/ui/account')).kind).toBe('account')
    expect(await mailCount(email)).toBe(1)

    const checked = { userId, expiresAt: expect.stringMatching(/Z$/) }
    // An event is in the feed once all that began before it has ended.
    await expect
      .poll(() => eventsOf('session', sid as string))
      .toEqual([
        [
          'session.created',
          expect.objectContaining({ ...checked, factors: [expect.objectContaining({ kind: 'password' })] }),
        ],
        ['session.factor.challenged', { userId, kind: 'otp-email' }],
        ['session.factor.rejected', { userId, kind: 'otp-email' }],
        ['session.factor.checked', { ...checked, kind: 'otp-email', counted: [] }],
      ])
  })

  test('comes with a link to a page of a login application, whose code works once', async () => {
    const { userId, email, userName: loginName, password } = await newPerson()
    const client = await newLoginClient(await newOrganization())
    const begun = ok(await call('CreateSession', { loginName, password }))
    expect(begun.missingFactors).toEqual(['AUTHENTICATION_METHOD_TYPE_OTP_EMAIL'])
    const { sessionId, sessionToken } = begun
    const urlTemplate = `https://${allowedLinkHost}/otp/email?code={{.Code}}&userId={{.UserID}}&sessionId={{.SessionID}}`
    const asked = { sessionId, sessionToken, otpEmail: { sendCode: { urlTemplate } } }
    expect(ok(await call('SetSession', asked, client))).toMatchObject({
      sessionToken,
      missingFactors: begun.missingFactors,
    })
    const { text, link, code } = await mailTo(email)
    expect(link).toBe(`https://${allowedLinkHost}/otp/email?code=${code}&userId=${userId}&sessionId=${sessionId}`)
    expect(text).toContain('Enter it on this page')
    const whole = ok(await call('SetSession', { sessionId, sessionToken, otpEmailCode: code }, client))
    ok(await call('GetMyUser', {}, { token: whole.sessionToken }))
    const again = { sessionId, sessionToken: whole.sessionToken, otpEmailCode: code }
    expect(factsOf(await call('SetSession', again, client)).reason).toBe('CODE_INVALID')
  })

  test('is in no event', async () => {
    const { userId, email, userName: loginName, password } = await newPerson()
    ok(await call('AddOTPEmail', { userId }, admin()))
    const { sessionId, sessionToken } = ok(await call('CreateSession', { loginName, password }))
    ok(await call('SetSession', { sessionId, sessionToken, otpEmail: { sendCode: {} } }, admin()))
    const { code } = await mailTo(email)
    ok(await call('RemoveOTPEmail', { userId }, admin()))
    const happened = async () => [...(await eventsOf('user', userId)), ...(await eventsOf('session', sessionId))]
    await expect.poll(happened).toEqual(
      expect.arrayContaining([
        ['user.factor.added', { kind: 'otp-email' }],
        ['session.factor.challenged', { userId, kind: 'otp-email' }],
        ['user.factor.removed', { kind: 'otp-email' }],
      ]),
    )
    expect(JSON.stringify(await happened())).not.toContain(code)
  })
})
