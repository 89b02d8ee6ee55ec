import type { ObjectDetails } from '#gen/roster/object/v1/object'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import type { User } from '../../../directory/events/user.ts'
import type { Session } from '../../events/session.ts'
import type { OneTimeCode } from '../../../directory/secrets/one-time-codes.ts'
import { checkedAt } from '../../login-policy/login-policy.ts'
import { markOfLink, type MarkOfLink } from '../../mark-of-link.ts'
import { requireVouchedPasskey } from '../../login-client-session.ts'
import { findLinkOf, findVouchedLink } from '../../passkeys/living-link.ts'
import { refusalOf, refused } from '../../factors/passkey/ceremony.ts'
import { finishRegistration } from '../../passkeys/register.ts'
import { bindingOf, isLoginClient } from './begin.ts'

interface Finished {
  userId: string
  passkeyId: string
  credential: object | undefined
  name: string
  secondOnly: boolean
}

/** Adds a passkey that a program began. Where the caller is another user, that was by a link, or by a session that vouches. */
export async function finish(
  context: Context,
  { userId, passkeyId, credential, name, secondOnly }: Finished,
  call: Call,
): Promise<{ details: ObjectDetails }> {
  for await (const { code, mark } of begunBy(context, { userId, secondOnly }, call)) {
    const binding = bindingOf({ userId, passkeyId, codeId: code?.code.codeId, secondOnly }, call)
    const made = { userId, credential: JSON.stringify(credential), name, binding, secondOnly, code, isOwn: true, mark }
    try {
      const { details } = await finishRegistration(context, made, call)
      return { details }
    } catch (error) {
      // It may have been begun in another way.
      if (refusalOf(error) !== 'late') throw error
    }
  }
  throw refused('late')
}

/** How this caller may have begun it: by each of these links, or without one; and the mark of the session that vouches. */
async function* begunBy(
  context: Context,
  { userId, secondOnly }: Pick<Finished, 'userId' | 'secondOnly'>,
  call: Call,
): AsyncGenerator<{ code?: OneTimeCode; mark: MarkOfLink }> {
  const isOwn = call.caller.userId === userId
  const [link, vouched] = secondOnly
    ? []
    : await Promise.all([findLinkOf(context, userId, call), findVouchedLink(context, userId, call)])
  if (link) yield { code: link, mark: {} }
  if (vouched) {
    yield { code: vouched, mark: await requireVouchedPasskey(context, userId, call) }
  }
  if (isOwn) yield { mark: await markOfOwn(context, call) }
  if (!isOwn && secondOnly && isLoginClient(call)) {
    yield { mark: await requireVouchedPasskey(context, userId, call) }
  }
}

// That it was fresh was seen where it began.
async function markOfOwn({ store }: Context, { caller }: Call): Promise<MarkOfLink> {
  const [session, user] = await Promise.all([
    store.load<Session>('session', caller.sessionId),
    store.load<User>('user', caller.userId),
  ])
  return session ? markOfLink(user?.state.human, checkedAt(session.state), session.readAt) : {}
}
