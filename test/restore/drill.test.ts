import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OperatedHouse, startOperatedHouse } from '../support/operated-house.ts'
import { startTestReceiver, type TestReceiver } from '../support/receiver.ts'
import { keepingLog } from '../support/rpc.ts'

// The settings of each service, read at each of its starts.
const settings: Record<string, string> = { ROSTER_DRILL: '1', WEBHOOK_ALLOW_PRIVATE: '127.0.0.1', SWEEP_INTERVAL: '1' }
const { log, lines } = keepingLog()
let there: OperatedHouse
let receiver: TestReceiver

beforeAll(async () => {
  receiver = await startTestReceiver()
  there = await startOperatedHouse(settings, { log })
}, 60_000)
afterAll(async () => {
  await there?.stop()
  await receiver?.stop()
})

const readyz = async () => (await (await fetch(`${there.house.url}/readyz`)).json()) as Record<string, unknown>
async function deliveries(): Promise<{ kind: string; state: string; attempts: number }[]> {
  const { deliveries: all } = await there.act('SearchDeliveries', {})
  return all.map(({ kind, state, attempts = 0 }: any) => ({ kind: kind.slice(14), state: state.slice(15), attempts }))
}
async function mailsTo(address: string): Promise<unknown[]> {
  const answer = await fetch(`${there.servers.mailboxUrl}/api/v1/search?query=${encodeURIComponent(`to:"${address}"`)}`)
  return ((await answer.json()) as { messages: unknown[] }).messages
}

const sorted = async () => (await deliveries()).toSorted((one, other) => one.kind.localeCompare(other.kind))
const addHuman = (name: string) =>
  there.act('AddHumanUser', {
    userName: name,
    profile: { firstName: 'Ada', lastName: 'Lovelace' },
    email: { email: `${name}@example.com` },
  })
/** What waits of so many users, for mail and webhook each. */
const queued = (users: number) =>
  ['MAIL', 'WEBHOOK'].flatMap((kind) => Array.from({ length: users }, () => ({ kind, state: 'QUEUED', attempts: 0 })))

test('in a drill no mail and nothing for a webhook is sent or given up, and all of it is sent after the drill', async () => {
  expect(await readyz()).toMatchObject({ status: 'ok', drill: true })
  expect(lines.join('')).toContain('this is a drill (ROSTER_DRILL)')
  await there.act('AddWebhook', { url: receiver.url, eventTypes: ['user.human.added'] })
  await addHuman('drill-1')
  await expect.poll(sorted).toEqual(queued(1))
  // As restored from an old backup: too late, for whoever looks.
  await there.admin`update roster_notifier.deliveries set queued_at = queued_at - interval '2 days'`
  await there.house.restart('notifier')
  // It works again, and looked for what waits as it started.
  await addHuman('drill-2')
  await expect.poll(sorted).toEqual(queued(2))
  expect(await readyz()).toMatchObject({ status: 'ok', drill: true })
  expect(receiver.received).toEqual([])
  expect(await mailsTo('drill-1@example.com')).toEqual([])

  await there.admin`update roster_notifier.deliveries set queued_at = now()`
  delete settings['ROSTER_DRILL']
  await there.house.restart('notifier')
  await expect.poll(() => receiver.taken().length).toBe(2)
  for (const n of [1, 2]) await expect.poll(() => mailsTo(`drill-${n}@example.com`)).toHaveLength(1)
  await expect.poll(sorted).toEqual(queued(2).map((one) => ({ ...one, state: 'SENT', attempts: 1 })))
  await expect.poll(async () => Object.keys(await readyz())).not.toContain('drill')
})
