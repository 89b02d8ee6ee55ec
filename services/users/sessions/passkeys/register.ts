import { randomBytes, randomUUID } from 'node:crypto'
import { v7 as uuid } from 'uuid'
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server'
import { type Aggregate, details, type Existing } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { readNow } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import type { Passkey } from '../../directory/events/passkeys.ts'
import type { User, UserEvent } from '../../directory/events/user.ts'
import { type OneTimeCode, usingUpCode } from '../../directory/secrets/one-time-codes.ts'
import { isActive } from '../../directory/states/user-state.ts'
import { loadLoginPolicy } from '../login-policy/load-login-policy.ts'
import { makerOf } from '../factors/passkey/aaguids.ts'
import { readRegistration, refused } from '../factors/passkey/ceremony.ts'
import type { Binding } from '../factors/binding.ts'
import { makeChallenge, readChallenge } from '../factors/passkey/challenge.ts'
import { noticeOf, settleNotice, withoutNotice } from './mail.ts'
import { creationOptions, type Wanted } from '../factors/passkey/options.ts'
import { keepPasskey, notTaken } from '../factors/passkey/passkey-rows.ts'
import { relyingParty } from '../factors/passkey/relying-party.ts'
import { verifyRegistration } from '../factors/passkey/verify-registration.ts'

/** So many passkeys a user has at most. */
export const mostPasskeys = 20

export type NewFor = Extract<Binding, { for: 'account' | 'registration' }>

/**
 * What a browser is asked for to make a passkey of a user. Nothing is stored. FAILED_PRECONDITION FACTOR_NOT_AVAILABLE,
 * NOT_A_HUMAN; RESOURCE_EXHAUSTED PASSKEYS_FULL.
 */
export async function beginRegistration(
  context: Context,
  user: Pick<Existing<User>, 'organizationId' | 'state'>,
  binding: NewFor,
  wanted: Omit<Wanted, 'userHandle'>,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  await refuseWhereNotAllowed(context, user.organizationId)
  refuseFull(user.state)
  const { id } = relyingParty(context.config)
  const present = user.state.human!.passkeys?.find(({ rpId }) => rpId === id)
  // 32 bytes that say nothing. One that another replica makes at the same moment serves beside it.
  const userHandle = present?.userHandle ?? randomBytes(32).toString('base64url')
  const now = await readNow(context.sql)
  const challenge = makeChallenge(context.keys, binding, { verifies: !wanted.secondOnly, userHandle }, now)
  return creationOptions(id, challenge, user.state, { ...wanted, userHandle })
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
  { userId, credential: text, name, binding, secondOnly, code, isOwn }: Finished,
  call: Call,
): Promise<Registered> {
  const { credential, client, transports, discoverable } = readRegistration(text)
  const now = await readNow(context.sql)
  const challenge = readChallenge(context.keys, binding, client.challenge, now)
  if (!challenge) throw refused('late')
  const { signCount, backedUp, userVerified, ...made } = await verifyRegistration(
    credential,
    client.challenge,
    relyingParty(context.config),
  )
  if (challenge.verifies && !userVerified) throw refused('unverified')
  const passkeyId = (binding.for === 'registration' && binding.passkeyId) || uuid()
  const facts: Omit<Passkey, 'id' | 'createdAt'> = {
    ...made,
    name: name || (makerOf(made.aaguid) ?? ''),
    userHandle: challenge.userHandle!,
    transports,
    ...(discoverable !== undefined && { discoverable }),
    ...(secondOnly && { secondOnly: true }),
  }
  const used = code && usingUpCode(code, refused('late'))
  const mailId = randomUUID()
  const store = (isTold: boolean) =>
    context.store.execute({
      aggregate: { type: 'user', id: userId },
      call,
      decide({ state, organizationId }: Aggregate<User>, at): Decision<UserEvent, ReturnType<typeof noticeOf>> {
        if (!isActive(state) || !state?.human) throw refused('wrong')
        refuseFull(state)
        const notice = isTold
          ? noticeOf(context, 'added', state.human, { userId, organizationId, mailId, isOwn }, at)
          : undefined
        const codeId = code && { codeId: code.code.codeId }
        return {
          events: [{ type: 'passkey.added', payload: { passkeyId, ...facts, ...codeId } }],
          writes: [
            keepPasskey({ ...facts, id: passkeyId, userId, signCount, backedUp }, at),
            ...(used ? [used.write] : []),
            ...(notice?.writes ?? []),
          ],
          guards: [notTaken(facts.credentialId), ...(used ? [used.guard] : [])],
          claims: [{ ...challenge.once, taken: refused('late') }],
          ...(notice && { uses: notice.uses }),
          answer: notice,
        }
      },
      respond: ({ after, answer }) => ({ details: details(after), notice: answer }),
    })
  const { details: answered, notice } = await withoutNotice(store, isOwn)
  settleNotice(context, notice)
  return { passkeyId, details: answered, discoverable }
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
  /** The user makes it. */
  isOwn: boolean
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
