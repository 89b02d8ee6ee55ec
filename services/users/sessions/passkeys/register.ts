import { randomUUID } from 'node:crypto'
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server'
import { type Aggregate, type AggregateKey, details, type Existing } from '#lib/eventstore/aggregate'
import type { Decision, Guard } from '#lib/eventstore/command'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { type PasswordCode, passwordCodeKey } from '../../directory/events/password-code.ts'
import { endingUnproved } from '../../directory/links/unproved.ts'
import type { User, UserEvent } from '../../directory/events/user.ts'
import { type OneTimeCode, usingUpCode } from '../../directory/secrets/one-time-codes.ts'
import { isActive } from '../../directory/states/user-state.ts'
import { loadLoginPolicy } from '../login-policy/load-login-policy.ts'
import { refused } from '../factors/passkey/ceremony.ts'
import type { Binding } from '../factors/binding.ts'
import type { MarkOfLink } from '../mark-of-link.ts'
import { noticeOf, settleNotice, withoutNotice } from './mail.ts'
import type { Wanted } from '../factors/passkey/options.ts'
import { askForPasskey, madeByLink, ownerOf, readMade } from './made-passkey.ts'

/** So many passkeys a user has at most. */
export const mostPasskeys = 20

export type NewFor = Extract<Binding, { for: 'account' | 'registration' | 'recovery' | 'offer' | 'conditional' }>

/**
 * What a browser is asked for to make a passkey of a user. Nothing is stored. FAILED_PRECONDITION FACTOR_NOT_AVAILABLE,
 * NOT_A_HUMAN; RESOURCE_EXHAUSTED PASSKEYS_FULL.
 */
export async function beginRegistration(
  context: Context,
  user: Pick<Existing<User>, 'organizationId' | 'state'>,
  binding: NewFor,
  wanted: Omit<Wanted, 'userHandle' | 'conditional'>,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  await refuseWhereNotAllowed(context, user.organizationId)
  refuseFull(user.state)
  return askForPasskey(context, ownerOf(user.state), binding, wanted)
}

export interface Registered {
  passkeyId: string
  /** Of the answer. */
  details: ReturnType<typeof details>
  /** The browser said that it cannot be found without the name of its user. */
  discoverable: boolean | undefined
}

/**
 * Adds a passkey that a browser made. Throws `refused`; RESOURCE_EXHAUSTED PASSKEYS_FULL; errors of the mail that tells of
 * it, where the user made it.
 */
export async function finishRegistration(
  context: Context,
  { userId, credential: text, name, binding, secondOnly, code, recovery, guards = [], isOwn, mark }: Finished,
  call: Call,
): Promise<Registered> {
  const passkeyId = binding.for === 'registration' ? binding.passkeyId : undefined
  const user = await context.store.load<User>('user', userId)
  if (!user) throw refused('wrong')
  // The policy may have changed since it was begun.
  await refuseWhereNotAllowed(context, user.organizationId)
  const made = await readMade(context, { credential: text, name, binding, secondOnly, passkeyId })
  // It is to be all that the person signs in by.
  if (recovery && made.discoverable === false) throw refused('wrong')
  const by = recovery ? { passwordCodeId: recovery.codeId } : code && madeByLink(code)
  // A second factor lets in nobody by itself.
  const ofLink = secondOnly ? {} : mark
  const reads: { code?: AggregateKey<PasswordCode> } = recovery ? { code: passwordCodeKey(userId) } : {}
  const used = code && usingUpCode(code, refused('late'))
  const mailId = randomUUID()
  const store = (isTold: boolean) =>
    context.store.execute({
      aggregate: { type: 'user', id: userId },
      reads,
      call,
      decide({ state, organizationId }: Aggregate<User>, at, read): Decision<UserEvent, ReturnType<typeof noticeOf>> {
        if (!isActive(state) || !state?.human) throw refused('wrong')
        if (recovery && !recovery.holds(state, read.code?.state, at)) throw refused('late')
        refuseFull(state)
        const notice = isTold
          ? noticeOf(context, 'added', state.human, { userId, organizationId, mailId, isOwn }, at)
          : undefined
        const stored = made.stored(userId, at)
        const ends = recovery && endingUnproved(state.human)
        return {
          events: [...(ends?.events ?? []), made.event({ ...by, ...ofLink })],
          ...(ends && { releases: ends.releases }),
          writes: [...stored.writes, ...(used ? [used.write] : []), ...(notice?.writes ?? [])],
          guards: [...stored.guards, ...(used ? [used.guard] : []), ...guards],
          claims: stored.claims,
          ...(notice && { uses: notice.uses }),
          answer: notice,
        }
      },
      respond: ({ after, answer }) => ({ details: details(after), notice: answer }),
    })
  const { details: answered, notice } = await withoutNotice(store, isOwn)
  settleNotice(context, notice)
  return { passkeyId: made.passkeyId, details: answered, discoverable: made.discoverable }
}

interface Finished {
  userId: string
  /** JSON, as a browser's `toJSON()` writes it. */
  credential: string
  /** Empty: that of what made it, if it is known. */
  name: string
  binding: NewFor
  secondOnly: boolean
  /** Of a link: it is used up. */
  code?: OneTimeCode | undefined
  /** In place of a new password, by a code that still counts with what was proved beside it. */
  recovery?: { codeId: string; holds(user: User, code: PasswordCode | undefined, now: Date): boolean } | undefined
  /** What must still hold then. */
  guards?: Guard[]
  /** The user makes it. */
  isOwn: boolean
  /** By the session in which it is made. */
  mark?: MarkOfLink
}

export async function refuseWhereNotAllowed(context: Context, organizationId: string): Promise<void> {
  const { allowPasskeys } = await loadLoginPolicy(context, organizationId)
  if (!allowPasskeys) throw refused('not-allowed')
}

function refuseFull(user: User): void {
  if (!user.human) throw new RosterError('FAILED_PRECONDITION', 'NOT_A_HUMAN', 'Only a human has passkeys.')
  if ((user.human.passkeys ?? []).length >= mostPasskeys)
    throw new RosterError('RESOURCE_EXHAUSTED', 'PASSKEYS_FULL', `A user has ${mostPasskeys} passkeys at most.`)
}
