import type { EmailCode, MailEnd, MailKey, MailKind } from '#gen/roster/users/v1/internal_service'
import { orUnavailable } from '#lib/database/database'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { type User, userKey } from '../events/user.ts'

type Mail = Omit<MailKey, 'kind'>

/** What a mail says, and for whom: its name and its brand follow from that. */
export interface MailText extends Omit<EmailCode, 'name' | 'brand' | 'providers'> {
  /** `requestId`: of the page that asked for it. */
  from: { organizationId: string; requestId?: string | undefined }
  /** Missing: none. */
  providers?: string[]
}

/** A kind of mail: what it says, and how it ends. Each lies where it belongs; `internal/mail-kinds.ts` lists them. */
export interface KindOfMail {
  number: MailKind
  /** Stands in its rows and announcements. */
  name: string
  /** Undefined where the mail is not to be sent any more. */
  content(context: Context, mail: Mail): Promise<MailText | undefined>
  /** Records that the mail was sent or, with a failure, given up. Without effect on one that is settled or gone. */
  end(context: Context, mail: Mail & Pick<MailEnd, 'failure'>, call: Call): Promise<void>
}

/** The end by an event of the aggregate of this type that has the user's id, and where the mail has its id as `idName`. */
export function endByEvent<State>(
  type: string,
  idName: string,
  waits: (state: State | undefined, user: User | undefined, mailId: string) => boolean,
): KindOfMail['end'] {
  return ({ store }, { userId, codeId, failure }, call) =>
    store.execute({
      aggregate: { type, id: userId },
      reads: { user: userKey(userId) },
      call,
      decide({ state }: Aggregate<State>, _now, { user: { state: user, organizationId } }) {
        if (!waits(state, user, codeId)) return { events: [], answer: undefined }
        const payload = { [idName]: codeId, ...(failure !== undefined && { failure }) }
        return {
          organizationId,
          events: [{ type: failure === undefined ? 'sent' : 'failed', payload }],
          answer: undefined,
        }
      },
    })
}

/** The end of a mail without an event: it waits no longer. */
export function endWithoutEvent(kind: string): KindOfMail['end'] {
  return async ({ sql }, { codeId }) => {
    await orUnavailable(sql`delete from unsent_mails where mail_id = ${codeId} and kind = ${kind}`)
  }
}
