import { invalid } from '#lib/errors'
import type { Aggregate, AggregateKey } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Keyring } from '#lib/keys'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { deriveCode, matchesCode } from '../email/code.ts'
import { isActive } from '../states/user-state.ts'
import type { NewCode } from '../vocabulary/code.ts'
import { canRenew, type PasswordCode, type PasswordCodeEvent, passwordCodeType } from '../vocabulary/password-code.ts'
import type { User } from '../vocabulary/user.ts'

/** The aggregates that say whether a code is right: the code and its user. */
export function keysOf(userId: string): [code: AggregateKey, user: AggregateKey] {
  return [
    { type: passwordCodeType, id: userId },
    { type: 'user', id: userId },
  ]
}

type Answer = 'right' | 'wrong' | 'dead'

/** Compares a typed code with that of a user. Takes the same work whether there is a user, or a living code. */
export function judge(
  keys: Keyring,
  userId: string,
  { user, code, typed }: { user: User | undefined; code: PasswordCode | undefined; typed: string },
  now: Date,
): { answer: Answer; codeId: string } {
  const human = isActive(user) ? user?.human : undefined
  const living = human && canRenew(code, human, now) ? code : undefined
  const known = living ?? codeOfNobody(keys)
  const matches = matchesCode(typed, deriveCode(keys, known, userId, human?.email ?? '', 'password-code'))
  return { answer: living ? (matches ? 'right' : 'wrong') : 'dead', codeId: known.codeId }
}

/**
 * Counts a try of a code before anything depends on it, one after the other, so that simultaneous guesses count too.
 * INVALID_ARGUMENT CODE_INVALID for every code that is not right: the same answer, and the same work.
 */
export async function countTry({ store, keys }: Context, userId: string, typed: string, call: Call): Promise<void> {
  const [codeKey, userKey] = keysOf(userId)
  const [code, user] = await Promise.all([
    store.load<PasswordCode>(codeKey.type, userId),
    store.load<User>(userKey.type, userId),
  ])
  const seen = judge(keys, userId, { user: user?.state, code: code?.state, typed }, new Date())
  const { caller, requestId, deadline, once } = call
  await store.execute({
    aggregate: codeKey,
    reads: [userKey],
    // If-Match is about the user. The answer to a right code is yet to be made, so only a refusal is stored here.
    call: { caller, requestId, deadline, ...(once && seen.answer !== 'right' && { once }) },
    decide({ state }: Aggregate<PasswordCode>, now, [of]: Aggregate<User>[]): Decision<PasswordCodeEvent> {
      const { answer, codeId } = judge(keys, userId, { user: of!.state, code: state, typed }, now)
      if (answer === 'right' && seen.answer === 'right') return { events: [], answer: undefined }
      const refused = { answer: undefined, error: codeInvalid() }
      if (answer === 'wrong') return { events: [{ type: 'rejected', payload: { codeId } }], ...refused }
      return { events: [], ...refused, commits: true }
    },
  })
}

/** The one error for all codes that are not right. */
export function codeInvalid() {
  return invalid([{ field: 'verificationCode', description: 'is wrong, expired, used or replaced' }], 'CODE_INVALID')
}

function codeOfNobody({ currentId: keyId }: Keyring): NewCode {
  return { codeId: '', keyId, expiresAt: '' }
}
