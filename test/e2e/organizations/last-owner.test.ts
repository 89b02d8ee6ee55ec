import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import type { Operation } from '../../examples/contract.ts'
import { ok } from '../../examples/people.ts'
import { type Answer, factsOf } from '../clients/call.ts'
import { call, encodings } from '../clients/encodings.ts'
import { startOwnHouse } from '../own-house.ts'

const byUrl = inject('roster').house === undefined
const why = byUrl ? ' (skipped: it takes a Roster of its own)' : ''
let house: Awaited<ReturnType<typeof startOwnHouse>>

beforeAll(async () => {
  if (!byUrl) house = await startOwnHouse({ replicas: 2 })
})
afterAll(() => house?.stop())

const reason = (answer: Answer) => factsOf(answer).reason ?? 'ok'
const machine = { userId: 'admin-machine' }
const human = { userId: 'admin' }
const ends: [Operation, Operation][] = [
  ['DeactivateUser', 'ReactivateUser'],
  ['LockUser', 'UnlockUser'],
]

describe.skipIf(byUrl)(`the first two owners of the instance${why}`, () => {
  test.each(ends)(
    '%s: a personal access token is refused at both gateways, and works again after %s',
    async (end, back) => {
      const owner = await house.human()
      const everywhere = async () =>
        Promise.all(house.urls.map(async (url) => reason(await call('GetUser', machine, { ...house.machine, url }))))
      await expect.poll(everywhere, { timeout: 5000 }).toEqual(['ok', 'ok'])
      ok(await call(end, machine, owner))
      await expect.poll(everywhere, { timeout: 5000 }).toEqual(['TOKEN_INVALID', 'TOKEN_INVALID'])
      ok(await call(back, machine, owner))
      expect(await everywhere()).toEqual(['ok', 'ok'])
    },
  )

  test('the last one cannot be ended in any encoding, whether the other is locked or gone', async () => {
    const owner = await house.human()
    const operations: Operation[] = ['DeactivateUser', 'LockUser', 'DeleteUser']
    const refused = async () => {
      for (const { call: send } of encodings)
        for (const operation of operations)
          expect(factsOf(await send(operation, human, owner))).toMatchObject({ code: 9, reason: 'LAST_IAM_OWNER' })
    }
    ok(await call('LockUser', machine, owner))
    await refused()
    ok(await call('DeleteUser', machine, owner))
    await refused()
  })
})
