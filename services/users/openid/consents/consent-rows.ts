import type { Write } from '#lib/database/database'
import type { Aggregate } from '#lib/eventstore/aggregate'
import { type Consent, isGiven } from '../events/consent.ts'

/** Keeps the row of a consent as searches read it. */
export function projectConsent({ state, changedAt }: Aggregate<Consent>): Write[] {
  if (!state) return []
  const { userId, applicationId, scopes } = state
  if (!isGiven(state))
    return [(sql) => sql`delete from consents where user_id = ${userId} and application_id = ${applicationId}`]
  return [
    (sql) => sql`
      insert into consents (user_id, application_id, scopes, given_at)
      values (${userId}, ${applicationId}, ${scopes}, ${changedAt})
      on conflict (user_id, application_id) do update set scopes = excluded.scopes, given_at = excluded.given_at
    `,
  ]
}
