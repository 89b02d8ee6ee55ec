import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { NoticeReason } from '#gen/roster/users/v1/sign_in_service'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { readProof } from '../../directory/login-names/read-proofs.ts'
import type { User } from '../../directory/events/user.ts'
import { addHumanUser } from '../../directory/operations/user/add-human-user.ts'
import { resetPassword } from '../../directory/operations/password/reset-password.ts'
import { keepLoginAddresses } from '../../directory/login-names/login-addresses.ts'
import { addPerson, noteApplication, nothingNewer, told } from '../../openid/authorization/testing/visitors.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import { mailCode } from './request-password-reset.ts'
import { Forgetful, newPassword } from './testing/forgetful.ts'

let database: TestDatabase
let users: TestUsers
let domains: { stop(): Promise<void> }

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users, { PUBLIC_URL: 'https://id.example.com' })
  domains = await serveDomains({}, {}, { copied: nothingNewer(['client']) })
  await noteApplication(users, 'client', { firstParty: true })
}, 60_000)

afterAll(async () => {
  await Promise.all([users?.stop(), domains?.stop()])
  await database?.drop()
})

const forgetful = () => new Forgetful(users)
const caseOf = (page: { answer?: { $case: string } | undefined }) => page.answer?.$case
let names = 0
async function newPerson(organizationId = 'owner') {
  const name = `person-${names++}`
  return { name, userId: await addPerson(users, name, organizationId) }
}
const stranger = () => ({ ...callIn(''), caller: { ...callIn('').caller, userId: '' } })
const reset = (userId: string, verificationCode: string) =>
  resetPassword(users, { userId, verificationCode, newPassword: 'another password' }, stranger())

/** A person who has asked for a code in a request. */
async function asked() {
  const [browser, person] = [forgetful(), await newPerson()]
  const page = await browser.ask(await browser.begin(), person.name)
  return { browser, ...person, page, mail: await browser.mailTo(person.userId) }
}
const wrong = { $case: 'recoveryCode', value: { error: 1 } }

