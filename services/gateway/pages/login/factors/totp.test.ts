import { encode } from 'uqr'
import { describe, expect, test } from 'vitest'
import { CodeError as Reason, FactorWay } from '#gen/roster/users/v1/sign_in_service'
import { type AccountPage, AccountPage as codec } from '#gen/roster/users/v1/sign_in_service'
import { accountPage } from '../account/account-page.ts'
import { chooseLanguage } from '../language/language.ts'
import type { Document } from '../shell.ts'
import { problems } from './otp-email.ts'
import { recoveryFactorPage } from './recovery-code.ts'
import { totpPage, totpSetUpPage } from './totp.ts'

const destination = { applicationName: 'Acme Timesheets', host: 'time.acme.example' }
const shownIn = (language: string) => ({
  language: chooseLanguage(language, undefined),
  requestId: 'r',
  formToken: 't',
  uiLocales: '',
  destination,
})
const shown = shownIn('en')
const { FACTOR_WAY_TOTP: byApp, FACTOR_WAY_MAIL: byMail, FACTOR_WAY_RECOVERY_CODE: byCode } = FactorWay
const buttonsOf = ({ body }: Document) =>
  [...body.matchAll(/name="action" value="([^"]*)"/g)].map(([, action]) => action)
const secret = {
  uri: 'otpauth://totp/roster.example.com:ada%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=roster.example.com&algorithm=SHA1&digits=6&period=30',
  text: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ',
}
const code = (way: FactorWay, ways: FactorWay[], error: Reason = Reason.CODE_ERROR_UNSPECIFIED) => ({
  loginName: 'ada',
  way,
  ways,
  error,
  retryAfter: 40,
  mayPassOver: false,
  trustDays: 0,
})

// In order: Enter presses the first.
test.each([
  [[], 'UNSPECIFIED', ['check', 'another-account', 'cancel']],
  [[byMail, byCode], 'UNSPECIFIED', ['check', 'by-mail', 'by-recovery-code', 'another-account', 'cancel']],
  [[byCode], 'WRONG', ['check', 'by-recovery-code', 'another-account', 'cancel']],
  [[byCode], 'THROTTLED', ['check', 'by-recovery-code', 'another-account', 'cancel']],
  [[byCode], 'LOCKED', ['by-recovery-code', 'another-account', 'cancel']],
] as const)('beside %j, %s: the page of an app offers what helps, and that alone', (ways, error, offered) => {
  const page = totpPage(shown, code(byApp, [...ways], Reason[`CODE_ERROR_${error}`]))
  expect(buttonsOf(page)).toEqual(offered)
  expect(page.body.includes('autocomplete="one-time-code"')).toBe(error !== 'LOCKED')
  expect(page.body.includes('role="alert"')).toBe(error !== 'UNSPECIFIED')
  expect(page.body).toContain('name="factor" value="totp"')
})

test('a recovery code is no code that a browser fills in', () => {
  const page = recoveryFactorPage(shown, code(byCode, [byApp]))
  expect(buttonsOf(page)).toEqual(['check', 'by-totp', 'another-account', 'cancel'])
  expect(page.body).toContain('name="factor" value="recovery-code"')
  expect(page.body).not.toContain('one-time-code')
})

