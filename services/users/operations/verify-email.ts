import type { VerifyEmailRequest, VerifyEmailResponse } from '#gen/roster/users/v1/user_service'
import { invalid } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Keyring } from '#lib/keys'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { deriveCode, matchesCode } from '../email-code.ts'
import { isAlive, type User, type UserEvent } from '../vocabulary.ts'

export async function verifyEmail(
  { store, keys }: Context,
  request: VerifyEmailRequest,
  call: Call,
): Promise<VerifyEmailResponse> {
  return store.execute({
    aggregate: { type: 'user', id: request.userId },
    call,
    decide: (user: Aggregate<User>, now) => decide(user, request.verificationCode, keys, now),
    respond: ({ after }) => ({ details: details(after) }),
  })
}

function decide({ id, state }: Aggregate<User>, typed: string, keys: Keyring, now: Date): Decision<UserEvent> {
  const human = state?.human
  if (!human || !isAlive(human.code, now)) throw codeInvalid()
  const { codeId } = human.code
  if (matchesCode(typed, deriveCode(keys, human.code, id, human.email)))
    return { events: [{ type: 'email.verified', payload: { codeId } }], answer: undefined }
  return { events: [{ type: 'email.code.rejected', payload: { codeId } }], answer: undefined, error: codeInvalid() }
}

// One answer for all that can be wrong: it tells nobody whether there is such a user or such a code.
function codeInvalid() {
  return invalid([{ field: 'verificationCode', description: 'is wrong, expired, used or replaced' }], 'CODE_INVALID')
}