describe('who forgot the password', () => {
  test('keeps the typed name, and goes on to the application with the new password', async () => {
    const [browser, { name, userId }] = [forgetful(), await newPerson()]
    const begun = await browser.begin({ uiLocales: 'de' })
    const first = await browser.recover(begun, 'begin', name)
    expect(first).toMatchObject({
      answer: { $case: 'recovery', value: { loginName: name, nameIsFixed: false } },
      uiLocales: 'de',
      requestId: begun.requestId,
      destination: { host: 'app.example.com' },
    })
    const asking = await browser.recover(first, 'send', name)
    expect(asking.answer).toMatchObject({
      $case: 'recoveryCode',
      value: { loginName: name, error: 0, passwordMin: 8, passwordMax: 200 },
    })
    const { code, url } = await browser.mailTo(userId)
    const cookie = browser.cookie
    const page = `https://id.example.com/ui/login/${begun.requestId}/recovery?organization_id=owner`
    expect(url).toBe(`${page}#userId=${userId}&code=${code}`)
    const answer = await browser.finish(asking, ` ${code.toLowerCase()}`)
    expect(told(answer)).toMatchObject({ code: expect.any(String), state: 'the state' })
    expect(browser.cookie).not.toBe(cookie)
    const user = await users.store.load<User>('user', userId)
    expect(user!.state.human).toMatchObject({ passwordByMail: true, passwordChanges: 1 })
    // The new password is the person's.
    const other = forgetful()
    expect(caseOf(await other.signIn(await other.begin(), name, newPassword))).toBe('leaving')
  })

  test('comes back to the page for name and password with the name', async () => {
    const browser = forgetful()
    const page = await browser.recover(await browser.recover(await browser.begin(), 'begin', 'ada'), 'back', 'ada l')
    expect(page.answer).toMatchObject({ $case: 'signIn', value: { loginName: 'ada l', error: 0 } })
  })

  test('and is known already recovers the own password, whatever name was sent', async () => {
    const [browser, { name, userId }, other] = [forgetful(), await newPerson(), await newPerson()]
    await browser.signIn(await browser.begin(), name)
    const fixed = await browser.begin({ prompt: 'login' })
    expect(fixed.answer).toMatchObject({ $case: 'signIn', value: { nameIsFixed: true } })
    const page = await browser.ask(fixed, other.name)
    const { code } = await browser.mailTo(userId)
    expect(await browser.waiting(other.userId)).toBeUndefined()
    expect(told(await browser.finish(page, code))['code']).toBeDefined()
  })

  test('ends the sessions of before', async () => {
    const { browser, name, page, mail } = await asked()
    const elsewhere = forgetful()
    expect(caseOf(await elsewhere.signIn(await elsewhere.begin(), name))).toBe('leaving')
    await browser.finish(page, mail.code)
    expect(caseOf(await elsewhere.begin())).toBe('signIn')
  })

  test('whose request ended meanwhile has the new password nevertheless, and a page says so', async () => {
    const { browser, name, page, mail } = await asked()
    await users.sql`update authorization_requests set expires_at = roster_now() where id = ${page.requestId}`
    const told = await browser.finish(page, mail.code)
    expect(told.answer).toMatchObject({
      $case: 'notice',
      value: { reason: NoticeReason.NOTICE_REASON_PASSWORD_SET, applicationOrigin: 'https://app.example.com' },
    })
    expect(caseOf(await browser.begin())).toBe('signIn')
    expect(caseOf(await browser.signIn(await browser.begin(), name, newPassword))).toBe('leaving')
  })

  test('gets the same pages for a name that nobody has, also with a code', async () => {
    const pagesOf = async (name: string) => {
      const browser = forgetful()
      const page = await browser.ask(await browser.begin(), name)
      const cookie = browser.cookie
      const pages = [
        page,
        await browser.finish(page, 'ABC234'),
        await browser.finish(page, 'ABC234', { password: 'x' }),
      ]
      return [browser.cookie === cookie, ...pages.map(({ answer }) => JSON.stringify(answer).replaceAll(name, 'name'))]
    }
    const { name } = await newPerson()
    expect(await pagesOf(name)).toEqual(await pagesOf('nobody at all'))
  })

  test('may ask again in the same request: the code of the last mail counts', async () => {
    const { browser, page, name, mail } = await asked()
    // Within a minute nothing more is mailed.
    const again = await browser.recover(await browser.finish(page, '', { action: 'back' }), 'send', name)
    expect(told(await browser.finish(again, mail.code))['code']).toBeDefined()
  })
})

