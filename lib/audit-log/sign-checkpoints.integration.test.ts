import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { type Chains, openChains } from '#test/support/chains'
import { add, count, keys, type Replica, silent } from '#test/support/counters'
import { readStream } from '#test/support/publishing'
import { streamName } from '../events/stream.ts'

import type { Nats } from '../nats/connect-nats.ts'
import type { Sql } from '../database/database.ts'
import { checkpointsAfter, readAuditKeys } from './chain-rows.ts'
import { isSigned, readCheckpoint } from './checkpoint.ts'
import { startChain } from './start-chain.ts'

let chains: Chains
let a: Replica | undefined
let sql: Sql

beforeAll(async () => {
  chains = await openChains()
  ;({ a, sql } = chains)
  await a.store.execute(add('old', 'old'))
})
afterEach(() => chains?.stop())
afterAll(() => chains?.end())

const start: Chains['start'] = (...options) => chains.start(...options)
const soon = { timeout: 20_000 }
const everythingIsChained = () => chains.everythingIsChained()
const everythingIsSigned = () => chains.everythingIsSigned()

test('checkpoints follow each other, are signed, and reach the stream', async () => {
  start()
  await a!.store.execute(count('old'))
  await everythingIsChained()
  await everythingIsSigned()
  const rows = await checkpointsAfter(sql, 0, 1000)
  const known = await readAuditKeys(sql)
  let previous = ''
  for (const [index, { number, jws }] of rows.entries()) {
    const signed = readCheckpoint(jws)
    expect(signed.checkpoint).toMatchObject({ service: 'users', number, previous })
    expect(number).toBe(index + 1)
    expect(isSigned(signed, known)).toBe(true)
    previous = signed.hash
  }
  await everyCheckpointIsPublished()
  expect((await publishedCheckpoints())[0]).toMatchObject({
    type: 'roster.audit.checkpoint.signed.v1',
    organizationId: 'roster',
    data: { service: 'users', number: rows[0]!.number, jws: rows[0]!.jws },
  })
})

const publishedCheckpoints = async () =>
  (await readStream(chains.publishing.admin)).filter(({ aggregateType }) => aggregateType === 'audit')

async function everyCheckpointIsPublished() {
  const rows = await checkpointsAfter(sql, 0, 1000)
  const ids = new Set(rows.map(({ number }) => `users-checkpoint-${number}`))
  await vi.waitFor(async () => expect(new Set((await publishedCheckpoints()).map(({ id }) => id))).toEqual(ids), soon)
}

test('checkpoints that the stream lost are published anew', async () => {
  start()
  await a!.store.execute(count('old'))
  await everythingIsChained()
  await everythingIsSigned()
  await everyCheckpointIsPublished()
  await (await chains.publishing.admin.connection.jetstreamManager()).streams.purge(streamName)
  await everyCheckpointIsPublished()
})

test('a checkpoint that was on its way when the stream lost it is published anew', async () => {
  const number = async () => (await checkpointsAfter(sql, 0, 1000)).length
  const before = await number()
  let isLost = false
  const ask: Nats['ask'] = (subject, ...rest) => {
    const { answer, ...others } = chains.nats.ask(subject, ...rest)
    const lose = async () => {
      if (isLost) return answer
      isLost = true
      const stored = await answer
      // As the outbox does, between the answer of the stream and its note.
      await sql`update published set generation = generation + 1`
      return stored
    }
    return { answer: lose(), ...others }
  }
  await a!.store.execute(count('old'))
  chains.run(
    startChain({ service: 'users', nats: { ...chains.nats, ask }, keys, checkpointEvery: 0, sql, log: silent }),
  )
  await everythingIsChained()
  await everythingIsSigned()
  const id = `users-checkpoint-${before + 1}`
  await vi.waitFor(
    async () => expect((await publishedCheckpoints()).filter((one) => one.id === id)).toHaveLength(2),
    soon,
  )
})

test('a checkpoint of a time to come does not end the signing', async () => {
  await sql`update audit_checkpoints set signed_at = '2999-01-01' where number = (select max(number) from audit_checkpoints)`
  start(0, { checkpointEvery: 3_600_000 })
  await a!.store.execute(count('old'))
  await everythingIsChained()
  await everythingIsSigned()
})

test('a key that has served its time names the next one, and signs no more', async () => {
  const [former] = await sql`update audit_keys set created_at = now() - interval '91 days' returning kid`
  start()
  await a!.store.execute(count('old'))
  await everythingIsChained()
  await everythingIsSigned()
  await a!.store.execute(count('old'))
  await everythingIsChained()
  await everythingIsSigned()
  const [last, next] = (await checkpointsAfter(sql, 0, 1000)).slice(-2).map(({ jws }) => readCheckpoint(jws))
  expect(last!.kid).toBe(former!['kid'])
  expect(last!.checkpoint.nextKey).toBe(next!.kid)
  const left = await sql`select kid from audit_keys where private_key is not null`
  expect(left.map(({ kid }) => kid)).toEqual([next!.kid])
})
