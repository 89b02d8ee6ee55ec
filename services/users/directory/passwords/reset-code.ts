import { invalid } from '#lib/errors'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { loadReads } from '#lib/eventstore/load-reads'
import type { Keyring } from '#lib/encryption/keys'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { deriveCode, matchesCode } from '../email/code.ts'
import { isOpen, type OrganizationStatus } from '../../../organization-status.ts'
import { statuses } from '../organizations/statuses.ts'
import { isActive } from '../states/user-state.ts'
import type { NewCode } from '../events/code.ts'
import { canRenew, type PasswordCode, type PasswordCodeEvent, passwordCodeKey } from '../events/password-code.ts'
import { mayStillActOn } from '../may-act-on.ts'
import { seersOf } from './recovery.ts'
import { type User, userKey } from '../events/user.ts'

type Answer = 'right' | 'wrong' | 'dead'

/** What a code is judged by. `status`: of the user's organization. */
interface Judged {
  user: User | undefined
  code: PasswordCode | undefined
  status?: OrganizationStatus | undefined
  typed: string
}

/** Compares a typed code with that of a user. Takes the same work whether there is a user, or a living code. */
export function checkCode(
  keys: Keyring,
  userId: string,
  { user, code, status, typed }: Judged,
  now: Date,
): { answer: Answer; codeId: string } {
  const human = isActive(user) && isOpen({ state: status }) ? user?.human : undefined
  const living = human && canRenew(code, human, now) ? code : undefined
  const known = living ?? unknownCode(keys)
  const matches = matchesCode(typed, deriveCode(keys, known, userId, human?.email ?? '', 'password-code'))
  return { answer: living ? (matches ? 'right' : 'wrong') : 'dead', codeId: known.codeId }
}

/**
 * Counts a try of a code before anything depends on it, one after the other, so that simultaneous guesses count too.
 * INVALID_ARGUMENT CODE_INVALID for every code that is not right: the same answer, and the same work. Returns the ids of
 * the user's organization and of the code.
 */
export async function countTry(
  context: Context,
  userId: string,
  typed: string,
  call: Call,
): Promise<{ organizationId: string; codeId: string }> {
  const { store, keys } = context
  const { code, user } = await loadReads(store, { code: passwordCodeKey(userId), user: userKey(userId) })
  const seen = checkCode(keys, userId, { user: user.state, code: code.state, typed }, user.readAt)
  // Only where the code is right, so that a wrong one takes the same work for all.
  if (
    seen.answer === 'right' &&
    !(await mayStillActOn(context, seersOf(code.state!, user.state!.human!), userId, call))
  )
    seen.answer = 'dead'
  const { organizationId } = user
  const { caller, requestId, deadline, once } = call
  await store.execute({
    aggregate: passwordCodeKey(userId),
    reads: { user: userKey(userId), status: statuses.key(organizationId) },
    // If-Match is about the user. The answer to a right code is yet to be made, so only a refusal is stored here.
    call: { caller, requestId, deadline, ...(once && seen.answer !== 'right' && { once }) },
    decide({ state }: Aggregate<PasswordCode>, now, read): Decision<PasswordCodeEvent> {
      const judged = { user: read.user.state, code: state, status: read.status.state, typed }
      const { answer, codeId } = checkCode(keys, userId, judged, now)
      if (answer === 'right' && seen.answer === 'right' && codeId === seen.codeId)
        return { events: [], answer: undefined }
      const refused = { answer: undefined, error: codeInvalid() }
      if (answer === 'wrong') return { events: [{ type: 'rejected', payload: { codeId } }], ...refused }
      return { events: [], ...refused, commits: true }
    },
  })
  return { organizationId, codeId: seen.codeId }
}

/** The one error for all codes that are not right. */
export function codeInvalid() {
  return invalid([{ field: 'verificationCode', description: 'is wrong, expired, used or replaced' }], 'CODE_INVALID')
}

// A code that no user has.
function unknownCode({ currentId: keyId }: Keyring): NewCode {
  return { codeId: '', keyId, expiresAt: '' }
}
