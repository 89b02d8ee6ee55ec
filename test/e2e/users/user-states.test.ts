import { beforeAll, describe, expect, inject, test } from 'vitest'
import type { Operation } from '../../examples/contract.ts'
import {
  admin,
  getUser,
  newHuman,
  newMachine,
  newMember,
  newOrganization,
  ok,
  signIn,
  unique,
  uniqueEmail,
} from '../../examples/people.ts'
import { type Answer, factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'

const { house } = inject('roster')
let home: string

beforeAll(async () => {
  home = await newOrganization()
})

const reason = (answer: Answer) => factsOf(answer).reason
/** Operations that end the use of an account, and the operations that undo them. */
const pairs: [Operation, Operation, string, string, string][] = [
  ['DeactivateUser', 'ReactivateUser', 'USER_STATE_INACTIVE', 'USER_ALREADY_INACTIVE', 'USER_NOT_INACTIVE'],
  ['LockUser', 'UnlockUser', 'USER_STATE_LOCKED', 'USER_ALREADY_LOCKED', 'USER_NOT_LOCKED'],
]

describe.each(over('connect'))('over $encoding', ({ call }) => {
  describe.each(pairs)('%s and %s', (end, back, state, already, not) => {
    test('change the state once each, and GetUser shows it', async () => {
      const { userId } = await newHuman(home)
      const act = (operation: Operation) => call(operation, { userId }, admin())
      expect(reason(await act(back))).toBe(not)
      const { details } = ok(await act(end))
      expect(details).toMatchObject({ sequence: '2', resourceOwner: home, creationDate: expect.any(String) })
      const user = await getUser(userId)
      expect(user).toMatchObject({ state, details, human: { profile: { firstName: 'Ada' } } })
      expect(factsOf(await act(end))).toMatchObject({ code: 9, reason: already })
      expect(ok(await act(back)).details.sequence).toBe('3')
      expect((await getUser(userId)).state).toBe('USER_STATE_ACTIVE')
      expect(reason(await act(back))).toBe(not)
    })

    test('end all sessions, and refuse sign-ins like a wrong password until the change is undone', async () => {
      const human = await newMember(home, [])
      const mine = () => call('GetUser', { userId: human.userId }, human)
      const login = (password = human.password) => call('CreateSession', { loginName: human.userName, password })
      ok(await mine())
      ok(await call(end, { userId: human.userId }, admin()))
      await expect.poll(async () => reason(await mine()), { timeout: 5000 }).toBe('TOKEN_INVALID')
      expect((await login()).error).toEqual((await login('wrong-password')).error)
      ok(await call(back, { userId: human.userId }, admin()))
      expect(reason(await mine())).toBe('TOKEN_INVALID')
      ok(await login())
    })
  })

  test('DeleteUser removes the user: it is not found, and its name becomes free, but never its id', async () => {
    const human = await newMember(home, [])
    const { userId, userName, password } = human
    const { details } = ok(await call('DeleteUser', { userId }, admin()))
    expect(details).toMatchObject({ sequence: '2', resourceOwner: home })
    await expect
      .poll(async () => reason(await call('GetUser', { userId }, human)), { timeout: 5000 })
      .toBe('TOKEN_INVALID')
    for (const [operation, more] of later)
      expect([operation, reason(await call(operation, { userId, ...more }, admin(home)))]).toEqual([
        operation,
        'USER_NOT_FOUND',
      ])
    expect(reason(await call('CreateSession', { loginName: userName, password }))).toBe('CREDENTIALS_INVALID')
    const machine = { userName: unique('machine'), name: 'M', userId }
    expect(reason(await call('AddMachineUser', machine, admin(home)))).toBe('USER_ID_TAKEN')
    const heir = await newHuman(home, { userName: userName.toUpperCase(), password })
    expect(heir.userId).not.toBe(userId)
    expect(await signIn({ ...heir, userName })).toMatch(/\S/)
  })
})

const later: [Operation, object][] = [
  ['GetUser', {}],
  ['DeactivateUser', {}],
  ['ReactivateUser', {}],
  ['LockUser', {}],
  ['UnlockUser', {}],
  ['DeleteUser', {}],
  ['RestoreUser', {}],
  ['SetEmail', { email: uniqueEmail(), isVerified: true }],
  ['ResendEmailCode', {}],
  ['AddUserGrant', { projectId: 'unknown' }],
  ['AddOrganizationMember', { roles: ['ORG_OWNER'] }],
]

describe('a deactivation and a lock', () => {
  test('are independent, and each is undone by itself', async () => {
    const userId = await newMachine(home)
    const act = async (operation: Operation) => ok(await json(operation, { userId }, admin()))
    const state = async () => (await getUser(userId)).state
    await act('LockUser')
    await act('DeactivateUser')
    expect(await state()).toBe('USER_STATE_INACTIVE')
    await act('ReactivateUser')
    expect(await state()).toBe('USER_STATE_LOCKED')
    await act('DeactivateUser')
    await act('UnlockUser')
    expect(await state()).toBe('USER_STATE_INACTIVE')
  })

  test('still let an administrator change the address, and a code verify it', async () => {
    const { userId } = await newHuman(home)
    ok(await json('DeactivateUser', { userId }, admin()))
    const { verificationCode } = ok(await json('SetEmail', { userId, email: uniqueEmail(), returnCode: {} }, admin()))
    ok(await json('VerifyEmail', { userId, verificationCode }))
    expect(await getUser(userId)).toMatchObject({
      state: 'USER_STATE_INACTIVE',
      human: { email: { isVerified: true } },
    })
  })
})

describe('a removed user', () => {
  test('has no valid code', async () => {
    const { userId, emailCode: verificationCode } = await newHuman(home, { verification: { returnCode: {} } })
    ok(await json('DeleteUser', { userId }, admin()))
    expect(reason(await json('VerifyEmail', { userId, verificationCode: verificationCode! }))).toBe('CODE_INVALID')
  })
})

describe('a state can be changed', () => {
  const act = async (operation: Operation, userId: string, as: { token: string }) =>
    reason(await json(operation, { userId }, as)) ?? 'ok'
  const all: Operation[] = ['DeactivateUser', 'ReactivateUser', 'LockUser', 'UnlockUser', 'DeleteUser']

  test('only by a caller whose roles cover those of the user, in either direction', async () => {
    const manager = await newMember(home, ['ORG_USER_MANAGER'])
    const owner = await newMember(home, ['ORG_OWNER'])
    for (const operation of all) {
      expect(await act(operation, owner.userId, manager)).toBe('PERMISSION_DENIED')
      // The first administrators have roles on the instance.
      expect(await act(operation, 'admin', owner)).toBe('PERMISSION_DENIED')
    }
    expect(await act('DeactivateUser', manager.userId, owner)).toBe('ok')
    expect(await act('ReactivateUser', manager.userId, owner)).toBe('ok')
  })

  test('by the own organization, even if the user has roles elsewhere', async () => {
    const owner = await newMember(home, ['ORG_OWNER'])
    const { userId } = await newHuman(home)
    ok(await json('AddOrganizationMember', { userId, roles: ['ORG_OWNER'] }, admin(await newOrganization())))
    expect(await act('DeleteUser', userId, owner)).toBe('ok')
  })
})

describe.skipIf(!house)(`two gateways${house ? '' : ' (skipped: a Roster by URL shows one)'}`, () => {
  test.each<Operation>(['DeactivateUser', 'LockUser', 'DeleteUser'])(
    '%s ends every session at both, although they knew it',
    async (operation) => {
      const human = await newMember(home, [])
      const tokens = [human.token, await signIn(human)]
      const asked = () =>
        [undefined, house!.secondUrl].flatMap((url) =>
          tokens.map((token) => json('GetUser', { userId: human.userId }, { token, ...(url && { url }) })),
        )
      for (const answer of await Promise.all(asked())) ok(answer)
      ok(await json(operation, { userId: human.userId }, admin()))
      const refused = async () => (await Promise.all(asked())).map(reason)
      await expect.poll(refused, { timeout: 5000 }).toEqual(Array(4).fill('TOKEN_INVALID'))
    },
  )

  test('50 at once: the state changes once', async () => {
    const { userId } = await newHuman(home)
    const urls = [undefined, house!.secondUrl]
    const work = Array.from({ length: 50 }, (_, n) =>
      json('LockUser', { userId }, { ...admin(), ...(urls[n % 2] && { url: urls[n % 2]! }) }),
    )
    const reasons = (await Promise.all(work)).map(reason)
    expect(reasons.filter((found) => found === undefined)).toHaveLength(1)
    expect(reasons.filter((found) => found === 'USER_ALREADY_LOCKED')).toHaveLength(49)
  })

  test('a sign-in that races with a lock leaves no session behind', async () => {
    const human = await newHuman(home, { password: unique('Password') })
    const { userId, userName: loginName, password } = human
    const [locked, ...answers] = await Promise.all([
      json('LockUser', { userId }, admin()),
      ...Array.from({ length: 4 }, () => json('CreateSession', { loginName, password })),
    ])
    ok(locked)
    const tokens = answers.flatMap((answer) => (answer.error ? [] : [answer.ok.sessionToken as string]))
    for (const token of tokens)
      await expect
        .poll(async () => reason(await json('GetUser', { userId }, { token })), { timeout: 5000 })
        .toBe('TOKEN_INVALID')
    ok(await json('UnlockUser', { userId }, admin()))
    for (const token of tokens) expect(reason(await json('GetUser', { userId }, { token }))).toBe('TOKEN_INVALID')
  })
})
