import { randomUUID } from 'node:crypto'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Write } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import type { Passkey } from '../../directory/events/passkeys.ts'
import type { User, UserEvent } from '../../directory/events/user.ts'
import { existing } from '../../directory/states/user-state.ts'
import { removalWithKey } from '../factors/removal.ts'
import { leavingEnough } from './last-factor.ts'
import { keepingWayIn } from './last-way-in.ts'
import { noticeOf, settleNotice, withoutNotice } from './mail.ts'

/** NOT_FOUND PASSKEY_NOT_FOUND. */
export function renamePasskey(
  context: Context,
  { userId, passkeyId, name }: { userId: string; passkeyId: string; name: string },
  call: Call,
) {
  return change(context, { userId, passkeyId }, 'renamed', call, (passkey) =>
    passkey.name === name
      ? undefined
      : { events: [{ type: 'passkey.renamed', payload: { passkeyId, name } }], writes: [] },
  )
}

/**
 * A passkey serves no more. NOT_FOUND PASSKEY_NOT_FOUND, also where it is none `of` these; FAILED_PRECONDITION LAST_FACTOR:
 * the user could not sign in any more; or the login policy demands more than would be left.
 */
export async function removePasskey(
  context: Context,
  { userId, passkeyId, of }: { userId: string; passkeyId: string; of?: (passkey: Passkey) => boolean },
  call: Call,
) {
  const leaves = await leavingEnough(context, userId, call)
  const keepWayIn = await keepingWayIn(context, userId, call)
  return change(context, { userId, passkeyId, of }, 'removed', call, (_passkey, { human }, now) => {
    const left = (human!.passkeys ?? []).filter(({ id }) => id !== passkeyId)
    keepWayIn(human!, { ...human!, passkeys: left }, now)
    leaves(human!, { ...human!, passkeys: left })
    const { events, writes } = removalWithKey(userId, human!, left)
    return { events: [{ type: 'passkey.removed', payload: { passkeyId } }, ...events], writes }
  })
}

async function change(
  context: Context,
  { userId, passkeyId, of }: { userId: string; passkeyId: string; of?: ((passkey: Passkey) => boolean) | undefined },
  what: 'renamed' | 'removed',
  call: Call,
  decide: (passkey: Passkey, user: User, now: Date) => { events: UserEvent[]; writes: Write[] } | undefined,
) {
  const mailId = randomUUID()
  const isOwn = call.caller.userId === userId
  const store = (isTold: boolean) =>
    context.store.execute({
      aggregate: { type: 'user', id: userId },
      call,
      decide({ state, organizationId }: Aggregate<User>, now): Decision<UserEvent, ReturnType<typeof noticeOf>> {
        const user = existing(state)
        const passkey = user.human?.passkeys?.find((one) => one.id === passkeyId && (of?.(one) ?? true))
        if (!passkey) throw new RosterError('NOT_FOUND', 'PASSKEY_NOT_FOUND', 'The user has no such passkey.')
        const changed = decide(passkey, user, now)
        if (!changed) return { events: [], answer: undefined }
        const notice = isTold
          ? noticeOf(context, what, user.human!, { userId, organizationId, mailId, isOwn }, now)
          : undefined
        const writes = [...changed.writes, ...(notice?.writes ?? [])]
        return { events: changed.events, writes, ...(notice && { uses: notice.uses }), answer: notice }
      },
      respond: ({ after, answer }) => ({ details: details(after), notice: answer }),
    })
  // Else a thief who adds and renames passkeys, of which mails tell, would keep the person from removing them.
  const { notice, ...answer } = await withoutNotice(store, isOwn && what === 'renamed')
  settleNotice(context, notice)
  return answer
}
