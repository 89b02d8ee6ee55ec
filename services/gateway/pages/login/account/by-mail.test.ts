import { expect, test } from 'vitest'
import { type AccountPage, AccountPage as codec } from '#gen/roster/users/v1/sign_in_service'
import { chooseLanguage } from '../language/language.ts'
import { accountPage } from './account-page.ts'

const show = (language: string, page: object) =>
  accountPage({ language: chooseLanguage(language, undefined), requestId: 'r', formToken: 't', uiLocales: '' }, {
    ...codec.decode(new Uint8Array()),
    account: { sessionId: 's', displayName: 'Ada', loginName: 'ada', email: 'ada@example.com' },
    passwordMin: 8,
    passwordMax: 200,
    ...page,
  } as AccountPage).body

// Who signs in by mailed codes, and has no use for a password.
test.each(['en', 'de'])('in %s the account of a person who signs in by mailed codes has no password', (language) => {
  const { text } = chooseLanguage(language, undefined)
  const form = 'action="/ui/account/password"'
  const withPassword = show(language, { section: 'password' })
  expect([withPassword.includes(form), withPassword.includes(text.passwordUnused)]).toEqual([true, false])
  const without = show(language, { section: 'password', signsInByMail: true })
  expect(without).not.toContain(form)
  expect(without).not.toContain('<script')
  expect(without).toContain(text.passwordUnused)
  const refused = show(language, { section: 'sign-in', signsInByMail: true, outcome: 'password-unused' })
  expect(refused).toMatch(/role="alert"/)
  expect(refused).toContain(text.passwordUnused)
  expect(refused).not.toContain('/ui/account/password')
  expect(refused).toContain(text.secondFactorsByMail)
  expect(refused).not.toContain(text.secondFactorsIntro)
})

test.each(['en', 'de'])('in %s the page of passkeys says that the mailbox alone adds none', (language) => {
  const { text } = chooseLanguage(language, undefined)
  const passkeys = { passkeys: [], rpId: 'id.example.com', userHandle: '', isFull: false, byMailAlone: true }
  const body = show(language, { section: 'passkeys', passkeys, signsInByMail: true })
  expect(body).toContain(text.passkeysByMail)
  // People without a password see it, too.
  expect(text.passkeysByMail).not.toMatch(/passwor/i)
  expect(body).not.toContain('action="/ui/account/passkeys"')
})