describe('an app that is set up', () => {
  const setUp = (more: object, language = 'en') =>
    totpSetUpPage(shownIn(language), {
      loginName: 'ada',
      secret: undefined,
      error: Reason.CODE_ERROR_UNSPECIFIED,
      ways: [],
      ...more,
    })

  test('is shown by a button alone, then by a picture and a text, and takes its code', () => {
    expect(buttonsOf(setUp({}))).toEqual(['set-up', 'another-account', 'cancel'])
    const page = setUp({ secret, ways: [byMail] })
    expect(buttonsOf(page)).toEqual(['confirm', 'by-mail', 'another-account', 'cancel'])
    expect(page.body).toContain('GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ')
  })

  // One whose sign-in a mailed code began among them: the mailbox adds no factor.
  test.each(['NOT_SET_UP', 'PASSWORD_BY_MAIL', 'SIGNED_IN_BY_MAIL'] as const)(
    'is not offered where an administrator must help: %s',
    (name) => {
      const error = Reason[`CODE_ERROR_${name}`]
      for (const language of ['en', 'de']) {
        const { text } = chooseLanguage(language, undefined)
        const page = setUp({ error }, language)
        expect(buttonsOf(page)).toEqual(['another-account', 'cancel'])
        expect(page.body).toContain(`<h1>${text.noCode}</h1>`)
        expect(page.body).toContain(text[problems[error]!])
        expect(page.body).not.toContain(text.setUpApp)
      }
    },
  )

  test('has its QR code in the page, without a style, a script or an address that the policy would have to allow', () => {
    const { body, policy } = setUp({ secret })
    const { size, data } = encode(secret.uri, { border: 4 })
    const [, path] = /<path fill="#000" d="([^"]*)"/.exec(body)!
    const drawn = Array.from({ length: size }, () => Array.from({ length: size }, () => false))
    for (const [, x, y, length] of path!.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g))
      for (let at = 0; at < Number(length); at++) drawn[Number(y)]![Number(x) + at] = true
    expect(drawn).toEqual(data)
    expect(path!.replaceAll(/M\d+ \d+h\d+v1h-\d+z/g, '')).toBe('')
    expect(/<svg[^>]*>.*<\/svg>/s.exec(body)![0]).not.toMatch(/style=|href=|<script|<image/)
    expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; img-src 'self'; form-action 'self'/)
    expect(Buffer.byteLength(body)).toBeLessThan(30_000)
  })
})

describe.each(['en', 'de'])('an account in %s', (language) => {
  const show = (section: string, secondFactors: object) =>
    accountPage(shownIn(language), {
      ...codec.decode(new Uint8Array()),
      account: { sessionId: 's', displayName: 'Ada', loginName: 'ada', email: 'ada@example.com' },
      section,
      secondFactors: { hasTotp: false, mayAdd: true, mayHaveRecoveryCodes: false, recoveryCodes: [], ...secondFactors },
    } as AccountPage)

  test('leads to what the person may change, and offers that alone', () => {
    const actions = (section: string, of: object) => buttonsOf(show(section, of)).filter((action) => action !== 'here')
    expect(actions('authenticator', {})).toEqual(['begin'])
    expect(actions('authenticator', { secret })).toEqual(['confirm'])
    expect(actions('authenticator', { hasTotp: true })).toEqual(['remove'])
    expect(actions('authenticator', { mayAdd: false })).toEqual([])
    expect(actions('recovery-codes', {})).toEqual([])
    expect(actions('recovery-codes', { mayHaveRecoveryCodes: true })).toEqual(['make'])
    expect(actions('recovery-codes', { mayHaveRecoveryCodes: true, recoveryCodesLeft: 0 })).toEqual(['make', 'remove'])
    const hrefs = (of: object) =>
      [...show('sign-in', of).body.matchAll(/href="\/ui\/account\/([a-z-]+)/g)].map(([, path]) => path)
    expect(hrefs({})).toContain('authenticator')
    expect(hrefs({})).not.toContain('recovery-codes')
    expect(hrefs({ hasTotp: true, mayHaveRecoveryCodes: true })).toContain('recovery-codes')
    expect(hrefs({ mayAdd: false })).not.toContain('authenticator')
  })

  test('shows new codes once, on a page to print', () => {
    const { body } = show('recovery-codes', { mayHaveRecoveryCodes: true, recoveryCodes: ['AAAA-BBBB', 'CCCC-DDDD'] })
    for (const one of ['AAAA-BBBB', 'CCCC-DDDD']) expect(body).toContain(`<code>${one}</code>`)
    expect(body).toContain('@media print')
  })
})
