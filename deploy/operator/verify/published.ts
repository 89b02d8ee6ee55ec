import type { Sql } from '#lib/eventstore/database'

/** How far a service's events are published, and how often they were published anew. */
export interface Published {
  transactionId: string
  position: string
  streamCreated: string
  generation: number
}

/** How far the events are published now. */
export async function readPublished(sql: Sql): Promise<Published> {
  const [row] = await sql<Published[]>`
    select transaction_id::text as "transactionId", position::text, left(stream_created, 100) as "streamCreated", generation
    from published limit 1
  `
  if (!row) throw new Error('it is not told how far events are published')
  return row
}
