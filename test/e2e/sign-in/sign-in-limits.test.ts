import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../deploy/local/ports.ts'
import { type House, startHouse } from '../../house.ts'
import { startTestServers } from '../../infra.ts'
import { call } from '../clients/encodings.ts'
import { type Answer, factsOf } from '../clients/call.ts'
import { ok, profile, unique, uniqueEmail } from '../../examples/people.ts'
import { openBrowserAt } from '../../support/browsers/browser.ts'

let house: House
let publicUrl: string
let stopServers: () => Promise<void>

beforeAll(async () => {
  const { servers, stop } = await startTestServers()
  stopServers = stop
  const PORT = String(await freePort(0))
  publicUrl = `http://localhost:${PORT}`
  const settings = { TRUSTED_PROXIES: '1', SESSIONS_PER_USER: '5', PORT, PUBLIC_URL: publicUrl }
  house = await startHouse(servers.serviceDatabaseUrls, settings, { servers, replicas: 2 })
})

afterAll(async () => {
  await house?.stop()
  await stopServers?.()
})

const admin = () => ({ url: house.url, token: house.adminToken })
let addresses = 0
const address = () => `203.0.113.${++addresses}`

async function newPerson() {
  const [userName, password] = [unique('human'), unique('Password')]
  const email = uniqueEmail()
  const request = { userName, password, profile, email: { email, isVerified: true } }
  const { userId } = ok(await call('AddHumanUser', request, admin()))
  return { userName, password, userId, email }
}

/** Signs in from an address, at one of the gateways. */
function signIn(loginName: string, password: string, from: string, gateway = 0): Promise<Answer> {
  const headers = { 'x-forwarded-for': from }
  return call('CreateSession', { loginName, password }, { url: house.urls[gateway]!, headers })
}

const reasonOf = (answer: Answer) => factsOf(answer).reason ?? 'in'

describe('a hundred wrong passwords from twenty addresses lock no one out:', () => {
  const home = address()
  const attackers = Array.from({ length: 20 }, address)
  let person: Awaited<ReturnType<typeof newPerson>>

  beforeAll(async () => {
    person = await newPerson()
    ok(await signIn(person.userName, person.password, home))
    const guess = async (from: string) => {
      const answers: Answer[] = []
      for (let n = 0; n < 5; n++) answers.push(await signIn(person.userName, 'wrong-password', from, n % 2))
      return answers
    }
    const answers = (await Promise.all(attackers.map(guess))).flat()
    expect(new Set(answers.map(reasonOf))).toEqual(new Set(['CREDENTIALS_INVALID']))
  })

  test('the user signs in at once from a known address', async () => {
    ok(await signIn(person.userName, person.password, home, 1))
  })

  test('and from a new address', async () => {
    ok(await signIn(person.userName, person.password, address()))
  })

  test('while each attacker has to wait, a minute at most', async () => {
    const answer = await signIn(person.userName, person.password, attackers[0]!)
    expect(reasonOf(answer)).toBe('SIGN_IN_THROTTLED')
    expect(Number(answer.headers['retry-after'])).toBeLessThanOrEqual(60)
  })
})

test('of fifty concurrent guesses from one address, at two gateways, five are checked', async () => {
  const { userName, password } = await newPerson()
  const from = address()
  const guesses = Array.from({ length: 50 }, (_, n) => signIn(userName, `guess-${n}-guess`, from, n % 2))
  const reasons = (await Promise.all(guesses)).map(reasonOf)
  expect(reasons.filter((reason) => reason === 'CREDENTIALS_INVALID')).toHaveLength(5)
  expect(reasons.filter((reason) => reason === 'SIGN_IN_THROTTLED')).toHaveLength(45)
  expect(reasonOf(await signIn(userName, password, from))).toBe('SIGN_IN_THROTTLED')
})

test('every spelling of a name counts alike, also for a name that no user has', async () => {
  const { userName } = await newPerson()
  const { primaryDomain } = ok(await call('GetMyOrganization', {}, admin())).organization
  for (const name of [userName, unique('no-one')]) {
    const from = address()
    const spellings = [name, name.toUpperCase(), `${name}@${primaryDomain}`, `${name}@${primaryDomain.toUpperCase()}`]
    const reasons: string[] = []
    for (let n = 0; n < 8; n++) reasons.push(reasonOf(await signIn(spellings[n % 4]!, 'wrong-password', from, n % 2)))
    expect(reasons).toEqual([...Array(5).fill('CREDENTIALS_INVALID'), ...Array(3).fill('SIGN_IN_THROTTLED')])
  }
})

