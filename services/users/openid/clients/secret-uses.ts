import type { Sql } from '#lib/database/database'
import type { Log } from '#lib/log'
import type { Service } from '#lib/process'
import type { SecretUses } from '../../context.ts'
import { openHourlyUses } from '../../directory/machine-credentials/hourly-uses.ts'

/** Opens the notes of uses of applications' secrets. */
export function openSecretUses(sql: Sql, log: Log): SecretUses & Service {
  const uses = openHourlyUses<{ applicationId: string; secretId: string }>(log, {
    what: 'secrets',
    idOf: ({ secretId }) => secretId,
    async store(all) {
      const [row] = await sql<{ left: number }[]>`
        with noted as (
          insert into secret_uses (application_id, secret_id, used_at)
          select application_id, secret_id, date_trunc('hour', roster_now())
          from unnest(${all.map((use) => use.applicationId)}::text[], ${all.map((use) => use.secretId)}::text[])
            as u (application_id, secret_id)
          order by application_id, secret_id
          on conflict (application_id, secret_id) do update set used_at = excluded.used_at
          where secret_uses.used_at < excluded.used_at
        )
        select extract(epoch from date_trunc('hour', roster_now()) + interval '1 hour' - roster_now())::float * 1000 as left
      `
      return row!.left
    },
  })
  return { note: (applicationId, secretId) => uses.note({ applicationId, secretId }), stop: () => uses.stop() }
}
