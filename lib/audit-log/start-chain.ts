import { randomBytes } from 'node:crypto'
import type { RecentEvents } from '../events/recent-events.ts'
import type { Keyring } from '../encryption/keys.ts'
import type { Log } from '../log.ts'
import type { Nats } from '../nats/connect-nats.ts'
import type { Service } from '../process.ts'
import { pause, repeat } from '../repeat.ts'
import { throttled } from '../throttled.ts'
import type { Sql } from '../database/database.ts'
import { checkpointInterval } from './measures.ts'
import { reEncrypt } from '../encryption/re-encrypt.ts'
import { encryptedAuditKeys, takeSigner } from './audit-keys.ts'
import { addPage, type ChainRow, type CheckpointRow, lastCheckpoint, nextRows, readChain } from './chain-rows.ts'
import { type Checkpoint, readCheckpoint, signCheckpoint } from './checkpoint.ts'
import { makePage } from './page.ts'
import { publishCheckpoint } from './publish-checkpoint.ts'

export interface ChainOptions {
  service: string
  sql: Sql
  nats: Nats
  log: Log
  keys: Keyring
  /** Events that need not be read from PostgreSQL. */
  recent?: RecentEvents
  /** Milliseconds between two checkpoints, at the least. */
  checkpointEvery: number
}

/** Milliseconds between two looks. All events of that time share a page. */
const lookEvery = 1000
const retryAfter = 1000
/** Milliseconds between two pages where many wait, so that an upgrade does not slow the service down. */
const breath = 50
const lock = 7_265_010
/** Milliseconds that the clocks of two replicas may differ. */
const skew = 60_000

/**
 * Adds committed events to the service's audit chain, which is a hash chain, in the order of their commits, and signs
 * checkpoints of it (docs/decisions/22-audit.md). Begins with the first event that was ever stored. Writes do not wait
 * for it, and it waits neither for the outbox nor for the stream. Any number of replicas may work at the same time.
 */
export function startChain(options: ChainOptions): Service {
  const { service, sql, nats, log, keys, recent, checkpointEvery } = options
  const unwatch = checkpointInterval.watch(() => checkpointEvery / 1000)
  let isReEncrypted = false
  /** The epoch in which this replica has seen the end of the events. */
  let caughtUpIn: number | undefined

  const ticks = repeat({
    async work(stopped) {
      const chain = await readChain(sql)
      const more = chain.hasMore && !chain.held && (await append(chain))
      if (isDue(chain)) await signNext()
      if (chain.unpublished && nats.connected()) await publishWaiting()
      if (!more) return undefined
      await pause(breath, stopped)
      return 'more'
    },
    every: lookEvery,
    retryAfter,
    failed: throttled(log, 'the audit chain waits and tries again'),
  })
  return {
    stop() {
      unwatch()
      return ticks.stop()
    },
  }

  // Returns whether there may be more.
  async function append(chain: ChainRow): Promise<boolean> {
    // What the outbox read before an epoch began may have been changed since.
    const { rows, endReached } = await nextRows(sql, chain, caughtUpIn === chain.epoch ? recent : undefined)
    if (endReached) caughtUpIn = chain.epoch
    if (rows.length === 0) return false
    const salt = randomBytes(32).toString('hex')
    return (await addPage(sql, chain, makePage(service, chain, rows, salt), salt)) && !endReached
  }

  function isDue({ page, signedPage, signedAt, held, now }: ChainRow): boolean {
    if (held || page === 0 || page === signedPage) return false
    const ago = signedAt ? now.getTime() - signedAt.getTime() : Infinity
    // A time to come, or one that is none, must not end the signing.
    return !(ago < checkpointEvery && ago > -skew)
  }

  async function signNext(): Promise<void> {
    // What was encrypted with a former key of the service.
    if (!isReEncrypted) await reEncrypt(sql, keys, log, encryptedAuditKeys)
    isReEncrypted = true
    await sql.begin(async (transaction) => {
      const [{ leads }] = await transaction<[{ leads: boolean }]>`
        select pg_try_advisory_xact_lock(hashtextextended(current_schema(), ${lock})) as leads
      `
      if (!leads) return
      const last = await lastCheckpoint(transaction)
      const [chain] = await transaction<[ChainRow]>`
        select epoch, reason, page::float8, transaction_id::text as "transactionId", position::text, events::float8, hash,
          roster_now() as now
        from audit_chain where not held
      `
      const before = last && readCheckpoint(last.jws)
      if (!chain || before?.checkpoint.page === chain.page) return
      const { kid, secret, nextKid } = await takeSigner(transaction, keys, log)
      const { transactionId, position } = chain
      const checkpoint: Checkpoint = {
        service,
        number: (before?.checkpoint.number ?? 0) + 1,
        previous: before?.hash ?? '',
        at: chain.now.toISOString(),
        epoch: chain.epoch,
        reason: chain.reason,
        page: chain.page,
        hash: chain.hash,
        last: { transactionId, position },
        events: chain.events,
        ...(nextKid !== undefined && { nextKey: nextKid }),
      }
      const jws = signCheckpoint(checkpoint, kid, secret)
      await transaction`
        insert into audit_checkpoints (number, jws, epoch, page, transaction_id, position, signed_at)
        values (${checkpoint.number}, ${jws}, ${chain.epoch}, ${chain.page}, ${transactionId}::xid8, ${position}, ${checkpoint.at})
      `
    })
  }

  // At least once, in order. Consumers know a second one by its id.
  async function publishWaiting(): Promise<void> {
    const waiting = await sql<(CheckpointRow & { key: string; generation: number; signedAt: Date })[]>`
      select number::float8, jws, signed_at as "signedAt", message_key as key, generation
      from audit_checkpoints, published where not audit_checkpoints.published order by audit_checkpoints.number limit 50
    `
    for (const { key, generation, signedAt, ...checkpoint } of waiting) {
      await publishCheckpoint(nats, { service, key, generation }, { ...checkpoint, signedAt })
      // Where the stream was lost meanwhile, it is published anew. `for share` waits for the outbox, which notes that.
      await sql`
        with same as materialized (select from published where generation = ${generation} for share)
        update audit_checkpoints set published = true where number = ${checkpoint.number} and exists (select from same)
      `
    }
  }
}
