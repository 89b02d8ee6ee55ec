import { beforeAll, describe, expect, inject, test } from 'vitest'
import { hasMailbox, mailTo, noticeTo } from '../mailbox.ts'
import {
  admin,
  type ExampleHuman,
  getUser,
  newHuman,
  newMember,
  newOrganization,
  ok,
  signIn,
  unique,
  uniqueEmail,
} from '../../examples/people.ts'
import { openBrowser, type Shown } from '../../examples/sign-in.ts'
import { factsOf } from '../clients/call.ts'
import { call, recordSecret } from '../clients/encodings.ts'

const { url } = inject('roster')

let home: string
beforeAll(async () => {
  home = await newOrganization()
})

const newPerson = () => newHuman(home, { password: unique('Password') })
type Browser = ReturnType<typeof openBrowser>

async function comeIn({ userName: login_name, password }: ExampleHuman, browser: Browser): Promise<Shown> {
  return browser.submit(await browser.visit('/ui/account'), { action: 'sign-in', login_name, password })
}

const reasonOf = async (name: 'GetMyUser', token: string) => factsOf(await call(name, {}, { token })).reason

test('the forms take the longest id of a user', async () => {
  const person = await newHuman(home, { password: unique('Password'), userId: unique('longest').padEnd(200, 'x') })
  const typed = { given_name: 'Ada', family_name: 'King', display_name: 'Ada', language: '' }
  const browser = openBrowser()
  const saved = await browser.submit(await comeIn(person, browser), typed, '/ui/account/profile')
  expect(saved.body).toContain('Saved.')
})

test('names and the language are changed, and a name that breaks a rule is refused by its field', async () => {
  const person = await newPerson()
  const browser = openBrowser()
  const page = await comeIn(person, browser)
  const typed = { given_name: ' Augusta ', family_name: 'King', display_name: 'Augusta', language: 'de' }
  const saved = await browser.submit(page, typed, '/ui/account/profile')
  expect(saved.body).toContain('Saved.')
  const expected = { firstName: 'Augusta', lastName: 'King', displayName: 'Augusta', preferredLanguage: 'de' }
  expect((await getUser(person.userId)).human.profile).toMatchObject(expected)
  for (const wrong of [{ family_name: ' ' }, { display_name: 'x'.repeat(201) }, { given_name: '' }]) {
    const refused = await browser.submit(page, { ...typed, ...wrong }, '/ui/account/profile')
    expect(refused.body).toMatch(new RegExp(`name="${Object.keys(wrong)[0]!}"[^>]*aria-invalid="true"`))
  }
  expect((await getUser(person.userId)).human.profile).toMatchObject(expected)
})

test('the user name is shown as the organization’s, and has no form', async () => {
  const person = await newPerson()
  const { body } = await comeIn(person, openBrowser())
  expect(body).toMatch(new RegExp(`${person.userName}</bdi><br />\\s*<span class="hint">Your organization`))
  expect(body).not.toContain('name="user_name"')
})

test('a manager of passwords is led to the page of sign-in', async () => {
  for (const method of ['GET', 'HEAD']) {
    const answer = await fetch(`${url}/.well-known/change-password`, { method, redirect: 'manual' })
    expect([answer.status, answer.headers.get('location')]).toEqual([302, `${url}/ui/account/sign-in`])
  }
  const person = await newPerson()
  const browser = openBrowser()
  const asked = await browser.visit('/ui/account/sign-in')
  const { userName: login_name, password } = person
  const page = await browser.submit(asked, { action: 'sign-in', login_name, password })
  expect(page.body).toContain('How you sign in')
})

test('a new password ends the other sessions, and the former one opens nothing', async () => {
  const person = await newPerson()
  const [browser, elsewhere] = [openBrowser(), openBrowser()]
  const token = await signIn(person)
  await comeIn(person, elsewhere)
  await comeIn(person, browser)
  const page = await browser.visit('/ui/account/password')
  for (const [password, problem] of [
    ['short', 'too short'],
    ['password', 'easy to guess'],
  ] as const) {
    const refused = await browser.submit(page, { password }, '/ui/account/password')
    expect(refused.body).toContain(problem)
  }
  const password = unique('Another')
  recordSecret(password)
  const changed = await browser.submit(page, { password }, '/ui/account/password')
  expect(changed.body).toContain('You have a new password')
  expect((await elsewhere.visit('/ui/account')).body).toContain('name="password"')
  await expect.poll(() => reasonOf('GetMyUser', token), { timeout: 5000 }).toBe('TOKEN_INVALID')
  expect(factsOf(await call('CreateSession', { loginName: person.userName, password: person.password })).reason).toBe(
    'CREDENTIALS_INVALID',
  )
  await signIn({ ...person, password })
})

