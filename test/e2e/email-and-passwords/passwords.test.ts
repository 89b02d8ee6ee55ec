import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { getUser, newHuman, newMember, newOrganization, ok, signIn, unique } from '../../examples/people.ts'
import { factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'

const { house } = inject('roster')
let home: string

beforeAll(async () => {
  home = await newOrganization()
})

const newPerson = () => newHuman(home, { password: unique('Password') })
const reasonOf = async (answer: ReturnType<typeof json>) => factsOf(await answer).reason ?? 'in'
const knows = (userId: string, token: string, url?: string) =>
  reasonOf(json('GetUser', { userId }, { token, ...(url !== undefined && { url }) }))
const signsIn = (loginName: string, password: string) => reasonOf(json('CreateSession', { loginName, password }))

describe.each(over('json'))('passwords over $encoding', ({ call }) => {
  test('the own password is changed by the present one: this session goes on, the others end', async () => {
    const human = await newPerson()
    const update = (token: string, oldPassword: string, newPassword: string) =>
      call('UpdateMyPassword', { oldPassword, newPassword }, { token })
    const set = (token: string, currentPassword: string, password: string) =>
      call('SetPassword', { userId: human.userId, newPassword: { password }, currentPassword }, { token })
    let password = human.password
    for (const change of [update, set]) {
      const [mine, other] = [await signIn({ ...human, password }), await signIn({ ...human, password })]
      for (const token of [mine, other]) expect(await knows(human.userId, token)).toBe('in')
      const next = unique('Password')
      const { details } = ok(await change(mine, password, next))
      expect(details).toEqual((await getUser(human.userId)).details)
      await expect.poll(() => knows(human.userId, other), { timeout: 5000 }).toBe('TOKEN_INVALID')
      expect(await knows(human.userId, mine)).toBe('in')
      expect(await signsIn(human.userName, password)).toBe('CREDENTIALS_INVALID')
      expect(await signsIn(human.userName, next)).toBe('in')
      password = next
    }
  })

  test('a user manager sets the password of a user, also the first one: every session ends', async () => {
    const [manager, human, without] = [
      await newMember(home, ['ORG_USER_MANAGER']),
      await newPerson(),
      await newHuman(home),
    ]
    const token = await signIn(human)
    for (const { userId, userName } of [human, without]) {
      const password = unique('Password')
      ok(await call('SetPassword', { userId, newPassword: { password } }, manager))
      expect(await signsIn(userName, password)).toBe('in')
    }
    await expect.poll(() => knows(human.userId, token), { timeout: 5000 }).toBe('TOKEN_INVALID')
  })

  test('a wrong present password changes nothing, is counted, and the right one then waits too', async () => {
    const human = await newPerson()
    const token = await signIn(human)
    // The address of the test is known to the user.
    const guess = (oldPassword: string) =>
      call('UpdateMyPassword', { oldPassword, newPassword: unique('Password') }, { token })
    const set = () => {
      const newPassword = { password: unique('Password') }
      return call('SetPassword', { userId: human.userId, newPassword, currentPassword: 'guess-guess' }, { token })
    }
    for (const attempt of [guess, set, guess, set, guess])
      expect(factsOf(await attempt('guess-guess')).reason).toBe('PASSWORD_INVALID')
    const late = factsOf(await guess(human.password))
    expect(late).toMatchObject({ code: 8, reason: 'SIGN_IN_THROTTLED' })
    expect(await signsIn(human.userName, human.password)).toBe('SIGN_IN_THROTTLED')
    expect(await knows(human.userId, token)).toBe('in')
  })

  test('a repeated request has one effect, and its repetition is a guess as well', async () => {
    const human = await newPerson()
    const token = await signIn(human)
    const options = { token, headers: { 'idempotency-key': randomUUID() } }
    const request = { oldPassword: human.password, newPassword: unique('Password') }
    const first = ok(await call('UpdateMyPassword', request, options))
    expect(ok(await call('UpdateMyPassword', request, options))).toEqual(first)
    const reasons: unknown[] = []
    for (let n = 0; n < 7; n++) {
      const guess = { ...request, newPassword: `guess-${n}-guess` }
      reasons.push(factsOf(await call('UpdateMyPassword', guess, options)).reason)
    }
    expect(reasons.at(0)).toBe('IDEMPOTENCY_KEY_REUSED')
    expect(reasons.at(-1)).toBe('SIGN_IN_THROTTLED')
  })
})

test('of two changes with one present password, one succeeds', async () => {
  const human = await newPerson()
  const token = await signIn(human)
  const change = () =>
    reasonOf(json('UpdateMyPassword', { oldPassword: human.password, newPassword: unique('Password') }, { token }))
  expect((await Promise.all([change(), change()])).toSorted()).toEqual(['PASSWORD_INVALID', 'in'])
})

test.skipIf(!house)(
  `a session that a change ended is refused at another gateway${house ? '' : ' (skipped: a Roster by URL shows one gateway)'}`,
  async () => {
    const human = await newPerson()
    const [mine, other] = [await signIn(human), await signIn(human)]
    const elsewhere = (token: string) => knows(human.userId, token, house!.secondUrl)
    for (const token of [mine, other]) expect(await elsewhere(token)).toBe('in')
    ok(
      await json('UpdateMyPassword', { oldPassword: human.password, newPassword: unique('Password') }, { token: mine }),
    )
    await expect.poll(() => elsewhere(other), { timeout: 5000 }).toBe('TOKEN_INVALID')
    expect(await elsewhere(mine)).toBe('in')
  },
)
