import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { shiftClock } from '../support/shift-clock.ts'
import { begin } from './inflict.ts'
import { settlePerson, type SignIns } from './people.ts'
import { type Running, startRunning } from './running.ts'

// Before a release: ROSTER_REFRESH_USES=10000 npm run test:all -- test/faults/refresh-tabs.test.ts
const uses = Number(process.env['ROSTER_REFRESH_USES'] ?? 150)
const tabs = 5
/** Uses between two kills. */
const apart = Math.max(100, uses / 20)
// A family may be used sixty times in half a minute.
const [ofFamily, mostFamilies] = [30, 40]

let running: Running
let sql: Sql
let signIns: SignIns

beforeAll(async () => {
  running = await startRunning({ CALLS_PER_ADDRESS: '0' })
  sql = postgres(running.servers.databaseUrl, { max: 1, onnotice: () => {} })
  signIns = await settlePerson(running)
}, 120_000)
afterAll(async () => {
  await sql?.end()
  await running?.stop()
})

test(
  `of ${uses} refresh tokens, each raced by five tabs, none signs anybody out, while services are killed`,
  { timeout: uses * 200 + 180_000 },
  async () => {
    const wrong: unknown[] = []
    let done = 0
    let kills: Promise<unknown> = Promise.resolve()
    async function race(refreshToken: string): Promise<string> {
      if (done++ % apart === apart / 2) kills = kills.then(kill)
      const answers = await Promise.all(Array.from({ length: tabs }, () => signIns.refresh(refreshToken)))
      const [successor, ...others] = new Set(answers.map(({ tokens }) => tokens.refresh_token))
      if (others.length > 0 || answers.some(({ status }) => status !== 200)) wrong.push(answers)
      return successor!
    }
    let killed = 0
    async function kill() {
      const victim = killed++ % 2 === 0 ? 'users' : 'gateway'
      await (
        await begin(running, { kind: 'kill', victim, forMs: 0 })
      )()
    }
    const { tokens: families } = await signIns.signIn(Math.min(mostFamilies, Math.ceil(uses / ofFamily)))
    await Promise.all(
      families.map(async ({ refresh_token: first }) => {
        for (let token = first; done < uses && wrong.length === 0;) token = await race(token)
      }),
    )
    await kills
    console.log(`${done} refresh tokens, each raced by ${tabs} tabs, ${killed} kills: ${wrong.length} wrong`)
    expect(wrong).toEqual([])
  },
)

test('a stolen token that comes after its successor was used ends it for thief and owner', async () => {
  const [stolen] = (await signIns.signIn(1)).tokens
  const { tokens: second } = await signIns.refresh(stolen!.refresh_token)
  const { tokens: third } = await signIns.refresh(second.refresh_token)
  await shiftClock(sql, '31 seconds', 'roster_users')
  const { status, tokens } = await signIns.refresh(stolen!.refresh_token)
  expect([status, tokens.error]).toEqual([400, 'invalid_grant'])
  expect(tokens.error_description).toContain('used before')
  expect((await signIns.refresh(third.refresh_token)).tokens.error).toBe('invalid_grant')
})
