import type { VerifyEmailRequest, VerifyEmailResponse } from '#gen/roster/users/v1/user_service'
import { invalid } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Keyring } from '#lib/keys'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { deriveCode, matchesCode } from '../../email/code.ts'
import { isAlive, type NewCode } from '../../vocabulary/code.ts'
import type { User, UserEvent } from '../../vocabulary/user.ts'

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

// Every mistake gets one answer. It takes the same work and is stored alike under an Idempotency-Key. So it tells
// nobody whether the user or the code exists.
function decide({ id, state }: Aggregate<User>, typed: string, keys: Keyring, now: Date): Decision<UserEvent> {
  const human = state?.human
  const code = human?.code
  const living = isAlive(code, now) ? code : undefined
  const isRight = matchesCode(typed, deriveCode(keys, living ?? codeOfNobody(keys), id, human?.email ?? ''))
  const refused = { answer: undefined, error: codeInvalid() }
  if (!living) return { events: [], ...refused, commits: true }
  const { codeId } = living
  if (isRight) return { events: [{ type: 'email.verified', payload: { codeId } }], answer: undefined }
  return { events: [{ type: 'email.code.rejected', payload: { codeId } }], ...refused }
}

function codeOfNobody({ currentId: keyId }: Keyring): NewCode {
  return { codeId: '', keyId, expiresAt: '' }
}

function codeInvalid() {
  return invalid([{ field: 'verificationCode', description: 'is wrong, expired, used or replaced' }], 'CODE_INVALID')
}
