import { expect, test } from 'vitest'
import { IDPStylingType } from '#gen/roster/idp/v1/identity_provider_service'
import { SignInError } from '#gen/roster/users/v1/sign_in_service'
import { chooseLanguage } from './language/language.ts'
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
    providers: [],
    linksProvider: '',
    asksNameAlone: false,
    withoutPassword: false,
  }
  const led = (recovers: boolean) => {
    const { body } = signInPage(shown, { ...asked, hidesPasswordReset, recovers })
    return [body.includes('/ui/login/r/recovery'), body.includes('/ui/forgot-password')]
  }
  expect(led(true)).toEqual([!hidesPasswordReset, false])
  // The former release beside this one.
  expect(led(false)).toEqual([false, !hidesPasswordReset])
})

test('where providers alone sign in, a page has their buttons, and nothing that says or leads otherwise', () => {
  const shown = { language: chooseLanguage('en'), requestId: 'r', formToken: 't', uiLocales: '' }
  const asked = {
    loginName: '',
    nameIsFixed: false,
    mayRegister: false,
    error: SignInError.SIGN_IN_ERROR_UNSPECIFIED,
    retryAfter: 0,
    mailsCode: false,
    providers: [{ idpId: 'acme', name: 'Acme', stylingType: IDPStylingType.STYLING_TYPE_UNSPECIFIED }],
    linksProvider: '',
    hidesPasswordReset: true,
    recovers: true,
    asksNameAlone: false,
  }
  const found = (withoutPassword: boolean) => {
    const { body } = signInPage(shown, { ...asked, withoutPassword })
    return ['Continue with', 'Or another way', 'name="password"', 'name="login_name"'].map((text) =>
      body.includes(text),
    )
  }
  expect(found(true)).toEqual([true, false, false, false])
  expect(found(false)).toEqual([true, true, true, true])
})
