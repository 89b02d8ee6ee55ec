import { BriefMap } from '#lib/brief-map'
import type { Sql } from '#lib/database/database'
import type { Log } from '#lib/log'
import type { Service } from '#lib/process'
import type { SecretUses } from '../../context.ts'

/** Milliseconds. */
const every = 5000
const most = 10_000

/** Opens the notes of uses. They are of the hour, so each secret has a write in an hour, and a batch is one statement. */
export function openSecretUses(sql: Sql, log: Log): SecretUses & Service {
  const waiting = new BriefMap<string, { applicationId: string; secretId: string }>()
  /** Until when nothing has to be written for a secret, by `performance.now()`. */
  const stored = new BriefMap<string, number>()

  async function store() {
    const uses = [...waiting.values()]
    if (uses.length === 0) return
    const began = performance.now()
    try {
      const [row] = await sql<{ left: number }[]>`
        with noted as (
          insert into secret_uses (application_id, secret_id, used_at)
          select application_id, secret_id, date_trunc('hour', roster_now())
          from unnest(${uses.map((use) => use.applicationId)}::text[], ${uses.map((use) => use.secretId)}::text[])
            as u (application_id, secret_id)
          order by application_id, secret_id
          on conflict (application_id, secret_id) do update set used_at = excluded.used_at
          where secret_uses.used_at < excluded.used_at
        )
        select extract(epoch from date_trunc('hour', roster_now()) + interval '1 hour' - roster_now())::float * 1000 as left
      `
      for (const { secretId } of uses) {
        waiting.delete(secretId)
        remember(secretId, began + row!.left)
      }
    } catch (err) {
      // They wait for the next time.
      log.warn({ err }, 'uses of secrets are not stored yet')
    }
  }

  function remember(secretId: string, until: number) {
    stored.delete(secretId)
    stored.set(secretId, until)
    if (stored.size > most) stored.delete(stored.keys().next().value!)
  }

  let storing = Promise.resolve()
  const timer = setInterval(() => (storing = storing.then(store)), every)
  timer.unref()
  return {
    note(applicationId, secretId) {
      if (performance.now() < (stored.get(secretId) ?? 0)) return
      if (waiting.size < most) waiting.set(secretId, { applicationId, secretId })
    },
    async stop() {
      clearInterval(timer)
      await storing.then(store)
    },
  }
}
