import { expect, test } from 'vitest'
import { SignInError } from '#gen/roster/users/v1/sign_in_service'
import { chooseLanguage } from './language.ts'
import { signInPage } from './sign-in.ts'

test.each([false, true])('the page leads to a new password unless the policy hides that: %j', (hidesPasswordReset) => {
  const shown = { language: chooseLanguage('en'), requestId: 'r', formToken: 't', uiLocales: '' }
  const asked = {
    loginName: '',
    nameIsFixed: false,
    mayRegister: false,
    error: SignInError.SIGN_IN_ERROR_UNSPECIFIED,
    retryAfter: 0,
    mailsCode: false,
  }
  const led = (recovers: boolean) => {
    const { body } = signInPage(shown, { ...asked, hidesPasswordReset, recovers })
    return [body.includes('/ui/login/r/recovery'), body.includes('/ui/forgot-password')]
  }
  expect(led(true)).toEqual([!hidesPasswordReset, false])
  // The former release beside this one.
  expect(led(false)).toEqual([false, !hidesPasswordReset])
})
