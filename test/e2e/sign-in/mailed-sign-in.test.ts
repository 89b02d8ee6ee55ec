import { decodeJwt } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { newLoginClient } from '../../examples/login-applications.ts'
import { admin, newHuman, newOrganization, ok, unique, uniqueEmail } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, newWebApplication, openBrowser, redeem } from '../../examples/sign-in.ts'
import { readPage } from '../../examples/sign-in-kinds.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'
import { hasMailbox, mailCount, mailTo } from '../mailbox.ts'
import { allowedLinkHost } from '../running.ts'

const mailbox = hasMailbox() ? '' : ' (skipped: ROSTER_E2E_MAILBOX_URL is not set)'
const byMail = { allowUsernamePassword: false, allowMailedCodes: true, allowRegister: true }
const names = { given_name: 'Ada', family_name: 'Lovelace', language: 'en' }
let home: string
let application: ExampleApplication
beforeAll(async () => {
  home = await newOrganization()
  application = await newWebApplication(home, await newProject(home), { name: 'Billing of Acme' })
  ok(await call('UpdateLoginPolicy', { settings: byMail }, admin(home)))
})

test('a policy with mailed codes beside passwords, or with neither, is refused by the field that is wrong', async () => {
  const fieldOf = async (settings: Record<string, boolean>) =>
    factsOf(await call('UpdateLoginPolicy', { settings }, admin(home))).fields
  expect(await fieldOf({ allowMailedCodes: true })).toEqual(['settings.allowMailedCodes'])
  expect(await fieldOf({ allowUsernamePassword: false })).toEqual(['settings.allowUsernamePassword'])
  const { policy, settings } = ok(await call('GetLoginPolicy', {}, admin(home)))
  expect(policy).toMatchObject({ allowMailedCodes: true })
  expect(settings).toMatchObject(byMail)
})

describe.skipIf(!hasMailbox())(`a code by mail in place of a password${mailbox}`, () => {
  test('signs in on the pages, as one factor; a password that is right does not', async () => {
    const { userId, email, userName: login_name, password } = await newHuman(home, { password: unique('Password') })
    const browser = openBrowser()
    const first = await browser.visit(authorizePath(application, { scope: 'openid' }))
    expect([first.body.includes('type="password"'), first.body.includes('/recovery')]).toEqual([false, false])
    const refused = await browser.submit(first, { action: 'sign-in', login_name, password })
    expect(readPage(refused)).toMatchObject({ kind: 'sign in', problem: 'credentials invalid' })
    const asked = await browser.submit(refused, { action: 'mail-code', login_name })
    expect([readPage(asked).kind, asked.body.includes(email)]).toEqual(['mailed code', false])
    const { subject, text, link, code } = await mailTo(email)
    expect([subject, link]).toEqual(['Your code to sign in at Billing of Acme', ''])
    expect(text).toContain('without the code, nobody')
    const wrong = await browser.submit(asked, { action: 'check-code', code: 'ZZZZZZ' })
    expect([readPage(wrong).kind, wrong.body]).toEqual(['mailed code', expect.stringContaining('This code is wrong')])
    const answer = await browser.submit(wrong, { action: 'check-code', code })
    const { body } = await redeem(application, readPage(answer).answer!.searchParams.get('code')!)
    const { sub, amr, acr } = decodeJwt(body.id_token as string)
    expect({ sub, amr, acr }).toEqual({ sub: userId, amr: ['otp'], acr: 'urn:roster:acr:1' })
    const explained = ok(await call('ExplainSignIn', { userId, appId: application.appId }, admin(home)))
    expect(explained.nextSignIn).toMatchObject({ outcome: 'SIGN_IN_OUTCOME_SUCCEEDS' })
    expect(explained.nextSignIn.mayResetPassword ?? false).toBe(false)
  })

  test('is answered alike for a name that nobody has, and no mail goes anywhere', async () => {
    const { email, userName } = await newHuman(home)
    const seen = async (login_name: string) => {
      const browser = openBrowser()
      const asked = await browser.submit(await browser.visit(authorizePath(application)), {
        action: 'mail-code',
        login_name,
      })
      const wrong = await browser.submit(asked, { action: 'check-code', code: 'ZZZZZZ' })
      return [asked, wrong].map(({ status, body }) => [
        status,
        body
          .replaceAll(login_name, 'NAME')
          .replace(/name="form_token" value="[^"]*"/, '')
          .replace(/action="[^"]*"/, ''),
      ])
    }
    const known = await seen(userName)
    await mailTo(email)
    expect(await seen(unique('nobody'))).toEqual(known)
    expect(await mailCount(email)).toBe(1)
  })

  test('comes with registering, without a password', async () => {
    const email = uniqueEmail()
    const browser = openBrowser()
    const first = await browser.visit(authorizePath(application, { scope: 'openid' }))
    const form = await browser.submit(first, { action: 'register', login_name: '' })
    const asked = await browser.submit(form, { action: 'register', email, ...names })
    expect(asked.body).not.toContain('type="password"')
    const { code } = await mailTo(email)
    const answer = await browser.submit(asked, { action: 'finish', code })
    const { body } = await redeem(application, readPage(answer).answer!.searchParams.get('code')!)
    const { sub, amr } = decodeJwt(body.id_token as string)
    expect(amr).toEqual(['otp'])
    const methods = ok(await call('ListAuthenticationMethodTypes', { userId: sub! }, admin(home))).authMethodTypes
    expect(methods).toEqual(['AUTHENTICATION_METHOD_TYPE_OTP_EMAIL'])
    const next = openBrowser()
    const again = await next.submit(await next.visit(authorizePath(application)), {
      action: 'mail-code',
      login_name: email,
    })
    const mailed = await mailTo(email, 2)
    expect(readPage(await next.submit(again, { action: 'check-code', code: mailed.code })).kind).toBe('answer')
  })

  test('serves a login application, which mails it with a link to its own page', async () => {
    const { userId, email } = await newHuman(home)
    const client = await newLoginClient(await newOrganization())
    const begun = ok(await call('CreateSession', { userId }, client))
    expect(begun.missingFactors).toEqual(['AUTHENTICATION_METHOD_TYPE_OTP_EMAIL'])
    const { sessionId, sessionToken } = begun
    const seen = { sessionId, sessionToken, otpEmail: { returnCode: {} } }
    expect(factsOf(await call('SetSession', seen, client)).reason).toBe('PERMISSION_DENIED')
    const urlTemplate = `https://${allowedLinkHost}/otp/email?code={{.Code}}&sessionId={{.SessionID}}`
    ok(await call('SetSession', { sessionId, sessionToken, otpEmail: { sendCode: { urlTemplate } } }, client))
    const { link, code } = await mailTo(email)
    expect(link).toBe(`https://${allowedLinkHost}/otp/email?code=${code}&sessionId=${sessionId}`)
    const whole = ok(await call('SetSession', { sessionId, sessionToken, otpEmailCode: code }, client))
    expect(whole.missingFactors ?? []).toEqual([])
    ok(await call('GetMyUser', {}, { token: whole.sessionToken }))
    // No factor of one's own comes by it.
    expect(factsOf(await call('RegisterTOTP', { userId }, { token: whole.sessionToken })).reason).toBe('MAILBOX_ALONE')
  })
})
