import type { Sql } from '#lib/database/database'
import type { Log } from '#lib/log'
import { bounces } from '../measures.ts'

/** A mail that will not arrive. */
export interface Bounce {
  mailId: string
  status: string
  reason: string
}

type Source = 'mailbox' | 'webhook'

/** Stores bounces, counts them, and logs those that are new. Rejects where the database does not take them. */
export async function storeBounces(sql: Sql, log: Log, source: Source, found: Bounce[]): Promise<void> {
  if (found.length === 0) return
  const once = new Map(found.map((bounce) => [bounce.mailId, bounce]))
  const rows = [...once.values()].map(({ mailId, status, reason }) => ({ code_id: mailId, status, reason }))
  const stored = await sql<{ codeId: string; outcome: 'bounced' | 'again' | 'unknown' }[]>`
    select code_id as "codeId", outcome from report_bounces(${JSON.stringify(rows)}::text::jsonb)
  `
  for (const { codeId, outcome } of stored) {
    bounces.add(1, source, outcome)
    if (outcome === 'bounced') log.info({ codeId, source, status: once.get(codeId)?.status }, 'a mail bounced')
  }
}
