import { connect, type JetStreamManager, type NatsConnection } from 'nats'
import type postgres from 'postgres'
import { expect, vi } from 'vitest'
import { storingServices } from '../../deploy/provision.ts'
import { callGrpc } from '../e2e/clients/grpc.ts'
import { addEveryObject, type EveryObject } from '../examples/every-object.ts'
import { ok } from '../examples/people.ts'
import { type OperatedHouse, startOperatedHouse } from './operated-house.ts'

/** A Roster with objects of each kind, whose rows and messages a test may alter by hand. */
export interface AlteredHouse extends OperatedHouse {
  nats: NatsConnection
  manager: JetStreamManager
  all: EveryObject
  /** A row of a service's table. */
  first(service: string, table: string, where?: string): Promise<postgres.Row>
  /** Changes rows by hand, and back again after `work`. */
  altered(service: string, table: string, change: string, where: string, work: () => Promise<void>): Promise<void>
  /** Adds a row by hand, a copy with these columns, and removes it after `work`. */
  added(service: string, table: string, row: object, work: () => Promise<void>): Promise<void>
}

/** Starts it with two replicas of each service. An organization of it was removed. */
export async function startAlteredHouse(): Promise<AlteredHouse> {
  const there = await startOperatedHouse({ WRITES_PER_CALLER: '100000' }, { replicas: 2 })
  const { servers, house, admin } = there
  const { host, username, password } = new URL(servers.natsUrl.admin)
  const nats = await connect({ servers: host, user: username, pass: password })
  const caller = { url: house.url, token: house.adminToken }
  const all = await addEveryObject(callGrpc, caller, 'https://hooks.example.com/')
  const removed = await addEveryObject(callGrpc, caller, 'https://hooks.example.com/')
  ok(await callGrpc('RemoveOrganization', { orgId: removed.values['orgId']! }, caller))
  await everythingIsPublished(admin)
  const insert = (from: string, rows: object[]) =>
    admin.unsafe(
      `insert into ${from} overriding system value select * from jsonb_populate_recordset(null::${from}, $1::text::jsonb)`,
      [JSON.stringify(rows)],
    )
  return {
    ...there,
    nats,
    manager: await nats.jetstreamManager(),
    all,
    async first(service, table, where = 'true') {
      const [row] = await admin.unsafe(`select * from roster_${service}.${table} where ${where} limit 1`)
      return row ?? expect.fail(`${table} has no row where ${where}`)
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
      await nats.close()
      await there.stop()
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
