import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Load, type Remembered, startLoad } from './load.ts'
import { type Running, startRunning } from './running.ts'

const before = 120
const after = 120

let running: Running
beforeAll(async () => {
  running = await startRunning()
})
afterAll(() => running?.stop())
beforeEach(() => running.servers.mailbox!.mails.clear())

describe.each(['users', 'grants', 'gateway', 'notifier', 'nats', 'redis', 'postgres'] as const)(
  'kill -9 of %s',
  (victim) => {
    test('under load loses no acknowledged write, and every living code is mailed', { timeout: 120_000 }, async () => {
      const others = Object.values(running.services.handles).filter(({ name }) => name !== victim)
      const processes = others.map(({ pid }) => pid)
      const load = startLoad(running.url, running.adminToken, 4)
      await acknowledged(load, before)
      await kill(victim)
      await acknowledged(load, load.acknowledged + after)
      await load.stop()
      const errors = Object.fromEntries(load.errors)
      console.log(
        `kill -9 of ${victim}: ${load.acknowledged} acknowledged, ${load.unanswered} unanswered, errors ${JSON.stringify(errors)}`,
      )

      expect(
        others.map(({ pid }) => pid),
        'nobody else had to be started again',
      ).toEqual(processes)
      for (const code of load.errors.keys()) expect(clearErrors).toContain(code)
      for (const human of load.humans) await expectKept(human)
      const copies = await Promise.all(load.humans.map(expectMailed))
      // One mail may have been under way to the mail server, unanswered, when its sender, or what it remembers by, was killed.
      const mostTwice =
        victim === 'notifier' || victim === 'redis' || victim === 'users' || victim === 'nats' || victim === 'postgres'
          ? 5
          : 0
      expect(copies.filter((count) => count > 1).length).toBeLessThanOrEqual(mostTwice)
    })
  },
)

// What a caller may be told while something is away.
const clearErrors = [
  '14 SERVICE_UNAVAILABLE',
  '14 BROKER_UNAVAILABLE',
  '14 STORE_UNAVAILABLE',
  '4 DEADLINE_EXCEEDED',
  '6 USER_NAME_TAKEN',
]

async function kill(victim: 'users' | 'grants' | 'gateway' | 'notifier' | 'nats' | 'redis' | 'postgres') {
  const { servers, services } = running
  if (victim === 'nats' || victim === 'redis' || victim === 'postgres') {
    const server = servers[victim]!
    await server.kill('SIGKILL')
    await server.restart()
  } else {
    // The supervisor brings it back.
    await services.handles[victim].kill('SIGKILL')
  }
}

async function acknowledged(load: Load, count: number) {
  const end = Date.now() + 60_000
  while (load.acknowledged < count) {
    if (Date.now() > end)
      throw new Error(`only ${load.acknowledged} of ${count} writes; ${JSON.stringify([...load.errors])}`)
    await sleep(20)
  }
}

async function expectKept({ userId, email, sequence, doubtful }: Remembered) {
  const response = await fetch(`${running.url}/v2/users/${userId}`, {
    headers: { authorization: `Bearer ${running.adminToken}` },
  })
  const { user } = (await response.json()) as any
  expect([email, ...doubtful]).toContain(user.human.email.email)
  expect(Number(user.details.sequence)).toBeGreaterThanOrEqual(sequence)
}

// Gives how many mails came. A code that a later write may have replaced need not be mailed.
async function expectMailed({ userId, email, mailed, doubtful }: Remembered): Promise<number> {
  if (!mailed || doubtful.length > 0) return 0
  const { mails } = running.servers.mailbox!
  await mails.waitFor(email, { withinMs: 40_000 })
  const codes = mails
    .list()
    .filter((mail) => mail.To.some((to) => to.Address === email))
    .map((mail) => /code=([A-Z0-9]{6})/.exec(mail.Text)?.[1])
  expect(new Set(codes).size).toBe(1)
  const response = await fetch(`${running.url}/v2/users/${userId}/email/verify`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ verificationCode: codes[0] }),
  })
  expect(response.status).toBe(200)
  return codes.length
}
