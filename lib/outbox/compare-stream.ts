import type { Log } from '../log.ts'
import type { Transaction } from '../database/database.ts'
import type { LastMessage, StreamState } from '../events/stream.ts'
import type { Published } from './outbox-rows.ts'

/** A stream, and the last event in it of the service. */
type Compared = Pick<StreamState, 'last' | 'created'> & { own: LastMessage | null }

/**
 * Compares the stream's last event of this service with the database, once for each server that this database runs
 * on: a backup, a copied volume or a standby that was behind lacks events that were published.
 *
 * Events that are lost stay in the stream until an operator decides. What is there is not mistaken for a new event.
 */
export async function compareStream(
  transaction: Transaction,
  log: Log,
  { service, published, own, last, created }: { service: string; published: Published } & Compared,
): Promise<void> {
  if (own === null || (await isThere(transaction, service, own.id))) {
    await transaction`update published set compared_on = pg_postmaster_start_time()`
    return
  }
  // In a stream that was made anew since the backup, the places of before mean nothing.
  const isSame = created === published.stream_created
  const from = isSame ? Number(published.stream_sequence ?? published.stream_floor) : 0
  log.error(
    { event: own.id, from, to: last },
    'the stream has events that the database lacks: see "After every restore" in docs/backup.md',
  )
  await transaction`
    update published set compared_on = pg_postmaster_start_time(), stream_sequence = ${last}, stream_mark = null,
      taken = '{}', in_doubt = false, generation = generation + 1,
      ahead = jsonb_build_object(
        'from', least((ahead ->> 'from')::bigint, ${from}), 'to', ${last}::bigint,
        'lastPosition', least((ahead ->> 'lastPosition')::bigint, (
          select coalesce(max(position), 0) from events where position < coalesce(
            (select first_position from histories where server_started = pg_postmaster_start_time()), 9223372036854775807
          )
        )),
        'isAnnounced', false, 'since', roster_now()
      )
  `
}

async function isThere(transaction: Transaction, service: string, id: string): Promise<boolean> {
  const [, position] = new RegExp(`^${service}-(\\d{1,16})$`).exec(id) ?? []
  // Whatever else lies there, no event of this service is lost.
  if (position === undefined) return true
  const [found] = await transaction`select from events where position = ${position}`
  return found !== undefined
}
