import { expect, test } from 'vitest'
import { CodeError as Reason } from '#gen/roster/users/v1/sign_in_service'
import { chooseLanguage } from '../language/language.ts'
import { otpEmailPage } from './otp-email.ts'

const code = ['check', 'send', 'another-account', 'cancel']
const mail = ['send', 'another-account', 'cancel']
const deadEnd = ['another-account', 'cancel']

// In order: Enter presses the first.
test.each([
  [false, 'UNSPECIFIED', mail],
  [true, 'UNSPECIFIED', code],
  [true, 'WRONG', code],
  [true, 'OVER', mail],
  [false, 'OVER', mail],
  [true, 'THROTTLED', code],
  [true, 'MAILS_THROTTLED', code],
  [false, 'MAILS_THROTTLED', mail],
  [true, 'NOT_VERIFIED', deadEnd],
  [true, 'PASSWORD_BY_MAIL', deadEnd],
] as const)('mailed %j, %s: the page offers what helps, and that alone', (isSent, error, offered) => {
  const { buttons, body } = show(isSent, error, 'Acme Timesheets')
  expect(buttons).toEqual(offered)
  expect(body.includes('name="code"')).toBe(offered === code)
  expect(body.includes('role="alert"')).toBe(error !== 'UNSPECIFIED')
})

test('nobody cancels what leads to the own account', () => {
  expect(show(true, 'WRONG', '').buttons).toEqual(['check', 'send', 'another-account'])
})

type ReasonName = Exclude<keyof typeof Reason, 'UNRECOGNIZED'> extends `CODE_ERROR_${infer Name}` ? Name : never

function show(isSent: boolean, error: ReasonName, applicationName: string) {
  const destination = { applicationName, host: 'time.acme.example' }
  const shown = { language: chooseLanguage('en'), requestId: 'r', formToken: 't', uiLocales: '', destination }
  const page = {
    loginName: 'ada',
    email: 'a•••@a•••.example',
    isSent,
    retryAfter: 40,
    ways: [],
    maySetUp: false,
    mayPassOver: false,
    trustDays: 0,
  }
  const { body } = otpEmailPage(shown, { ...page, error: Reason[`CODE_ERROR_${error}`] })
  return { body, buttons: [...body.matchAll(/name="action" value="([^"]*)"/g)].map(([, action]) => action) }
}
