import { expect, vi } from 'vitest'
import { unique } from '../examples/people.ts'
import { type OperatedHouse, startOperatedHouse } from './operated-house.ts'

/** A Roster that `status` shows. Its services sign checkpoints each second. */
export interface StatusHouse extends OperatedHouse {
  /** What `status --json` prints. */
  status(): Promise<any>
  /** Waits until `status` has nothing to attend to. */
  allIsWell(): Promise<void>
  /** Holds a table such as `roster_grants.events` meanwhile: reads go on, writes wait. */
  whileLocked(table: string, work: () => Promise<void>): Promise<void>
  /** Stores an event of grants, and makes it as old as this, such as `10 minutes`. */
  storeBefore(time: string): Promise<void>
}

export async function startStatusHouse(): Promise<StatusHouse> {
  const there = await startOperatedHouse({ CHECKPOINT_INTERVAL: '1' })
  const { admin, roster, act } = there
  const status = async () => (await roster('status', '--json')).json()[0]
  return {
    ...there,
    status,
    allIsWell: () => vi.waitFor(async () => expect((await status()).attention).toEqual([]), { timeout: 20_000 }),
    async whileLocked(table, work) {
      await admin.begin(async (transaction) => {
        await transaction.unsafe(`lock table ${table} in share mode`)
        await work()
      })
    },
    async storeBefore(time) {
      await act('AddProject', { name: unique('project') })
      await admin`
        update roster_grants.events set created_at = created_at - ${time}::text::interval
        where position = (select max(position) from roster_grants.events)
      `
    },
  }
}
