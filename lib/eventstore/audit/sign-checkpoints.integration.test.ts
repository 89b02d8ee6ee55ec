import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { type Chains, openChains } from '#test/support/chains'
import { add, count, keys, type Replica } from '#test/support/counters'
import { readStream } from '#test/support/publishing'
import { createLog } from '../../log.ts'
import type { Sql } from '../database.ts'
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
  await vi.waitFor(
    async () => {
      const told = (await readStream(chains.publishing.admin)).filter(({ aggregateType }) => aggregateType === 'audit')
      expect(new Set(told.map(({ id }) => id))).toEqual(new Set(rows.map(({ number }) => `users-checkpoint-${number}`)))
      expect(told[0]).toMatchObject({
        type: 'roster.audit.checkpoint.signed.v1',
        organizationId: 'roster',
        data: { service: 'users', number: rows[0]!.number, jws: rows[0]!.jws },
      })
    },
    { timeout: 20_000 },
  )
})

test.each(['2999-01-01', 'infinity'])('a checkpoint of %s does not end the signing', async (time) => {
  await sql`update audit_checkpoints set signed_at = ${time}::text::timestamptz where number = (select max(number) from audit_checkpoints)`
  start(0, { checkpointEvery: 3_600_000 })
  await a!.store.execute(count('old'))
  await everythingIsChained()
  await everythingIsSigned()
})

test('a checkpoint of no time does not hold up those behind it on their way to the stream', async () => {
  const [row] = await sql`
    update audit_checkpoints set published = false, signed_at = 'infinity'
    where number = (select max(number) from audit_checkpoints) returning number::int
  `
  start()
  await a!.store.execute(count('old'))
  await everythingIsChained()
  await everythingIsSigned()
  await vi.waitFor(
    async () => {
      const told = (await readStream(chains.publishing.admin)).filter(({ aggregateType }) => aggregateType === 'audit')
      expect(told.map(({ sequence }) => sequence)).toContain(row!['number'] + 1)
    },
    { timeout: 20_000 },
  )
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

test('a checkpoint that PostgreSQL does not store is told as an error, and the chain goes on', async () => {
  const errors: string[] = []
  const stream = { write: (line: string) => void errors.push((JSON.parse(line) as { msg: string }).msg) }
  await sql.unsafe(`
    create function nothing() returns trigger language plpgsql as $$ begin return null; end $$;
    create trigger quiet before insert on audit_checkpoints for each row execute function nothing();
  `)
  try {
    await a!.store.execute(add('unsigned', 'unsigned'))
    const options = { service: 'users', nats: chains.nats, keys, checkpointEvery: 0, sql }
    chains.run(startChain({ ...options, log: createLog('test', 'error', stream) }))
    await vi.waitFor(() => expect(errors).toContainEqual(expect.stringMatching(/^a checkpoint that was signed is not stored/)), { timeout: 20_000 }) // prettier-ignore
    await everythingIsChained()
  } finally {
    await sql.unsafe('drop trigger quiet on audit_checkpoints; drop function nothing')
  }
  await everythingIsSigned()
})
