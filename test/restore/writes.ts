import { setTimeout as sleep } from 'node:timers/promises'
import { callJson } from '../e2e/clients/json.ts'
import type { OperatedHouse } from '../support/operated-house.ts'

/** A write that was acknowledged. */
export interface Written {
  id: string
  at: number
}

/** People that a database has which is measured. */
const people = Number(process.env['ROSTER_RESTORE_PEOPLE'] ?? 10_000)

/** Adds them. */
export async function addPeople({ act }: OperatedHouse): Promise<void> {
  const portion = 100
  for (let first = 0; first < people; first += portion) {
    const users = Array.from({ length: portion }, (_, index) => {
      const name = `person-${first + index}`
      const profile = { firstName: 'Ada', lastName: `Number${first + index}` }
      return { human: { userName: name, profile, email: { email: `${name}@example.com`, isVerified: true } } }
    })
    await act('BulkAddUsers', { users })
  }
}

/** Writes one after the other until it is stopped. Keeps what was acknowledged. */
export function startWriting({ house }: OperatedHouse): { written: Written[]; stop(): Promise<void> } {
  const written: Written[] = []
  const over = new AbortController()
  async function run() {
    for (let n = 0; !over.signal.aborted; n++) {
      const id = `write-${n}`
      const request = { userId: id, userName: id, name: id }
      const { error } = await callJson('AddMachineUser', request, { url: house.url, token: house.adminToken })
      if (!error) written.push({ id, at: Date.now() })
      await sleep(20)
    }
  }
  const running = run()
  return {
    written,
    async stop() {
      over.abort()
      await running
    },
  }
}