test('guesses count for the person, by whatever name and at whatever door', async () => {
  const { userName, email, password, userId } = await newPerson()
  // As soon as the address means the person.
  await expect.poll(async () => reasonOf(await signIn(email, password, address())), { timeout: 10_000 }).toBe('in')
  const { sessionToken: own } = ok(await signIn(userName, password, address()))
  const { sessionId, sessionToken } = ok(await call('CreateSession', { userId }, admin()))
  let from = ''
  let headers: Record<string, string> = {}
  const wrong = 'wrong-password'
  const onPage = async () => {
    const browser = openBrowserAt(publicUrl, '', headers)
    const sent = { action: 'sign-in', login_name: email, password: wrong }
    const { body } = await browser.submit(await browser.visit('/ui/account'), sent)
    return body.includes('Too many') ? 'SIGN_IN_THROTTLED' : 'CREDENTIALS_INVALID'
  }
  const newPassword = unique('Password')
  const change = { oldPassword: wrong, newPassword }
  const set = { userId, currentPassword: wrong, newPassword: { password: newPassword } }
  const doors: [() => Promise<string>, string][] = [
    [async () => reasonOf(await signIn(userName, wrong, from)), 'CREDENTIALS_INVALID'],
    [async () => reasonOf(await signIn(email, wrong, from, 1)), 'CREDENTIALS_INVALID'],
    [onPage, 'CREDENTIALS_INVALID'],
    [
      async () => reasonOf(await call('CreateSession', { userId, password: wrong }, { ...admin(), headers })),
      'CREDENTIALS_INVALID',
    ],
    [
      async () =>
        reasonOf(await call('SetSession', { sessionId, sessionToken, password: wrong }, { ...admin(), headers })),
      'CREDENTIALS_INVALID',
    ],
    [
      async () => reasonOf(await call('UpdateMyPassword', change, { url: house.url, token: own, headers })),
      'PASSWORD_INVALID',
    ],
    [async () => reasonOf(await call('SetPassword', set, { url: house.url, token: own, headers })), 'PASSWORD_INVALID'],
  ]
  // Five in all.
  for (const tried of [
    [0, 1, 2, 3, 4],
    [5, 6, 5, 6, 5],
  ]) {
    from = address()
    headers = { 'x-forwarded-for': from }
    for (const n of tried) expect(await doors[n]![0]()).toBe(doors[n]![1])
    for (const [guess] of doors) expect(await guess()).toBe('SIGN_IN_THROTTLED')
  }
  // Nobody else waits for these guesses, and neither does the person at another address.
  const other = await newPerson()
  ok(await signIn(other.userName, other.password, from))
  ok(await signIn(email, password, address()))
})

describe('a user may have five sessions where five are allowed:', () => {
  const isAlive = async (userId: string, { sessionToken: token }: { sessionToken: string }, gateway = 0) =>
    reasonOf(await call('GetUser', { userId }, { url: house.urls[gateway]!, token }))

  test('the next one ends the oldest, which a gateway that knew it refuses', async () => {
    const { userName, password, userId } = await newPerson()
    const sessions: { sessionId: string; sessionToken: string }[] = []
    for (let n = 0; n < 5; n++) sessions.push(ok(await signIn(userName, password, address())))
    for (const session of sessions) expect(await isAlive(userId, session, 1)).toBe('in')
    sessions.push(ok(await signIn(userName, password, address())))
    await expect.poll(() => isAlive(userId, sessions[0]!, 1), { timeout: 5000 }).toBe('TOKEN_INVALID')
    for (const session of sessions.slice(1)) expect(await isAlive(userId, session, 1)).toBe('in')
    const { sessionId } = sessions[0]!
    expect(factsOf(await call('DeleteSession', { sessionId }, admin())).reason).toBe('SESSION_NOT_FOUND')
    const types = async () => {
      const filter = { aggregateTypes: ['session'], aggregateIds: [sessionId] }
      return (ok(await call('SearchEvents', { filter }, admin())).events ?? []).map(({ type }: any) => type)
    }
    await expect.poll(types).toEqual(['roster.session.created.v1', 'roster.session.ended.v1'])
  })

  test('with any number of concurrent sign-ins, at two replicas', async () => {
    const { userName, password, userId } = await newPerson()
    const opened = await Promise.all(Array.from({ length: 16 }, (_, n) => signIn(userName, password, address(), n % 2)))
    const living = async () => {
      const reasons = await Promise.all(opened.map((answer, n) => isAlive(userId, ok(answer), n % 2)))
      return reasons.filter((reason) => reason === 'in').length
    }
    await expect.poll(living, { timeout: 5000 }).toBe(5)
  })
})
