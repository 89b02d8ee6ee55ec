import { randomUUID } from 'node:crypto'
import type { ObjectDetails } from '#gen/roster/object/v1/object'
import { invalid, RosterError } from '#lib/errors'
import { type Aggregate, type AggregateKey, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { ReadBy } from '#lib/eventstore/reads'
import type { MailWithoutEvent } from '#lib/events/hints'
import { countLimit } from '#lib/limits-hit'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { isNoticeDropped } from '../email/mail-uses.ts'
import { keepUnsent } from '../email/unsent-mails.ts'
import { kind, lifetime, usesOf } from './password-changed-mail.ts'
import type { Human } from '../events/human.ts'
import { endingUnproved } from '../links/unproved.ts'
import { existing } from '../states/user-state.ts'
import { networkOf } from '../rate-limits/token-buckets.ts'
import { outlives } from '../events/sign-outs.ts'
import { passwordOf, type User, type UserEvent } from '../events/user.ts'
import { type PasswordCode, passwordCodeKey } from '../events/password-code.ts'
import { findUserById } from '../login-names/login-user.ts'
import { passwordInvalid, proveCurrentPassword } from './current-password.ts'
import type { OrganizationStatus } from '../../../organization-status.ts'
import { statuses } from '../organizations/statuses.ts'
import { codeInvalid, countTry, checkCode } from './reset-code.ts'
import { refuseWeakPassword } from './refuse-weak-password.ts'
import { storePassword } from './store-password.ts'

/**
 * A proof that the caller may change a password: the present one, in a field of the request; a code; or that the session
 * which goes on has a factor that `judge` found to be fresh. `must-change`: and the user has to choose another one. `gone`:
 * what is thrown where by then the session has ended, or the password is another. `mark`: that of the
 * session.
 */
export type PasswordProof =
  | { kind: 'password'; password: string; field: string }
  | { kind: 'code'; code: string }
  | { kind: 'fresh-factor'; gone: Error; mark: { byLink?: true } }
  | { kind: 'must-change'; gone: Error }

/** A change of a password, and the proof for it. Without one, the caller has permission. */
export interface PasswordChange {
  userId: string
  newPassword: string
  /** That holds the new password. */
  field: string
  proof?: PasswordProof | undefined
  /** The user has to choose another one. Without a proof alone. */
  changeRequired?: boolean
  /** The session that goes on. Default: that of the user who calls. */
  kept?: string
}

/**
 * Changes the password of a human. The user's sessions end, except the one that the user calls with, and so do all
 * authorizations, except those that began with that one. The errors of
 * the proof come first: `countTry` or `proveCurrentPassword`. Then those of `refuseWeakPassword`, INVALID_ARGUMENT
 * PASSWORD_UNCHANGED where the user must choose another one, NOT_FOUND USER_NOT_FOUND, FAILED_PRECONDITION NOT_A_HUMAN.
 */
export async function changePassword(
  context: Context,
  { userId, newPassword, field, proof, changeRequired = false, kept: named }: PasswordChange,
  call: Call,
): Promise<{ details: ObjectDetails }> {
  const kept = named ?? (call.caller.userId === userId ? call.caller.sessionId : '')
  const { reads, holds } = await prove(context, { userId, sessionId: kept }, proof, call)
  const { caller, clientAddress, deadline } = call
  // Judging and hashing take long, so they come after the proof.
  const user = await context.store.load<User>('user', userId)
  refuseWeakPassword(newPassword, field, { ...user?.state?.human, userName: user?.state?.userName })
  const lane = caller.userId || (networkOf(clientAddress) ?? clientAddress)
  const present = (await findUserById(context, userId))?.hash ?? null
  // Whoever set it knows it.
  const isChosen = proof !== undefined && user?.state.human?.passwordMustChange === true
  if (isChosen && (await context.passwordHashes.verify(newPassword, present, { lane, preferred: true, deadline })))
    throw invalid([{ field, description: 'is the present password, which must change' }], 'PASSWORD_UNCHANGED')
  const hash = await context.passwordHashes.hash(newPassword, { lane, deadline })
  const keptSessionId = await sessionToKeep(context, kept)
  const hadOne = present !== null
  const mailId = randomUUID()
  const change = (isTold: boolean): Promise<{ details: ObjectDetails; mail: Mail | undefined }> =>
    context.store.execute({
      aggregate: { type: 'user', id: userId },
      reads,
      call,
      decide({ state, organizationId }: Aggregate<User>, now, read): Decision<UserEvent, Mail | undefined> {
        // All may have changed since the proof.
        const { address, ends, ...proved } = holds(state, read, now)
        refuseMachine(state)
        const human = state!.human!
        const expiresAt = new Date(now.getTime() + lifetime).toISOString()
        const mail = isTold && hadOne && human.isVerified ? { kind, codeId: mailId, userId, expiresAt } : undefined
        return {
          events: [
            {
              type: 'password.changed',
              payload: {
                ...proved,
                ...(keptSessionId !== undefined && { keptSessionId }),
                ...(changeRequired && { changeRequired: true as const }),
              },
            },
            ...(address ? [provedBy(address)] : []),
            ...(ends?.events ?? []),
          ],
          ...(ends && { releases: ends.releases }),
          writes: [...storePassword(userId, hash, kept), ...(mail ? [keepUnsent(mail, now)] : [])],
          ...(mail && { uses: usesOf(context, human, organizationId, ['', userId].includes(caller.userId)) }),
          answer: mail && { ...mail, organizationId },
        }
      },
      respond: ({ after, answer }) => ({ details: details(after), mail: answer }),
    })
  const { mail, ...answer } = await change(true).catch((error: unknown) => {
    if (!isNoticeDropped(error)) throw error
    countLimit(error)
    return change(false)
  })
  if (mail) context.announceMail(mail)
  return answer
}

type Mail = MailWithoutEvent

// Returns the check that the proof still holds: it throws where not, and returns what the event says of it.
async function prove(
  context: Context,
  { userId, sessionId }: { userId: string; sessionId: string },
  proof: PasswordProof | undefined,
  call: Call,
): Promise<Proved> {
  if (proof?.kind === 'code') {
    const { organizationId } = await countTry(context, userId, proof.code, call)
    const hadOne = ((await findUserById(context, userId))?.hash ?? null) !== null
    return {
      reads: { code: passwordCodeKey(userId), status: statuses.key(organizationId) },
      holds(user, { code, status }, now) {
        const judged = { user, code: code?.state, status: status?.state, typed: proof.code }
        const { answer, codeId } = checkCode(context.keys, userId, judged, now)
        if (answer !== 'right') throw codeInvalid()
        const { delivery, askedBy } = code!.state!
        const isMailed = delivery !== 'returned'
        // The first one of a user is theirs by the address alone, as that of a registration; unless they have signed in otherwise.
        const renews = hadOne || hasAnyFactor(user?.human)
        const proves = isMailed && askedBy === undefined && user?.human?.isVerified === false
        return {
          codeId,
          ...(renews && isMailed && { byMail: true }),
          ...(proves && { address: codeId }),
          ...(isMailed && { ends: endingUnproved(user?.human) }),
        }
      },
    }
  }
  const before = (await context.store.load<User>('user', userId))?.state
  refuseMachine(before)
  const proved =
    proof?.kind === 'password' ? await proveCurrentPassword(context, userId, proof, call) : passwordOf(before)
  const ofSession = proof && 'gone' in proof ? proof : undefined
  return {
    reads: ofSession ? { session: { type: 'session', id: sessionId } } : {},
    holds(user, { session }) {
      if (proof?.kind === 'password' && passwordOf(user) !== proved) throw passwordInvalid(proof.field)
      if (ofSession && (passwordOf(user) !== proved || !goesOn(session, sessionId, user))) throw ofSession.gone
      if (ofSession?.kind === 'must-change' && !user?.human?.passwordMustChange) throw ofSession.gone
      // What the present password was proved by, it proves.
      const { passwordByMail: byMail, passwordByLink: byLink } = (proof && user?.human) || {}
      const isByLink = proof?.kind === 'fresh-factor' ? proof.mark.byLink : byLink
      return { ...(byMail && { byMail }), ...(isByLink && { byLink: true as const }) }
    },
  }
}

// It was not ended: neither alone, nor together with all others by a lock, a new password or the person.
function goesOn(session: Aggregate<OfSession> | undefined, sessionId: string, user: User | undefined): boolean {
  const state = session?.state
  return state?.ended === false && outlives(user, sessionId, state.signOuts ?? 0)
}

function hasAnyFactor({ passkeys = [], secondFactors = [] }: Partial<Human> = {}): boolean {
  return passkeys.length + secondFactors.length > 0
}

interface Proved {
  reads: ProofKeys
  /** `address`: the mailed code that proves it as well. `ends`: what does not outlive a proof by the mailbox alone. */
  holds(
    user: User | undefined,
    read: ReadBy<ProofKeys>,
    now: Date,
  ): { codeId?: string; byMail?: true; byLink?: true; address?: string; ends?: ReturnType<typeof endingUnproved> }
}

// It is none of the codes for addresses, whose worth the events say. So this one says it, also to the former release.
function provedBy(codeId: string): UserEvent {
  return { type: 'email.verified', payload: { codeId, vouchedOn: 'instance' } }
}

/** What of a session says whether it goes on. */
interface OfSession {
  ended: boolean
  signOuts?: number
}

type ProofKeys = {
  code?: AggregateKey<PasswordCode>
  status?: AggregateKey<OrganizationStatus>
  session?: AggregateKey<OfSession>
}

// No other session begins authorizations.
async function sessionToKeep({ store }: Context, id: string): Promise<string | undefined> {
  const session = id === '' ? undefined : await store.load<OfSession>('session', id)
  // One of a former release begins no authorization.
  return session?.state.signOuts === undefined ? undefined : id
}

function refuseMachine(user: User | undefined): void {
  if (!existing(user).human) throw new RosterError('FAILED_PRECONDITION', 'NOT_A_HUMAN', 'Only a human has a password.')
}
