import type { TrustedBrowser } from '#gen/roster/users/v1/session_service'
import { orUnavailable } from '#lib/database/database'
import type { Existing, Read } from '#lib/eventstore/aggregate'
import type { OrganizationStatus } from '../../../organization-status.ts'
import type { Context } from '../../context.ts'
import type { User } from '../../directory/events/user.ts'
import { sessionSinceOpen } from '../../directory/organizations/in-open-organization.ts'
import { statuses } from '../../directory/organizations/statuses.ts'
import { loadLoginPolicy } from '../login-policy/load-login-policy.ts'
import { findLastSignIns } from '../records/show-sign-ins.ts'
import { endOfTrust } from './trusted-browser.ts'

/** The trusted browsers of a user. */
export interface Trust {
  /** Until when the browser of a session is trusted. Undefined: it is not. */
  until(sessionId: string, trustId: string | null): Date | undefined
  /** Those in which nobody is signed in as this user. UNAVAILABLE STORE_UNAVAILABLE. */
  withoutSession(): Promise<TrustedBrowser[]>
}

/** UNAVAILABLE STORE_UNAVAILABLE. */
export async function loadTrust(context: Context, user: Read<Existing<User>> | undefined): Promise<Trust> {
  const marks = user?.state.human?.trustedBrowsers ?? []
  if (!user || marks.length === 0) return { until: () => undefined, withoutSession: async () => [] }
  const { sql, store } = context
  const { type, id } = statuses.key(user.organizationId)
  const [policy, status] = await Promise.all([
    loadLoginPolicy(context, user.organizationId),
    store.load<OrganizationStatus>(type, id),
  ])
  const until: Trust['until'] = (sessionId, trustId) =>
    endOfTrust(user.state.human, { sessionId, trustId }, policy, { now: user.readAt, status })
  return {
    until,
    async withoutSession() {
      const living = await orUnavailable(sql<{ sessionId: string; trustId: string | null }[]>`
        select t.session_id as "sessionId", a.state ->> 'trustId' as "trustId"
        from tokens t join aggregates a on a.type = 'session' and a.id = t.session_id
        where t.user_id = ${user.id} and t.session_id <> '' and t.expires_at > roster_now()
          and ${sessionSinceOpen(sql, sql`t.organization_id`, sql`t.session_id`)}
      `)
      const left = marks.flatMap((mark) => {
        const isShown = living.some(({ sessionId, trustId }) => sessionId === mark.sessionId || trustId === mark.id)
        const trustedUntil = isShown ? undefined : until('', mark.id)
        return trustedUntil ? [{ mark, trustedUntil }] : []
      })
      const ids = left.map(({ mark }) => mark.sessionId)
      const lastSignIns = await findLastSignIns(context, user.id, ids)
      return left.toReversed().map(({ mark: { id: trustId, sessionId, at }, trustedUntil }) => ({
        trustId,
        sessionId,
        trustedDate: new Date(at),
        trustedUntil,
        lastSignIn: lastSignIns.get(sessionId),
      }))
    },
  }
}
