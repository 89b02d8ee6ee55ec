import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { ok, profile, unique, uniqueEmail } from '../../examples/people.ts'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.ts'
import { call } from '../clients/encodings.ts'
import { startOwnHouse } from '../own-house.ts'

// A Roster of its own: a transaction that stays open holds up the events of all.
let house: Awaited<ReturnType<typeof startOwnHouse>>
let hook: TestReceiver
let sql: postgres.Sql

beforeAll(async () => {
  hook = await startTestReceiver()
  house = await startOwnHouse({}, { WEBHOOK_ALLOW_PRIVATE: '127.0.0.1' })
  sql = postgres(house.servers.databaseUrl, { max: 1, onnotice: () => {} })
})
afterAll(async () => {
  await sql?.end()
  await house?.stop()
  await hook?.stop()
})

test('a webhook loses nothing of events committed after its creation, even if they were decided long before', async () => {
  const { organizationId } = ok(await call('AddOrganization', { name: unique('Organization') }, house.machine))
  const as = { ...house.machine, organization: organizationId }
  const human = { userName: unique('human'), profile, email: { email: uniqueEmail(), isVerified: true } }
  const { userId } = ok(await call('AddHumanUser', human, as))
  const changing = await sql.begin(async (held) => {
    await held`select from roster_users.aggregates where type = 'user' and id = ${userId} for update`
    const options = { ...as, headers: { 'x-request-timeout': '25' } }
    const answer = call('SetEmail', { userId, email: uniqueEmail(), isVerified: true }, options)
    // Only real time shows that so much time has passed.
    await sleep(11_000)
    ok(await call('AddWebhook', { url: hook.url, eventTypes: ['user.email.changed'] }, as))
    return { answer }
  })
  ok(await changing.answer)
  await vi.waitFor(() => expect(hook.received).toHaveLength(1))
})
