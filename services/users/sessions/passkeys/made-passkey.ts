import { randomBytes } from 'node:crypto'
import { v7 as uuid } from 'uuid'
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server'
import { readNow, type Write } from '#lib/database/database'
import type { Guard, UniqueKey } from '#lib/eventstore/command'
import type { RosterError } from '#lib/errors'
import type { Context } from '../../context.ts'
import { marksOf, type Passkey } from '../../directory/events/passkeys.ts'
import { knownName, type User, type UserEvent } from '../../directory/events/user.ts'
import type { LoginUser } from '../../directory/login-names/login-user.ts'
import type { OneTimeCode } from '../../directory/secrets/one-time-codes.ts'
import type { Binding } from '../factors/binding.ts'
import type { ProvedFactor } from '../factors/factor.ts'
import { makerOf } from '../factors/passkey/aaguids.ts'
import { readRegistration, refused } from '../factors/passkey/ceremony.ts'
import { makeChallenge, readChallenge } from '../factors/passkey/challenge.ts'
import { creationOptions, type Owner, type Wanted } from '../factors/passkey/options.ts'
import { keepPasskey, notTaken } from '../factors/passkey/passkey-rows.ts'
import { relyingParty } from '../factors/passkey/relying-party.ts'
import { verifyRegistration } from '../factors/passkey/verify-registration.ts'

/** Of a user who is there. */
export function ownerOf(user: Pick<User, 'userName' | 'nameIsMade' | 'human'>): Owner {
  const { passkeys = [], profile } = user.human!
  return { name: knownName(user), displayName: profile.displayName, passkeys }
}

/** What a browser is asked for to make a passkey. Nothing is stored. */
export async function askForPasskey(
  { config, keys, sql }: Pick<Context, 'config' | 'keys' | 'sql'>,
  owner: Owner,
  binding: Binding,
  wanted: Omit<Wanted, 'userHandle' | 'conditional'>,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { id } = relyingParty(config)
  const present = owner.passkeys.find(({ rpId }) => rpId === id)
  // 32 bytes that say nothing. One that another replica makes at the same moment serves beside it.
  const userHandle = present?.userHandle ?? randomBytes(32).toString('base64url')
  const conditional = isConditional(binding)
  const verifies = !wanted.secondOnly && !conditional
  const challenge = makeChallenge(keys, binding, { verifies, userHandle }, await readNow(sql))
  return creationOptions(id, challenge, owner, { ...wanted, userHandle, conditional })
}

/** A passkey that a browser made, before it is stored. */
export interface MadePasskey {
  passkeyId: string
  /** The browser said that it cannot be found without the name of its user. */
  discoverable: boolean | undefined
  event(by?: MadeBy): UserEvent
  /** Beside the event. */
  stored(
    userId: string,
    now: Date,
  ): { writes: Write[]; guards: Guard[]; claims: (UniqueKey & { taken: RosterError })[] }
}
type MadeBy = Pick<
  Extract<UserEvent, { type: 'passkey.added' }>['payload'],
  'codeId' | 'passwordCodeId' | 'setBy' | 'byLink'
>

interface Sent {
  /** JSON, as a browser's `toJSON()` writes it. */
  credential: string
  /** Empty: that of what made it, if it is known. */
  name: string
  binding: Binding
  secondOnly?: boolean
  passkeyId?: string | undefined
}

/** Throws `refused`. */
export async function readMade(
  { config, keys, sql }: Pick<Context, 'config' | 'keys' | 'sql'>,
  { credential: text, name, binding, secondOnly = false, passkeyId: given = '' }: Sent,
): Promise<MadePasskey> {
  const { credential, client, transports, discoverable } = readRegistration(text)
  const challenge = readChallenge(keys, binding, client.challenge, await readNow(sql))
  if (!challenge) throw refused('late')
  const { signCount, backedUp, userVerified, ...made } = await verifyRegistration(
    credential,
    client.challenge,
    relyingParty(config),
    isConditional(binding),
  )
  if (challenge.verifies && !userVerified) throw refused('unverified')
  const passkeyId = given || uuid()
  const facts: Omit<Passkey, 'id' | 'createdAt'> = {
    ...made,
    name: name || (makerOf(made.aaguid) ?? ''),
    userHandle: challenge.userHandle!,
    transports,
    ...(discoverable !== undefined && { discoverable }),
    ...(secondOnly && { secondOnly: true }),
    ...(isConditional(binding) && { conditional: true }),
  }
  return {
    passkeyId,
    discoverable,
    event: (by) => ({ type: 'passkey.added', payload: { passkeyId, ...facts, ...by } }),
    stored: (userId, now) => ({
      writes: [keepPasskey({ ...facts, id: passkeyId, userId, signCount, backedUp }, now)],
      guards: [notTaken(facts.credentialId)],
      claims: [{ ...challenge.once, taken: refused('late') }],
    }),
  }
}

// Only such a challenge is taken without a touch. What the browser says of it does not count.
function isConditional(binding: Binding): boolean {
  return binding.for === 'conditional'
}

/**
 * A passkey that was made a moment ago in place of a password, and so opens the session: whoever made it can sign with it,
 * and its authenticator made sure of the person.
 */
export function provedMade(user: LoginUser, passkeyId: string): ProvedFactor {
  const find = (state: User | undefined) => state?.human?.passkeys?.find(({ id }) => id === passkeyId)
  const check = { userVerified: true, ...marksOf(find(user.state) ?? {}) }
  const holds = (state: User | undefined) => find(state) !== undefined
  return { kind: 'passkey', check, user, holds, writes: [], guards: [], uses: [] }
}

/** What the event of a passkey says of the link that it was made by. */
export function madeByLink({ code: { codeId }, detail }: OneTimeCode): { codeId: string; setBy?: string } {
  const { seenBy } = detail
  return { codeId, ...(seenBy && { setBy: seenBy }) }
}
