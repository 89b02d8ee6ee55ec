import { randomUUID } from 'node:crypto'
import { encryptedAs } from '#lib/encryption/encrypted-text'
import { deleteInPortions } from '#lib/database/delete-in-portions'
import { orUnavailable, type Sql } from '#lib/database/database'
import { limitsHit } from '#lib/limits-hit'
import type { Context } from '../../context.ts'
import { rateLimitsFor, takeFromBuckets } from '../../directory/rate-limits/token-buckets.ts'
import type { User } from '../../directory/events/user.ts'
import { loadLoginPolicy } from '../login-policy/load-login-policy.ts'
import { kind, lifetime } from './sign-in-mail.ts'

/** Browsers remembered of a user, at most. */
const most = 20

/**
 * Remembers that a user signed in with a browser, and tells the user by mail where it is another one than before. Of the
 * first one of all nothing is told. The table has no address: known is the cookie. A removal beside it has locked the person, who is
 * not encrypted any more after it, or waits for this lock.
 */
export async function noteBrowser(
  context: Context,
  { userId, organizationId }: { userId: string; organizationId: string },
  browserId: string,
): Promise<void> {
  const { sql } = context
  const [found] = await orUnavailable(sql<{ isKnown: boolean; others: number }[]>`
    with noted as (
      insert into known_browsers (user_id, browser_id, used_at)
      select id, ${browserId}, roster_now() from aggregates
      where type = 'user' and id = ${userId} and state ? ${encryptedAs} for share
      on conflict (user_id, browser_id) do update set used_at = excluded.used_at
    ), gone as (
      delete from known_browsers where user_id = ${userId} and browser_id in (
        select browser_id from known_browsers where user_id = ${userId} and browser_id <> ${browserId}
        order by used_at desc offset ${most - 1}
      )
    )
    select coalesce(bool_or(browser_id = ${browserId}), false) as "isKnown", count(*)::int as others
    from known_browsers where user_id = ${userId}
  `)
  if (found!.isKnown || found!.others === 0) return
  const [user, { tellOfSignIns }] = await Promise.all([
    context.store.load<User>('user', userId),
    loadLoginPolicy(context, organizationId),
  ])
  if (!tellOfSignIns || !user?.state.human?.isVerified) return
  const limit = rateLimitsFor(context.keys, [
    { name: ['sign-in mails', userId], most: 10, pause: 3600, kind: 'always' },
  ])
  if ((await takeFromBuckets(sql, limit)) !== undefined) return limitsHit.add(1, 'sign_in_mails')
  const mail = { kind, userId, codeId: randomUUID() }
  const expiresAt = new Date(user.readAt.getTime() + lifetime)
  await orUnavailable(sql`
    insert into unsent_mails (mail_id, user_id, kind, requested_at, expires_at)
    select ${mail.codeId}, id, ${kind}, roster_now(), ${expiresAt} from aggregates
    where type = 'user' and id = ${userId} and state ? ${encryptedAs} for share
  `)
  context.announceMail({ ...mail, organizationId, expiresAt: expiresAt.toISOString() })
}

/** Forgets browsers for as long as no browser keeps its cookie. */
export async function deleteKnownBrowsers(sql: Sql): Promise<void> {
  await deleteInPortions(sql, 'known_browsers', sql`used_at < roster_now() - interval '400 days'`)
}
