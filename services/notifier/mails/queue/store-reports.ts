import type { Sql } from '#lib/database/database'
import type { Log } from '#lib/log'
import type { Service } from '#lib/process'
import { repeat } from '#lib/repeat'
import { throttled } from '#lib/throttled'
import type { MailReport, MailReports } from './mail-reports.ts'

export interface StoreReportsOptions {
  sql: Sql
  reports: MailReports
  log: Log
}

const portion = 500
/** Milliseconds between two looks, so that the reports of that time share a statement. */
const every = 200
const retryAfter = 1000

/** Stores what became of mails, as long as the database answers. */
export function startStoringReports({ sql, reports, log }: StoreReportsOptions): Service {
  const failed = throttled(log, 'what became of mails is not stored')
  const report = (rows: MailReport[]) => sql`select report_mails(${JSON.stringify(rows)}::text::jsonb)`

  async function store(): Promise<'more' | undefined> {
    const rows = reports.take(portion)
    if (rows.length === 0) return undefined
    try {
      await report(rows)
    } catch (error) {
      if (!isRefused(error)) {
        reports.putBack(rows)
        throw error
      }
      // Redis holds the ids, and may hold anything.
      for (const row of rows) await report([row]).catch((reason: Error) => failed(reason))
    }
    return rows.length === portion ? 'more' : undefined
  }

  const storing = repeat({ work: store, every, retryAfter, failed })
  return {
    async stop() {
      await storing.stop()
      await store().catch(failed)
    },
  }
}

// A value or a row that PostgreSQL does not take.
function isRefused(error: unknown): boolean {
  return /^2[23]/.test((error as { code?: string }).code ?? '')
}