describe('a code', () => {
  test('counts in no other request and in no other browser', async () => {
    const { browser, name, userId, page, mail } = await asked()
    const thief = forgetful()
    const own = await thief.ask(await thief.begin(), name)
    // Not even as a wrong one.
    for (let n = 0; n < 6; n++) expect((await thief.finish(own, mail.code)).answer).toMatchObject(wrong)
    expect(await thief.finishOnly({ ...own, requestId: page.requestId }, mail.code)).toMatchObject({
      answer: { $case: 'notice', value: { reason: NoticeReason.NOTICE_REASON_REQUEST_UNKNOWN } },
    })
    const second = await browser.ask(await browser.begin(), name)
    expect((await browser.finish(second, mail.code)).answer).toMatchObject(wrong)
    expect((await users.store.load<User>('user', userId))!.state.human!.passwordChanges).toBeUndefined()
    expect(told(await browser.finish(page, mail.code))['code']).toBeDefined()
  })

  test('that was asked for by a stranger counts in no request', async () => {
    const [browser, { name, userId }] = [forgetful(), await newPerson()]
    await mailCode(users, name, stranger())
    const { code } = await browser.mailTo(userId)
    const page = await browser.ask(await browser.begin(), name)
    expect((await browser.finish(page, code)).answer).toMatchObject(wrong)
  })

  test('of another person counts for nobody, where the name was changed on the way', async () => {
    const { browser, page, mail } = await asked()
    const other = await newPerson()
    const changed = await browser.recover(await browser.finish(page, '', { action: 'back' }), 'send', other.name)
    expect((await browser.finish(changed, mail.code)).answer).toMatchObject(wrong)
    await browser.mailTo(other.userId)
  })

  test('counts once, and not after the password was changed otherwise', async () => {
    const { browser, page, mail } = await asked()
    const answers = await Promise.all([browser.finish(page, mail.code), browser.finish(page, mail.code)])
    expect(answers.filter((answer) => ['leaving', 'redirect'].includes(caseOf(answer)!)).length).toBeLessThanOrEqual(1)
    const late = await asked()
    await reset(late.userId, late.mail.code)
    expect((await late.browser.finish(late.page, late.mail.code)).answer).toMatchObject(wrong)
  })

  test('ends after five wrong ones', async () => {
    const { browser, page, mail } = await asked()
    for (let n = 0; n < 5; n++) expect((await browser.finish(page, 'AAAAAA')).answer).toMatchObject(wrong)
    expect((await browser.finish(page, mail.code)).answer).toMatchObject(wrong)
  })

  test('is not tried with a password that is too short', async () => {
    const { browser, page, mail } = await asked()
    const again = await browser.finish(page, mail.code, { password: 'short' })
    expect(again.answer).toMatchObject({ $case: 'recoveryCode', value: { error: 2 } })
    expect(told(await browser.finish(again, mail.code))['code']).toBeDefined()
  })
})

describe('the link of the mail', () => {
  test('leads to the request in its browser, elsewhere to the page without it, and changes nothing', async () => {
    const { browser, page, userId, mail } = await asked()
    for (let n = 0; n < 2; n++) expect(await browser.open(page.requestId)).toBe(`/ui/login/${page.requestId}`)
    expect(await forgetful().open(page.requestId)).toBe('/ui/reset-password')
    await reset(userId, mail.code)
    // The request waits for a sign-in.
    const back = await browser.finish(page, '', { action: 'back' })
    expect(caseOf(await browser.recover(back, 'back'))).toBe('signIn')
    expect(await browser.open(page.requestId)).toBe('/ui/reset-password')
  })
})

describe('an address that nobody verified', () => {
  async function unverified(email = `unproved-${names}@example.com`) {
    const name = `unproved-${names++}`
    const profile = { firstName: 'F', lastName: 'L', preferredLanguage: '', gender: 0 as const }
    const verification = { $case: 'returnCode' as const, value: {} }
    const request = { userName: name, password: 'a password', profile, email: { email, verification } }
    const { userId } = await addHumanUser.handle(users, request, callIn('owner'))
    return { name, userId }
  }

  test('gets the mail, and its code proves the address, in the request and on the page without one', async () => {
    for (const way of ['request', 'page']) {
      const [browser, { name, userId }] = [forgetful(), await unverified()]
      const page = await browser.ask(await browser.begin(), name)
      const { code } = await browser.mailTo(userId)
      if (way === 'page') await reset(userId, code)
      else expect(told(await browser.finish(page, code))['code']).toBeDefined()
      const { human } = (await users.store.load<User>('user', userId))!.state
      expect(human!.isVerified).toBe(true)
      expect(await readProof(users, userId, human)).not.toBe('organization')
    }
  })

  test('gets none where it names another person', async () => {
    const [holder, email] = [await newPerson(), `person-${names - 1}@example.com`]
    await keepLoginAddresses(users, holder.userId)
    const { name, userId } = await unverified(email)
    await mailCode(users, name, stranger())
    expect(await forgetful().waiting(userId)).toBeUndefined()
  })
})
