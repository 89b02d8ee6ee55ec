import { deleteInPortions } from '#lib/database/delete-in-portions'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { readNow } from '#lib/database/database'
import { repeat } from '#lib/repeat'
import { anonymous } from '#lib/rpc/caller'
import { warnBefore } from './project-credentials.ts'
import type { Context } from '../../context.ts'
import { type CredentialKind, living } from '../events/credentials.ts'
import { credentialsOf, type User, type UserEvent } from '../events/user.ts'

const every = 60_000
const mostAtOnce = 500

/** Warns of credentials that will expire soon, now and once a minute. */
export function startExpiryWarnings(context: Context): { stop(): Promise<void> } {
  const failed = (error: unknown) => context.log.warn({ err: error }, 'the look for expiring credentials failed')
  const work = async () => warnOfExpiry(context, await readNow(context.sql))
  return repeat({ work, every, retryAfter: every, failed })
}

/**
 * Warns of the credentials that are due at this time, at most 500. Several replicas warn once: the user remembers the
 * warning, and the decision on that user checks it.
 */
export async function warnOfExpiry({ sql, store }: Context, now: Date): Promise<void> {
  // These have expired already, such as after a long standstill: a warning would come too late.
  await deleteInPortions(sql, 'expiring_credentials', sql`warn_at <= ${new Date(now.getTime() - warnBefore)}`)
  await deleteInPortions(sql, 'machine_credentials', sql`ends_at <= ${now}`)
  const due = await sql<Due[]>`
    select user_id as "userId", credential_id as "credentialId", kind from expiring_credentials
    where warn_at <= ${now}
    order by warn_at
    limit ${mostAtOnce}
  `
  const call = { caller: anonymous, requestId: 'expiry-warning', deadline: Date.now() + 30_000 }
  await Promise.all(
    due.map((entry) =>
      store.execute({
        aggregate: { type: 'user', id: entry.userId },
        call,
        decide: (user: Aggregate<User>) => decide(user, entry, now),
      }),
    ),
  )
}

interface Due {
  userId: string
  credentialId: string
  kind: CredentialKind
}

function decide({ state }: Aggregate<User>, { credentialId, kind }: Due, now: Date): Decision<UserEvent> {
  const credential = living(credentialsOf(state)[kind], now).find(({ id }) => id === credentialId)
  if (credential?.expiresAt === undefined || credential.warned) return { events: [], answer: undefined }
  return { events: [expiring(kind, credentialId, credential.expiresAt)], answer: undefined }
}

/** The warning that comes with a new credential, where its end is nearer than the time of the warning. */
export function warningAtOnce(kind: CredentialKind, id: string, expiresAt: Date | undefined, now: Date): UserEvent[] {
  if (!expiresAt || expiresAt.getTime() - now.getTime() > warnBefore) return []
  return [expiring(kind, id, expiresAt.toISOString())]
}

function expiring(kind: CredentialKind, credentialId: string, expiresAt: string): UserEvent {
  return { type: 'credential.expiring', payload: { kind, credentialId, expiresAt } }
}