describe.skipIf(!hasMailbox())('the address', () => {
  test('is changed, and counts as verified once its mailed code is entered', async () => {
    const person = await newPerson()
    const browser = openBrowser()
    await comeIn(person, browser)
    const page = await browser.visit('/ui/account/email')
    const change = (email: string) => browser.submit(page, { email }, '/ui/account/email')
    expect((await change('nobody')).body).toContain('check the email address')
    expect((await change(person.email)).body).toContain('This is your address already')
    const email = uniqueEmail()
    const asking = await change(email)
    expect(asking.body).toContain('A code is on its way')
    const enter = (code: string) => browser.submit(asking, { code, action: 'check' }, '/ui/account/email/code')
    expect((await enter('AAAAAA')).body).toContain('This code does not work')
    expect((await enter((await mailTo(email)).code)).body).toContain('The address is verified.')
    expect((await getUser(person.userId)).human.email).toMatchObject({ email, isVerified: true })
  })
})

test('the download has what is kept of the person', async () => {
  const person = await newPerson()
  const browser = openBrowser()
  await comeIn(person, browser)
  const file = await browser.submit(await browser.visit('/ui/account/data'), {}, '/ui/account/data')
  const data = JSON.parse(file.body)
  expect(data).toMatchObject({
    user: { userId: person.userId, human: { email: { email: person.email } } },
    sessions: [{ inBrowser: true, isCurrent: true }],
    roles: {},
  })
  expect(data.changes.length).toBeGreaterThan(0)
})

describe('who removes themselves', () => {
  const removal = async (browser: Browser) =>
    browser.submit(await browser.visit('/ui/account/removal'), {}, '/ui/account/removal')

  test.skipIf(!hasMailbox())('is told so by mail: a stolen session may have done it', async () => {
    const person = await newPerson()
    const browser = openBrowser()
    await comeIn(person, browser)
    await removal(browser)
    expect((await noticeTo(person.email)).subject).toBe('Your account was removed')
  })

  test('is gone, and signed in nowhere', async () => {
    const person = await newPerson()
    const browser = openBrowser()
    await comeIn(person, browser)
    expect((await removal(browser)).body).toContain('Your account is removed')
    expect(factsOf(await call('GetUser', { userId: person.userId }, admin())).reason).toBe('USER_NOT_FOUND')
    expect((await browser.visit('/ui/account')).body).toContain('name="password"')
  })

  test('is not the last owner of an organization, by the page and by the API', async () => {
    const own = await newOrganization()
    const [owner, other] = [await newMember(own, ['ORG_OWNER']), await newMember(own, ['ORG_OWNER'])]
    const [browser, othersBrowser] = [openBrowser(), openBrowser()]
    await comeIn(owner, browser)
    await comeIn(other, othersBrowser)
    // Of two at once one stays.
    const both = await Promise.all([removal(browser), removal(othersBrowser)])
    const isGone = both.map(({ body }) => body.includes('Your account is removed'))
    expect(isGone.filter(Boolean)).toHaveLength(1)
    const left = isGone[0] ? other : owner
    const { body } = await removal(isGone[0] ? othersBrowser : browser)
    expect(body).toContain('You are the last owner of an organization')
    const { userId, token } = left
    expect(factsOf(await call('DeleteUser', { userId }, { token, organization: own })).reason).toBe('LAST_ORG_OWNER')
    // An inactive owner is none.
    const third = await newMember(own, ['ORG_OWNER'])
    ok(await call('DeactivateUser', { userId: third.userId }, admin(own)))
    expect((await removal(isGone[0] ? othersBrowser : browser)).body).toContain('You are the last owner')
    ok(await call('ReactivateUser', { userId: third.userId }, admin(own)))
    expect((await removal(isGone[0] ? othersBrowser : browser)).body).toContain('Your account is removed')
  })
})
