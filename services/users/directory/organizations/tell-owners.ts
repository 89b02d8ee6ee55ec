import { createHash } from 'node:crypto'
import type { Event } from '#gen/roster/feed/v1/feed'
import { orUnavailable, readNow, type Sql } from '#lib/database/database'
import { countUse } from '#lib/eventstore/count-use'
import { evenUnreadable } from '#lib/eventstore/aggregate'
import { limitsHit } from '#lib/limits-hit'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import { because, startFollowing } from '#lib/subscriptions/follow'
import type { Context } from '../../context.ts'
import { mailUses } from '../email/mail-uses.ts'
import { keepUnsent } from '../email/unsent-mails.ts'
import type { User } from '../events/user.ts'
import { singleUse, useUp } from '../secrets/single-use.ts'
import { isActive } from '../states/user-state.ts'
import { domainLostMail, domainUnverifiedMail } from './domain-mails.ts'
import { lookupById } from './organization-domain.ts'

/** After that a mail comes too late to help. Milliseconds. */
const lifetime = 3 * 86_400_000

const types = { 'organization.domain.lost': domainLostMail, 'organization.domain.unverified': domainUnverifiedMail }

type Telling = Pick<Context, 'announceMail' | 'config' | 'grants' | 'keys' | 'sql' | 'store'>

/** Mails the owners of an organization that the record of one of its domains is missing, and that the trust has ended. */
export function startTellingOwners(context: Telling, nats: Nats, log: Log): Service {
  const { grants, sql } = context
  return startFollowing({
    name: 'domain-mails',
    service: 'grants',
    feed: grants.listEvents,
    eventTypes: Object.keys(types),
    handle: (event) => tellOwners(context, event),
    sql,
    nats,
    log,
  })
}

/** The mails that an event leads to. Harmless twice. */
export async function tellOwners(context: Telling, event: Event): Promise<void> {
  const { grants, sql, store } = context
  const [type, mail] = Object.entries(types).find(([type]) => event.type.startsWith(`roster.${type}.`)) ?? []
  const now = await orUnavailable(readNow(sql))
  if (!type || !mail || now.getTime() - event.time!.getTime() > lifetime) return
  const found = await lookupById(grants, event.aggregateId, because(event), true)
  for (const userId of found?.ownerIds ?? []) {
    const owner = await evenUnreadable(store.load<User>('user', userId))
    const human = owner?.state && isActive(owner.state) ? owner.state.human : undefined
    if (human?.isVerified) await tell(context, { event, userId, email: human.email, kind: mail.name }, now)
  }
}

// Once for each event, which may come twice.
async function tell(
  context: Telling,
  { event, userId, email, kind }: { event: Event; userId: string; email: string; kind: string },
  now: Date,
): Promise<void> {
  const { sql } = context
  const organizationId = event.aggregateId
  const codeId = createHash('sha256').update(`${event.id} ${userId}`).digest('base64url').slice(0, 32)
  const expiresAt = new Date(event.time!.getTime() + lifetime)
  const isKept = await sql.begin(async (transaction) => {
    const once = singleUse('domain_mail', codeId, expiresAt.getTime() / 1000)
    if (!(await useUp(transaction as unknown as Sql, once))) return false
    for (const use of mailUses(context, email, organizationId, 'domain'))
      if ((await countUse(sql, use)) !== undefined) {
        limitsHit.add(1, 'MAILS_THROTTLED')
        return false
      }
    const mail = { kind, codeId, userId, organizationId, expiresAt: expiresAt.toISOString() }
    await keepUnsent(mail, now)(transaction)
    return true
  })
  if (isKept) context.announceMail({ kind, codeId, userId, organizationId, expiresAt: expiresAt.toISOString() })
}
