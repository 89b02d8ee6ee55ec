import { beforeAll, describe, expect, test } from 'vitest'
import { newMember, newOrganization, ok, signIn } from '../../examples/people.ts'
import { type Answer, factsOf } from '../clients/call.ts'
import { over } from '../clients/encodings.ts'

let home: string
let manager: Awaited<ReturnType<typeof newMember>>

beforeAll(async () => {
  home = await newOrganization()
  manager = await newMember(home, ['ORG_USER_MANAGER'])
})

const reason = (answer: Answer) => factsOf(answer).reason

describe.each(over('grpc-web'))('over $encoding', ({ call }) => {
  test('SearchMySessions gives the own living sessions, the newest first, and which is the one of the call', async () => {
    const human = await newMember(home, [])
    const second = { ...human, token: await signIn(human) }
    const third = { ...human, token: await signIn(human) }
    const mine = async (as: { token: string }, more: object = {}) =>
      ok(await call('SearchMySessions', { withTotal: true, ...more }, as))
    const { sessions, total } = await mine(second)
    expect(total).toBe(3)
    expect(sessions.map(({ isCurrent }: any) => isCurrent ?? false)).toEqual([false, true, false])
    for (const session of sessions)
      expect(Date.parse(session.expirationDate)).toBeGreaterThan(Date.parse(session.creationDate))
    const { nextCursor } = await mine(second, { limit: 2 })
    expect((await mine(second, { limit: 2, cursor: nextCursor })).sessions).toEqual([sessions[2]])
    // Another user of the organization has none of them, and no use for the cursor.
    expect((await mine(manager)).total).toBe(1)
    expect(reason(await call('SearchMySessions', { limit: 2, cursor: nextCursor }, manager))).toBe('CURSOR_INVALID')
    // One's own session may be ended by its id.
    ok(await call('DeleteSession', { sessionId: sessions[0].id }, second))
    await expect.poll(async () => reason(await call('GetMyUser', {}, third)), { timeout: 5000 }).toBe('TOKEN_INVALID')
    expect((await mine(second)).sessions).toEqual(sessions.slice(1))
    const seen = ok(await call('SearchUserSessions', { userId: human.userId }, manager)).sessions
    expect(seen.map(({ id }: any) => id)).toEqual(sessions.slice(1).map(({ id }: any) => id))
    expect(seen.some(({ isCurrent }: any) => isCurrent)).toBe(false)
  })

  test('SearchUserSignIns and SearchUserSignInFailures show a user and its managers what came, and from where', async () => {
    const human = await newMember(home, [])
    const { userId, userName: loginName } = human
    expect(reason(await call('CreateSession', { loginName, password: 'Wrong-Password-1' }, undefined))).toBe(
      'CREDENTIALS_INVALID',
    )
    for (const reader of [human, manager]) {
      const { signIns, total } = ok(await call('SearchUserSignIns', { userId, withTotal: true }, reader))
      expect([signIns.length, total]).toEqual([1, 1])
      expect(signIns[0]).toMatchObject({ isLiving: true, client: { address: expect.stringMatching(/[.:]/) } })
      const failures = async () => ok(await call('SearchUserSignInFailures', { userId }, reader)).failures
      await expect
        .poll(failures, { timeout: 15_000 })
        .toEqual([{ hour: expect.anything(), cause: expect.anything(), count: 1 }])
    }
  })

  test('DeleteUserSessions ends every session of a user, for the user and for its managers', async () => {
    for (const byManager of [true, false]) {
      const human = await newMember(home, [])
      const others = [{ token: await signIn(human) }, { token: human.token }]
      const answer = await call('DeleteUserSessions', { userId: human.userId }, byManager ? manager : human)
      expect(ok(answer).ended).toBe(2)
      for (const other of others)
        await expect
          .poll(async () => reason(await call('GetMyUser', {}, other)), { timeout: 5000 })
          .toBe('TOKEN_INVALID')
      expect(ok(await call('DeleteUserSessions', { userId: human.userId }, manager)).ended ?? 0).toBe(0)
      // The user may sign in again.
      ok(await call('SearchMySessions', {}, { token: await signIn(human) }))
    }
  })
})
