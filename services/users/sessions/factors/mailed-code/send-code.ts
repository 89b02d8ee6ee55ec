import { randomUUID } from 'node:crypto'
import { orUnavailable, readNow } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { isOpen } from '../../../../organization-status.ts'
import type { Context } from '../../../context.ts'
import { deriveCode, newCode } from '../../../directory/email/code.ts'
import { mailUses } from '../../../directory/email/mail-uses.ts'
import { keepUnsent } from '../../../directory/email/unsent-mails.ts'
import type { NewCode } from '../../../directory/events/code.ts'
import { type SignInCodeEvent, signInCodeKey } from '../../../directory/events/sign-in-code.ts'
import { userKey } from '../../../directory/events/user.ts'
import type { LoginUser } from '../../../directory/login-names/login-user.ts'
import { statuses } from '../../../directory/organizations/statuses.ts'
import { giveCode, keepCode } from '../../../directory/secrets/one-time-codes.ts'
import { hasPassedIn } from '../guesses.ts'
import { kind, purpose } from './mailed-code.ts'
import { isSetByCovering, isTrustedAddress } from './trusted-address.ts'

/** Seconds. */
const lifetime = 600

/** Where a code counts: in a session of the API, or a request and its browser. */
interface Place {
  id: string
  browserId: string | undefined
}

export interface SignInCodeDelivery {
  codeId: string
  place: Place
  /**
   * `return`: to the caller. Else it is mailed, with a link where there is a template; `requestId`: from its page, which has
   * kept a row for it.
   */
  how: 'return' | { urlTemplate?: string | undefined; requestId?: string }
}

/**
 * Makes a code that signs in where the policy of the user wants one, and mails it. Returns the code where the caller is to
 * have it. FAILED_PRECONDITION FACTOR_NOT_AVAILABLE where the address proves too little; RESOURCE_EXHAUSTED MAILS_THROTTLED.
 */
export async function sendSignInCode(
  context: Context,
  user: LoginUser,
  { codeId, place, how }: SignInCodeDelivery,
  call: Call,
): Promise<string | undefined> {
  const { keys, store } = context
  const { userId, organizationId } = user
  const setBy = user.state.human?.emailSetBy
  const [isCovered, isKnown] = await Promise.all([
    isSetByCovering(context, user, call),
    hasPassedIn(context, userId, kind, place.browserId),
  ])
  if (!isCovered) throw noCode()
  const { caller, requestId, deadline } = call
  const { made, text } = await store.execute({
    aggregate: signInCodeKey(userId),
    reads: { user: userKey(userId), status: statuses.key(organizationId) },
    call: { caller, requestId, deadline },
    decide(_last, now, { user: { state }, status }): Decision<SignInCodeEvent, { made: NewCode; text?: string }> {
      if (!isOpen(status) || !isTrustedAddress(context, state, now)) throw noCode()
      const { email, emailSetBy } = state!.human!
      if (emailSetBy !== setBy) throw noCode()
      const made = newCode(codeId, keys, lifetime, now)
      const delivery = how === 'return' ? 'returned' : 'mailed'
      const { urlTemplate, requestId: ofPage } = how === 'return' ? {} : how
      const detail = {
        ...(urlTemplate !== undefined && { urlTemplate }),
        ...(ofPage !== undefined && { ofPage }),
        ...(how === 'return' && { seenBy: caller.userId }),
      }
      const code = { code: made, userId, detail }
      const bound = { purpose: place.id, browserId: place.browserId }
      const mail = { kind: purpose, userId, codeId, expiresAt: made.expiresAt }
      return {
        organizationId,
        events: [{ type: 'requested', payload: { codeId, delivery } }],
        writes: [
          ofPage === undefined ? keepCode(keys, purpose, { ...code, ...bound }) : giveCode(keys, purpose, code),
          ...(how === 'return' ? [] : [keepUnsent(mail, now)]),
        ],
        // A browser in which the person did so before is not held up by the mails that strangers ask for.
        uses:
          how === 'return'
            ? []
            : mailUses(context, email, organizationId, 'sign-in', isKnown ? place.browserId : undefined),
        answer: { made, ...(how === 'return' && { text: deriveCode(keys, made, userId, email, purpose) }) },
      }
    },
    respond: ({ answer }) => answer,
  })
  if (how !== 'return')
    context.announceMail({ kind: purpose, userId, codeId, organizationId, expiresAt: made.expiresAt })
  return text
}

/** Keeps a row before anybody is looked up: a try is counted and answered alike, whether somebody gets the code or nobody. */
export async function keepNoCode({ sql, keys }: Context, codeId: string, place: Place): Promise<void> {
  const code = newCode(codeId, keys, lifetime, await orUnavailable(readNow(sql)))
  const bound = { userId: randomUUID(), purpose: place.id, browserId: place.browserId }
  await orUnavailable(sql.begin((transaction) => keepCode(keys, purpose, { code, ...bound })(transaction)))
}

function noCode(): RosterError {
  return new RosterError(
    'FAILED_PRECONDITION',
    'FACTOR_NOT_AVAILABLE',
    'No code by mail signs this user in: the address is not verified, was changed of late, or was set by somebody with fewer roles.',
  )
}
