import { compactVerify, createLocalJWKSet } from 'jose'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { Operation } from '../../examples/contract.ts'
import { ok, unique } from '../../examples/people.ts'
import { type Answer, factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'
import { startOwnHouse } from '../own-house.ts'

const byUrl = inject('roster').house === undefined
const why = byUrl ? ' (skipped: it takes a Roster of its own)' : ''
let house: Awaited<ReturnType<typeof startOwnHouse>>

beforeAll(async () => {
  if (byUrl) return
  house = await startOwnHouse({}, { FORGET_AFTER_DAYS: '7' })
}, 60_000)
afterAll(async () => {
  await house?.stop()
})

const reason = (answer: Answer) => factsOf(answer).reason ?? 'ok'
const act = async (operation: Operation, request: object) => ok(await json(operation, request as never, house.machine))

async function newHuman() {
  const userName = unique('gigi')
  const email = { email: `${userName}@example.com`, isVerified: true }
  const profile = { firstName: 'Gigi', lastName: 'Giraffe' }
  const { userId } = await act('AddHumanUser', { userName, profile, email, password: 'Password-1234' })
  await act('AddOrganizationMember', { userId, roles: ['ORG_OWNER_VIEWER'] })
  return { userId: userId as string, userName }
}
const signIn = ({ userName }: { userName: string }) =>
  json('CreateSession', { loginName: userName, password: 'Password-1234' }, { url: house.url })
const rolesOf = async (userId: string) =>
  (await act('SearchOrganizationMembers', { userId })).members?.map(({ roles }: { roles: string[] }) => roles) ?? []

const atOnce = ['key', 'searches', 'tokens', 'passwords', 'knownAddresses', 'waitingMails', 'userName']
const removalOf = (receipt: string) =>
  (JSON.parse(Buffer.from(receipt.split('.')[1]!, 'base64url').toString()) as { removal: object }).removal

describe.each(over('grpc'))(`over $encoding${why}`, ({ call }) => {
  test.skipIf(byUrl)(
    'a removal can be undone: until then no one finds the user, and then all is as before',
    async () => {
      const human = await newHuman()
      const { userId, userName } = human
      const session = ok(await signIn(human)).sessionToken as string
      const before = await act('GetUser', { userId })
      const { forgetAt, details } = ok(await call('DeleteUser', { userId }, house.machine))
      expect(Date.parse(forgetAt) - Date.parse(details.changeDate)).toBe(7 * 86_400_000)

      for (const operation of ['GetUser', 'DeleteUser', 'LockUser', 'DeactivateUser'] as const)
        expect([operation, reason(await call(operation, { userId }, house.machine))]).toEqual([
          operation,
          'USER_NOT_FOUND',
        ])
      const found = await act('SearchUsers', { query: { userName: { text: userName } } }).catch(() => ({ users: [] }))
      expect(found.users ?? []).toEqual([])
      expect(reason(await signIn(human))).toBe('CREDENTIALS_INVALID')
      const mine = await call('GetMyUser', {}, { url: house.url, token: session })
      expect(reason(mine)).toBe('TOKEN_INVALID')
      const heir = { userName, name: 'M' }
      expect(reason(await call('AddMachineUser', heir, house.machine))).toBe('USER_NAME_TAKEN')
      expect(reason(await call('AddUserGrant', { userId, projectId: 'x' }, house.machine))).toBe('USER_NOT_FOUND')

      const restored = ok(await call('RestoreUser', { userId }, house.machine))
      expect(Number(restored.details.sequence)).toBe(Number(details.sequence) + 1)
      const { user } = await act('GetUser', { userId })
      expect({ ...user, details: {} }).toEqual({ ...before.user, details: {} })
      ok(await signIn(human))
      expect(reason(await call('GetMyUser', {}, { url: house.url, token: session }))).toBe('TOKEN_INVALID')
      expect(reason(await call('RestoreUser', { userId }, house.machine))).toBe('USER_NOT_REMOVED')
      expect(await rolesOf(userId)).toEqual([['ORG_OWNER_VIEWER']])
    },
  )

  test.skipIf(byUrl)('forgetNow ends the waiting of a removed user, and forgets a living one at once', async () => {
    const human = await newHuman()
    const { userId, userName } = human
    const forget = (id: string, as = house.machine) => call('DeleteUser', { userId: id, forgetNow: true }, as)
    const removed = ok(await call('DeleteUser', { userId }, house.machine))
    expect(removed.forgetAt).toBeDefined()
    const stranger = await newHuman()
    const { sessionToken } = ok(await signIn(stranger))
    const asStranger = { ...house.machine, token: sessionToken as string }
    const refused = [await forget(userId, asStranger), await forget('unknown', asStranger)]
    expect(refused.map((answer) => factsOf(answer))).toEqual([factsOf(refused[0]!), factsOf(refused[0]!)])
    expect(reason(refused[0]!)).toBe('PERMISSION_DENIED')
    expect(reason(await call('DeleteUser', { userId }, house.machine))).toBe('USER_NOT_FOUND')

    const erased = ok(await forget(userId))
    expect(erased.forgetAt ?? null).toBeNull()
    expect(Number(erased.details.sequence)).toBe(Number(removed.details.sequence) + 1)
    expect(removalOf(erased.receipt)).toMatchObject({ userId, removedBy: 'admin-machine', forgotten: atOnce })
    expect(removalOf(erased.receipt)).not.toHaveProperty('forgetAt')
    expect(reason(await call('RestoreUser', { userId }, house.machine))).toBe('USER_NOT_FOUND')
    expect(reason(await forget(userId))).toBe('USER_NOT_FOUND')
    await act('AddMachineUser', { userName, name: 'heir' })

    const living = ok(await forget(stranger.userId))
    expect(living.forgetAt ?? null).toBeNull()
    expect(removalOf(living.receipt)).toMatchObject({ sequence: Number(living.details.sequence), forgotten: atOnce })
    expect(reason(await call('RestoreUser', { userId: stranger.userId }, house.machine))).toBe('USER_NOT_FOUND')
  })

  test.skipIf(byUrl)('no one with fewer roles erases or restores a user who waits to be erased', async () => {
    const [{ userId }, manager] = [await newHuman(), await newHuman()]
    await act('UpdateOrganizationMember', { userId, roles: ['ORG_OWNER'] })
    await act('UpdateOrganizationMember', { userId: manager.userId, roles: ['ORG_USER_MANAGER'] })
    const { sessionToken } = ok(await signIn(manager))
    const asManager = { ...house.machine, token: sessionToken as string }
    ok(await call('DeleteUser', { userId }, house.machine))
    for (const [operation, request] of [
      ['DeleteUser', { forgetNow: true }],
      ['RestoreUser', {}],
    ] as const)
      expect([operation, reason(await call(operation, { userId, ...request }, asManager))]).toEqual([
        operation,
        'PERMISSION_DENIED',
      ])
    ok(await call('RestoreUser', { userId }, house.machine))
    const plain = await newHuman()
    await act('RemoveOrganizationMember', { userId: plain.userId })
    ok(await call('DeleteUser', { userId: plain.userId, forgetNow: true }, asManager))
  })

  test.skipIf(byUrl)(
    'the receipt says who removed whom and when, and verifies with the public keys alone',
    async () => {
      const { userId } = await newHuman()
      const headers = { 'idempotency-key': unique('key') }
      const { receipt, details } = ok(await call('DeleteUser', { userId }, { ...house.machine, headers }))
      const keys = createLocalJWKSet(await act('ListSigningKeys', {}))
      const { payload, protectedHeader } = await compactVerify(receipt, keys)
      expect(protectedHeader.typ).toBe('roster-receipt+jwt')
      const said = JSON.parse(Buffer.from(payload).toString()) as { removal: Record<string, unknown> }
      expect(said.removal).toMatchObject({
        userId,
        organizationId: details.resourceOwner,
        sequence: Number(details.sequence),
        removedAt: new Date(details.changeDate).toISOString(),
        removedBy: 'admin-machine',
        forgotten: [],
        follows: ['stream', 'deliveries', 'statistics'],
      })
      expect(JSON.stringify(said)).not.toMatch(/gigi|giraffe|@/i)
      const [head, body, signature] = (receipt as string).split('.')
      const other = Buffer.from(JSON.stringify({ ...said, removal: { ...said.removal, userId: 'v' } }))
      await expect(compactVerify([head, other.toString('base64url'), signature].join('.'), keys)).rejects.toThrow()
      expect(body).not.toBe(other.toString('base64url'))
      expect(reason(await call('GetMyUser', {}, { url: house.url, token: receipt }))).toBe('TOKEN_INVALID')
      const again = ok(await call('DeleteUser', { userId }, { ...house.machine, headers }))
      expect(again.receipt).toBe(receipt)
    },
  )
})

test.skipIf(byUrl)(`whoever waits is erased by the service itself once the time is over${why}`, async () => {
  const { userId } = await newHuman()
  ok(await json('DeleteUser', { userId }, house.machine))
  const sql = postgres(house.servers.databaseUrl, { max: 1, onnotice: () => {} })
  try {
    // The time in the state is encrypted with the key, so here the key is lost, too.
    await sql`delete from roster_users.subject_keys where subject_id = ${userId}`
    await sql`update roster_users.forgettings set forget_at = now() where user_id = ${userId}`
    await house.restart('users')
    const state = () => sql`select state from roster_users.aggregates where type = 'user' and id = ${userId}`
    await expect.poll(state, { timeout: 20_000 }).toEqual([{ state: { userName: '', removed: true } }])
  } finally {
    await sql.end()
  }
})
