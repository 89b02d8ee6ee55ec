import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { KeepSignedIn } from '#gen/roster/users/v1/login_policy_service'
import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import { addPerson, noteApplication, nothingNewer, said, told } from '../openid/authorization/testing/visitors.ts'
import { Forgetful } from '../pages/recovery/testing/forgetful.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../testing/test-users.ts'
import { addCookieLifetime } from './browsers/cookie-lifetime.ts'
import { createSession } from './operations/session/create-session.ts'
import { updateLoginPolicy } from './operations/settings/update-login-policy.ts'

let database: TestDatabase
let users: TestUsers
let domains: { stop(): Promise<void> }
const month = 30 * 86_400

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  domains = await serveDomains({}, {}, { copied: nothingNewer(['client', 'strict']) })
  await noteApplication(users, 'client', { firstParty: true })
  await noteApplication(users, 'strict', { firstParty: true }, { organizationId: 'strict' })
  await policy('owner', KeepSignedIn.KEEP_SIGNED_IN_ALLOWED)
}, 60_000)
afterEach(async () => {
  await shiftClock(users.sql, '0')
  await policy('owner', KeepSignedIn.KEEP_SIGNED_IN_ALLOWED)
})
afterAll(async () => {
  await Promise.all([users?.stop(), domains?.stop()])
  await database?.drop()
})

const policy = (organizationId: string, keepSignedIn: KeepSignedIn, more = {}) =>
  updateLoginPolicy.handle(users, { settings: { keepSignedIn, ...more } }, callIn(organizationId))
const off = () => policy('owner', KeepSignedIn.KEEP_SIGNED_IN_OFF)
let people = 0
async function newPerson(organizationId = 'owner') {
  const name = `person-${people++}`
  return { name, userId: await addPerson(users, name, organizationId) }
}
const boxOf = ({ answer }: PageAnswer) => (answer?.$case === 'signIn' ? answer.value.keep : 'no such page')

/** Somebody at a browser who signs in, with the box ticked or not. */
async function signedIn(keep: '' | 'on', { organizationId = 'owner', browser = new Forgetful(users) } = {}) {
  const person = await newPerson(organizationId)
  await again(browser, person.name, keep, { prompt: 'select_account' })
  return { browser, ...person }
}
async function again(browser: Forgetful, loginName: string, keep: '' | 'on', asked = {}) {
  let page = await browser.begin(asked)
  if (page.answer?.$case === 'accounts') page = await browser.choose(page, '')
  await browser.post(page, { loginName, password: `${loginName}-password`, keep })
  return page
}
/** Seconds that the browser keeps its cookie. */
const cookieLives = async ({ cookie }: Forgetful) => {
  const answer = { ...(await new Forgetful(users, cookie).authorize()), newBrowser: cookie }
  return (await addCookieLifetime(users, answer)).newBrowserLifetime
}
const silently = async (browser: Forgetful) => told(await browser.silently())['error'] ?? 'signed in'
const near = (seconds: number) => expect.toSatisfy((value: number) => value <= seconds && value > seconds - 60)

