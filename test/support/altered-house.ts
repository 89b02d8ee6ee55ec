import { connect, type JetStreamManager, type NatsConnection } from 'nats'
import postgres from 'postgres'
import { expect, vi } from 'vitest'
import { storingServices } from '../../deploy/provision.ts'
import { callGrpc } from '../e2e/clients/grpc.ts'
import { addEveryObject, type EveryObject } from '../examples/every-object.ts'
import { ok } from '../examples/people.ts'
import { type House, startHouse } from '../house.ts'
import { startTestServers } from '../infra.ts'
import { operatorSettings, type Ran, runOperator } from './operator.ts'

/** A Roster with objects of each kind, whose rows and messages a test may alter by hand. */
export interface AlteredHouse {
  house: House
  /** PostgreSQL, as its administrator. */
  admin: postgres.Sql
  nats: NatsConnection
  manager: JetStreamManager
  all: EveryObject
  /** Runs the operator's command. */
  roster(...args: string[]): Promise<Ran>
  /** A row of a service's table. */
  first(service: string, table: string, where?: string): Promise<postgres.Row>
  /** Expects that `verify` ends with 1 and names this row and these lines, and nothing else. */
  expectNamed(row: string, problem: string, ...more: string[]): Promise<void>
  /** Changes rows by hand, and back again after `work`. */
  altered(service: string, table: string, change: string, where: string, work: () => Promise<void>): Promise<void>
  /** Adds a row by hand, a copy with these columns, and removes it after `work`. */
  added(service: string, table: string, row: object, work: () => Promise<void>): Promise<void>
  stop(): Promise<void>
}

/** Starts it with two replicas of each service. An organization of it was removed. */
export async function startAlteredHouse(): Promise<AlteredHouse> {
  const started = await startTestServers()
  const { servers } = started
  const house = await startHouse(servers.serviceDatabaseUrls, { WRITES_PER_CALLER: '100000' }, { servers, replicas: 2 })
  const admin = postgres(servers.databaseUrl, { max: 2, onnotice: () => {} })
  const { host, username, password } = new URL(servers.natsUrl.admin)
  const nats = await connect({ servers: host, user: username, pass: password })
  const caller = { url: house.url, token: house.adminToken }
  const all = await addEveryObject(callGrpc, caller, 'https://hooks.example.com/')
  const removed = await addEveryObject(callGrpc, caller, 'https://hooks.example.com/')
  ok(await callGrpc('RemoveOrganization', { orgId: removed.values['orgId']! }, caller))
  const roster = (...args: string[]) => runOperator(args, operatorSettings(servers))
  await everythingIsPublished(admin)
  const insert = (from: string, rows: object[]) =>
    admin.unsafe(
      `insert into ${from} overriding system value select * from jsonb_populate_recordset(null::${from}, $1::text::jsonb)`,
      [JSON.stringify(rows)],
    )
  return {
    house,
    admin,
    nats,
    manager: await nats.jetstreamManager(),
    all,
    roster,
    async first(service, table, where = 'true') {
      const [row] = await admin.unsafe(`select * from roster_${service}.${table} where ${where} limit 1`)
      return row ?? expect.fail(`${table} has no row where ${where}`)
    },
    async expectNamed(row, problem, ...more) {
      const lines = [`${row}: ${problem}`, ...more].toSorted()
      const { status, out } = await roster('verify')
      const found = out.trimEnd().split('\n')
      expect({ status, lines: found.slice(0, -1).toSorted() }).toEqual({ status: 1, lines })
      expect(found.at(-1)).toBe(`${lines.length} rows differ.`)
    },
    async altered(service, table, change, where, work) {
      const from = `roster_${service}.${table}`
      const before = await admin.unsafe(`select to_jsonb(t) as row from ${from} t where ${where}`)
      await admin.unsafe(
        `${change.startsWith('delete') ? `delete from ${from}` : `update ${from} ${change}`} where ${where}`,
      )
      try {
        await work()
      } finally {
        await admin.unsafe(`delete from ${from} where ${where}`)
        await insert(
          from,
          before.map(({ row }) => row as object),
        )
      }
    },
    async added(service, table, row, work) {
      const from = `roster_${service}.${table}`
      const [copied] = await admin.unsafe(`select to_jsonb(t) as row from ${from} t limit 1`)
      await insert(from, [{ ...(copied!['row'] as object), ...row }])
      try {
        await work()
      } finally {
        const where = Object.keys(row).map((name) => `t.${name} = r.${name}`)
        await admin.unsafe(
          `delete from ${from} t using jsonb_populate_record(null::${from}, $1::text::jsonb) r where ${where.join(' and ')}`,
          [JSON.stringify(row)],
        )
      }
    },
    async stop() {
      await house.stop()
      await admin.end()
      await nats.close()
      await started.stop()
    },
  }
}

// What a test alters before it was published would come into the stream as it is then.
async function everythingIsPublished(admin: postgres.Sql): Promise<void> {
  for (const schema of storingServices.map((service) => admin(`roster_${service}`)))
    await vi.waitFor(
      async () => {
        const waiting = await admin`
          select from ${schema}.events e, ${schema}.published p
          where (e.transaction_id, e.position) > (p.transaction_id, p.position) limit 1
        `
        expect(waiting).toHaveLength(0)
      },
      { timeout: 30_000 },
    )
}
