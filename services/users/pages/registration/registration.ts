import { randomUUID } from 'node:crypto'
import type { MailWithoutEvent } from '#lib/events/hints'
import { orUnavailable, type Statement } from '#lib/database/database'
import type { Guard } from '#lib/eventstore/command'
import { advance, type RequestRow } from '../../openid/request/request-row.ts'
import { Superseded } from '../../sessions/browsers/superseded.ts'
import type { Context } from '../../context.ts'
import { newCode } from '../../directory/email/code.ts'
import { keepUnsent } from '../../directory/email/unsent-mails.ts'
import type { NewCode } from '../../directory/events/code.ts'
import type { Typed } from './typed-registration.ts'

/**
 * A registration: a one-time secret of the kind `registration`, by the id of its request, so it is bound to the browser of
 * that. Nothing else is stored of a person who is no user yet, and this is encrypted.
 */
export interface Registration extends Typed {
  organizationId: string
  /** No organization was named, so the address means its person on the whole instance. */
  anywhere: boolean
  code: NewCode
}

export interface StoredRegistration extends Registration {
  /** As it is stored. */
  detail: Buffer
}

const purpose = 'secret-detail'

/** The name of the kind of its mail. */
export const mailKind = 'registration'

/** Keeps a registration in place of the one before it, whose code and mail are over, and turns the page of its request. */
export async function keepRegistration(
  { sql, keys, config }: Pick<Context, 'sql' | 'keys' | 'config'>,
  { id, expiresAt }: Pick<RequestRow, 'id' | 'expiresAt'>,
  given: Omit<Registration, 'code'>,
  now: Date,
): Promise<MailWithoutEvent> {
  const { email, givenName, familyName, language, organizationId } = given
  const left = (expiresAt.getTime() - now.getTime()) / 1000
  const code = newCode(randomUUID(), keys, Math.min(config.EMAIL_CODE_LIFETIME, left), now)
  const detail = keys.encrypt(purpose, JSON.stringify({ ...given, code } satisfies Registration))
  const mail = { kind: mailKind, codeId: code.codeId, userId: id, organizationId, expiresAt: code.expiresAt }
  const page = { registration: { email, givenName, familyName, language, isMailed: true } }
  await orUnavailable(
    sql.begin((transaction) =>
      Promise.all([
        transaction`
          insert into secrets (kind, id, user_id, expires_at, detail)
          values ('registration', ${id}, '', ${code.expiresAt}, ${detail})
          on conflict (kind, id) do update set expires_at = excluded.expires_at, detail = excluded.detail
        `,
        ...withoutMail(id).map((write) => write(transaction)),
        keepUnsent(mail, now)(transaction),
        advance(keys, id, page)(transaction),
      ]),
    ),
  )
  return mail
}

/** The registration of a request, if its code still counts. */
export async function findRegistration(
  { sql, keys }: Pick<Context, 'sql' | 'keys'>,
  requestId: string,
): Promise<StoredRegistration | undefined> {
  const [row] = await orUnavailable(sql<{ detail: Buffer }[]>`
    select detail from secrets where kind = 'registration' and id = ${requestId} and expires_at > roster_now()
  `)
  return row && { ...(JSON.parse(keys.decrypt(purpose, row.detail)) as Registration), detail: row.detail }
}

/** Uses a registration up beside an event: once, and only as long as no other took its place. */
export function usingUp(requestId: string, { detail }: StoredRegistration): { writes: Statement[]; guard: Guard } {
  return {
    writes: [
      (sql) => sql`delete from secrets where kind = 'registration' and id = ${requestId}`,
      ...withoutMail(requestId),
    ],
    guard: {
      key: JSON.stringify(['registration', requestId]),
      counted: {
        by: 'count_lost_secrets',
        of: { kind: 'registration', id: requestId, detail: detail.toString('hex') },
      },
      most: 1,
      full: new Superseded(),
    },
  }
}

function withoutMail(requestId: string): Statement[] {
  return [(sql) => sql`delete from unsent_mails where user_id = ${requestId} and kind = ${mailKind}`]
}
