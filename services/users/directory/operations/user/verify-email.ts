import type { VerifyEmailRequest, VerifyEmailResponse } from '#gen/roster/users/v1/user_service'
import { invalid } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Keyring } from '#lib/encryption/keys'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { type Judgement, judgeCode } from '../../email/judge-code.ts'
import type { Human } from '../../events/human.ts'
import { mayStillActOn } from '../../may-act-on.ts'
import { isUnproved } from '../../links/unproved.ts'
import type { User, UserEvent } from '../../events/user.ts'

export async function verifyEmail(
  context: Context,
  { userId, verificationCode: typed }: VerifyEmailRequest,
  call: Call,
): Promise<VerifyEmailResponse> {
  const { store, keys } = context
  const seen = await store.load<User>('user', userId)
  const code = seen?.state.human?.code
  // Only where the code is right, so that a wrong one takes the same work for all.
  const isRight = judge(userId, seen?.state.human, typed, keys, seen?.readAt ?? anyTime) === 'right'
  const accepted = isRight && (await mayStillActOn(context, [code?.askedBy], userId, call)) ? code?.codeId : undefined
  return store.execute({
    aggregate: { type: 'user', id: userId },
    call,
    decide: (user: Aggregate<User>, now) =>
      decide(user, { typed, accepted, own: call.caller.userId === userId }, keys, now),
    respond: ({ after }) => ({ details: details(after) }),
  })
}

// Every mistake gets one answer. It takes the same work and is stored alike under an Idempotency-Key. So it reveals
// to no one whether the user or the code exists.
function decide(
  { id, state }: Aggregate<User>,
  { typed, accepted, own }: { typed: string; accepted: string | undefined; own: boolean },
  keys: Keyring,
  now: Date,
): Decision<UserEvent> {
  const human = state?.human
  const answer = judge(id, human, typed, keys, now)
  const invalidCode = { answer: undefined, error: codeInvalid() }
  const codeId = human?.code?.codeId
  if (answer === 'dead' || codeId === undefined || (answer === 'right' && codeId !== accepted))
    return { events: [], ...invalidCode, commits: true }
  if (answer === 'wrong') return { events: [{ type: 'email.code.rejected', payload: { codeId } }], ...invalidCode }
  const setBy = own && human?.emailSetBy !== undefined && { setBy: id }
  // Whoever is signed in by the provider has the mailbox, too.
  const proves = own && isUnproved(human) && { own: true as const }
  return { events: [{ type: 'email.verified', payload: { codeId, ...setBy, ...proves } }], answer: undefined }
}

function judge(userId: string, human: Human | undefined, typed: string, keys: Keyring, now: Date): Judgement {
  return judgeCode(keys, { userId, email: human?.email, code: human?.code, typed }, now)
}

const anyTime = new Date(0)

/** The one error for all codes that are not right. */
export function codeInvalid() {
  return invalid([{ field: 'verificationCode', description: 'is wrong, expired, used or replaced' }], 'CODE_INVALID')
}