describe('who ticks the box', () => {
  test('stays signed in for KEPT_SESSION_LIFETIME, and all others for SESSION_LIFETIME, by the server’s clock', async () => {
    const [kept, other] = [await signedIn('on'), await signedIn('')]
    expect([await cookieLives(kept.browser), await cookieLives(other.browser)]).toEqual([near(month), 0])
    await shiftClock(users.sql, `${users.config.SESSION_LIFETIME + 1} seconds`)
    expect([await silently(kept.browser), await silently(other.browser)]).toEqual(['signed in', 'login_required'])
    await shiftClock(users.sql, `${month + 1} seconds`)
    expect(await silently(kept.browser)).toBe('login_required')
  })

  test('is asked again as the policy says, once it is off', async () => {
    const { browser } = await signedIn('on')
    await shiftClock(users.sql, `${users.config.SESSION_LIFETIME + 1} seconds`)
    expect(await silently(browser)).toBe('signed in')
    await off()
    expect(await silently(browser)).toBe('login_required')
    expect(said(await browser.begin())).toBe('sign-in 0 fixed')
  })

  test('is not kept longer than a policy lets a password count', async () => {
    await policy('owner', KeepSignedIn.KEEP_SIGNED_IN_ALLOWED, { passwordCheckLifetime: { seconds: 60, nanos: 0 } })
    expect(await cookieLives((await signedIn('on')).browser)).toBe(60)
  })

  test('finds it ticked where the password alone is asked for again, and decides anew', async () => {
    const { browser, name } = await signedIn('on')
    const page = await again(browser, name, '', { prompt: 'login' })
    expect([said(page), boxOf(page)]).toEqual(['sign-in 0 fixed', true])
    expect(await cookieLives(browser)).toBe(0)
    await shiftClock(users.sql, `${users.config.SESSION_LIFETIME + 1} seconds`)
    expect(await silently(browser)).toBe('login_required')
  })

  test('finds it ticked after a wrong password', async () => {
    const browser = new Forgetful(users)
    const page = await browser.begin()
    expect(boxOf(page)).toBe(false)
    await browser.post(page, { loginName: 'nobody', password: 'wrong', keep: 'on' })
    const after = await browser.show(page.requestId)
    expect([said(after), boxOf(after)]).toEqual(['sign-in 1', true])
  })

  test('may do so with a new password, too', async () => {
    const [browser, { name, userId }] = [new Forgetful(users), await newPerson()]
    const page = await browser.ask(await browser.begin(), name)
    expect(page.answer).toMatchObject({ $case: 'recoveryCode', value: { keep: false } })
    await browser.finish(page, (await browser.mailTo(userId)).code, { keep: 'on' })
    expect(await cookieLives(browser)).toEqual(near(month))
  })
})

describe('the policy of the person’s organization decides:', () => {
  test('by default nobody is kept, and there is no box', async () => {
    const { browser } = await signedIn('on', { organizationId: 'strict' })
    expect(await cookieLives(browser)).toBe(0)
    expect(boxOf(await new Forgetful(users).begin({ clientId: 'strict' }))).toBeUndefined()
  })

  test('for everybody, without a box', async () => {
    await policy('owner', KeepSignedIn.KEEP_SIGNED_IN_ALWAYS)
    const { browser } = await signedIn('')
    expect(await cookieLives(browser)).toEqual(near(month))
    expect(boxOf(await new Forgetful(users).begin())).toBeUndefined()
  })

  test('a login application chooses the longer lifetime, and a session of the API has it only then', async () => {
    const { name } = await newPerson()
    const lives = async (lifetime?: number) => {
      const login = { loginName: name, userId: '', password: `${name}-password` }
      const chosen = lifetime === undefined ? undefined : { seconds: lifetime, nanos: 0 }
      const answer = await createSession.handle(users, { ...login, lifetime: chosen }, callIn(''))
      return (answer.expirationDate!.getTime() - answer.details!.changeDate!.getTime()) / 1000
    }
    const { SESSION_LIFETIME } = users.config
    expect([await lives(), await lives(7 * 86_400), await lives(1e9)]).toEqual([SESSION_LIFETIME, 7 * 86_400, month])
    await policy('owner', KeepSignedIn.KEEP_SIGNED_IN_ALWAYS)
    expect(await lives()).toBe(SESSION_LIFETIME)
    await off()
    expect(await lives(1e9)).toBe(SESSION_LIFETIME)
  })
})

test('a browser keeps its cookie only while every living session there is kept', async () => {
  const { browser } = await signedIn('on')
  expect(await cookieLives(browser)).toEqual(near(month))
  const other = await signedIn('', { browser })
  expect(await cookieLives(browser)).toBe(0)
  const accounts = await browser.account()
  const list = accounts.answer?.$case === 'accounts' ? accounts.answer.value.accounts : []
  const { sessionId } = list.find(({ loginName }) => loginName === other.name)!
  await browser.leave(await browser.choose(accounts, sessionId), 'here')
  expect(await cookieLives(browser)).toEqual(near(month))
  await browser.leave(await browser.account(), 'here')
  expect(await cookieLives(browser)).toBe(0)
})
