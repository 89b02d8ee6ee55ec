import { hash } from 'node:crypto'
import type postgres from 'postgres'
import type { AuditedRow } from '#lib/audit-log/canonical-row'
import { type AuditKey, type Checkpoint, readCheckpoint, signCheckpoint } from '#lib/audit-log/checkpoint'
import { type ChainEnd, type ChainPlace, makePage, type PageHeader } from '#lib/audit-log/page'
import { eventColumns } from '#lib/eventstore/event-page'

/** Makes pages and checkpoints anew, as the owner of the database can. */
export interface Anew {
  /**
   * Makes the pages after one of them anew from the events as they are, each with the events that it had. `headers`:
   * what each says besides.
   */
  chain(how?: { headers?: Partial<ChainEnd>; after?: number }): Promise<void>
  /** Signs the checkpoints anew, each with one of the keys, for the pages as they are. */
  sign(keys: { key: AuditKey; secret: string }[], change?: (checkpoint: Checkpoint) => Checkpoint): Promise<void>
}

export function makeAnew(admin: postgres.Sql): Anew {
  return {
    async chain({ headers = {}, after = 0 } = {}) {
      const ends = await admin<ChainPlace[]>`
        select transaction_id::text as "transactionId", position::text from audit_pages where number > ${after} order by number
      `
      const [last] = await admin<{ header: string }[]>`select header from audit_pages where number = ${after}`
      const beginning = { events: 0, last: { transactionId: '0', position: '0' } }
      const parsed = last ? (JSON.parse(last.header) as PageHeader) : beginning
      await admin`delete from audit_pages where number > ${after}`
      let end: ChainEnd = {
        epoch: 1,
        page: after,
        events: parsed.events,
        hash: last ? hash('sha256', last.header) : '',
        ...parsed.last,
      }
      for (const place of ends) {
        const rows = await admin<AuditedRow[]>`
          select ${eventColumns(admin)} from events
          where (transaction_id, position) > (${end.transactionId}::xid8, ${end.position})
            and (transaction_id, position) <= (${place.transactionId}::xid8, ${place.position})
          order by events.transaction_id, events.position
        `
        const page = makePage('users', { ...end, ...headers }, rows, 'salt')
        const { events, last: at } = page.header
        await admin`
          insert into audit_pages values (${page.header.page}, ${page.headerText}, 'salt', ${page.entries}::bytea,
            ${at.transactionId}::xid8, ${at.position})
        `
        end = { ...end, page: page.header.page, events, hash: page.hash, ...at }
      }
      await admin`update audit_chain set page = ${end.page}, events = ${end.events}, hash = ${end.hash}`
    },
    async sign(keys, change = (same) => same) {
      await admin`delete from audit_keys`
      for (const { key } of keys)
        await admin`insert into audit_keys (kid, public_key) values (${key.kid}, ${admin.json({ ...key })})`
      const rows = await admin<{ number: number; jws: string; header: string }[]>`
        select c.number::int, c.jws, p.header
        from audit_checkpoints c join audit_pages p on p.number = c.page order by c.number
      `
      let previous = ''
      for (const [index, { number, jws, header }] of rows.entries()) {
        const { key, secret } = keys[Math.min(index, keys.length - 1)]!
        const next = change({ ...readCheckpoint(jws).checkpoint, hash: hash('sha256', header), previous })
        const signed = readCheckpoint(signCheckpoint(next, key.kid, secret))
        await admin`update audit_checkpoints set jws = ${signed.jws} where number = ${number}`
        previous = signed.hash
      }
    },
  }
}
