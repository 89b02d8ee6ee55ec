import type { Sql } from '#lib/eventstore/database'
import { Positions } from './positions.ts'

/** How far a service's events are published, and which ones are parked. */
export interface Published {
  transactionId: string
  position: string
  streamCreated: string
  generation: number
  parked: Positions
}

/** How far the events are published now. */
export async function readPublished(sql: Sql): Promise<Published> {
  const [[row], parked] = await Promise.all([
    sql<[Omit<Published, 'parked'>]>`
      select transaction_id::text as "transactionId", position::text, stream_created as "streamCreated", generation
      from published
    `,
    sql<{ position: string }[]>`select position::text from parked_events`,
  ])
  const positions = new Positions()
  for (const { position } of parked) positions.add(Number(position))
  return { ...row, parked: positions }
}
