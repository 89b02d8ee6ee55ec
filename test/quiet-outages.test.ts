import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'nats'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { callJson } from './e2e/clients/json.ts'
import { type Running, startRunning } from './faults/running.ts'

let running: Running
beforeAll(async () => void (running = await startRunning()), 240_000)
afterAll(() => running?.stop())

const names = ['users', 'grants', 'idp', 'notifier', 'gateway'] as const
type Name = (typeof names)[number]
type Line = Record<string, unknown> & { level: number; msg: string }

const textOf = (name: Name) => readFileSync(running.services.handles[name].logFile, 'utf8')
const linesOf = (name: Name, from: number): Line[] =>
  textOf(name)
    .slice(from)
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))

const isFlawless = () =>
  vi.waitFor(async () => expect(await (await fetch(`${running.url}/readyz`)).text()).toContain('"status":"ok"'), {
    timeout: 90_000,
    interval: 50,
  })

const addHuman = (at: number) =>
  callJson(
    'AddHumanUser',
    {
      userName: `quiet-${Date.now()}-${at}`,
      profile: { firstName: 'Ada', lastName: 'Lovelace' },
      email: { email: `quiet-${Date.now()}-${at}@example.com` },
    },
    { url: running.url, token: running.adminToken },
  )

test.each<[string, () => Promise<void>, () => void]>([
  ['Redis', async () => running.cables['notifier↔redis'].cut(), () => running.cables['notifier↔redis'].mend()],
  // The keeper of the stream is behind the gateway's connection, so no process makes the stream anew.
  [
    'the stream and its consumer',
    async () => {
      running.cables['gateway↔nats'].cut()
      const { host, username, password } = new URL(running.servers.natsUrl.admin)
      const admin = await connect({ servers: host, user: username, pass: password, inboxPrefix: '_INBOX_admin' })
      await (await admin.jetstreamManager()).streams.delete('roster-events')
      await admin.close()
    },
    () => running.cables['gateway↔nats'].mend(),
  ],
])(
  'ten seconds without %s leave few lines in each log, however much waits, and no line that comes each second',
  async (what, begin, end) => {
    await isFlawless()
    const from = Object.fromEntries(names.map((name) => [name, textOf(name).length])) as Record<Name, number>
    await begin()
    if (what === 'Redis') await Promise.all(Array.from({ length: 20 }, (_, at) => addHuman(at)))
    // The time itself is what the log must not count.
    await sleep(10_000)
    const during = names.map((name) => [name, linesOf(name, from[name])] as const)
    end()
    await isFlawless()
    for (const [name, lines] of during) {
      const worrying = lines.filter(({ level }) => level >= 40).map(({ msg }) => msg)
      expect(worrying.length, `${name}: ${worrying.join(', ')}`).toBeLessThanOrEqual(8)
      // Each call and each job has lines of its own.
      const messages = lines.filter((line) => !('requestId' in line) && !('codeId' in line)).map(({ msg }) => msg)
      const most = Object.entries(Object.groupBy(messages, (msg) => msg)).filter(([, same]) => same!.length > 3)
      expect(most.map(([msg, same]) => [name, msg, same!.length])).toEqual([])
    }
    const notifier = during.find(([name]) => name === 'notifier')![1].map(({ msg }) => msg)
    expect(notifier).toContain(what === 'Redis' ? 'an event is tried again' : 'there is no such consumer yet')
  },
  240_000,
)
