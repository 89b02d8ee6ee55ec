import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { RosterError } from '#lib/errors'
import { readNow } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { marksOf, type Passkey } from '../../../directory/events/passkeys.ts'
import type { User, UserEvent } from '../../../directory/events/user.ts'
import { mayStillActOn } from '../../../directory/may-act-on.ts'
import { findUserById } from '../../../directory/login-names/login-user.ts'
import type { Factor, Given, ProvedFactor } from '../factor.ts'
import { readAssertion, refusalOf, refused } from './ceremony.ts'
import type { AskedAssertion } from '../binding.ts'
import { readChallenge } from './challenge.ts'
import { findCredential, goesBack, useOf } from './passkey-rows.ts'
import { relyingParty } from './relying-party.ts'
import { verifyAssertion } from './verify-assertion.ts'

export const kind = 'passkey'

/**
 * A signature of a passkey over a challenge of Roster's. Who it is follows from the credential alone; where the challenge
 * was made for a person, it must be one of theirs. `refused`: INVALID_ARGUMENT PASSKEY_UNKNOWN, PASSKEY_CHALLENGE_OVER,
 * PASSKEY_INVALID, PASSKEY_UNVERIFIED, PASSKEY_COPIED. Whether the policy allows it is seen where it is recorded.
 */
export const passkey: Factor = {
  async check(context: Context, { text, asked }: Given, call: Call): Promise<ProvedFactor> {
    if (!asked) throw refused('wrong')
    const { credential, client } = readAssertion(text)
    const now = await readNow(context.sql)
    const challenge = readChallenge(context.keys, asked.binding, client.challenge, now)
    if (!challenge) throw refused('late')
    const found = await findCredential(context, credential.id)
    const user = found && (await findUserById(context, found.userId))
    const own = user?.state.human?.passkeys?.find(({ id }) => id === found!.passkeyId)
    if (!user || !own) throw refused('unknown', credential.id)
    const { userId } = user
    const refuse = (error: unknown): never => {
      if (refusalOf(error)) context.failureCounts.note(userId, 'passkey-refused')
      throw error
    }
    const meant = 'userId' in asked.binding ? asked.binding.userId : undefined
    if (meant !== undefined && meant !== userId) throw refused('other-person')
    const { userHandle } = credential.response
    // Where nobody is named, the authenticator has to say whose it is.
    const isOfUser = userHandle === undefined ? meant !== undefined : userHandle === own.userHandle
    const assertion = await verifyAssertion(credential, own, client.challenge, relyingParty(context.config)).catch(
      refuse,
    )
    if (!isOfUser) refuse(refused('wrong'))
    // It may be the key of somebody whom the user's roles have outgrown.
    if (!(await mayStillActOn(context, [own.setBy], userId, call))) throw refused('unknown', credential.id)
    const second = isSecond(asked, challenge.verifies)
    if (!second && (own.secondOnly || !assertion.userVerified)) refuse(refused('unverified'))
    // Nobody was there when a browser made it by itself.
    const verifies = challenge.verifies || own.conditional === true
    if (verifies && !assertion.userVerified) refuse(refused('unverified'))
    if (goesBack(found.signCount, assertion.signCount)) {
      await noteCopy(context, userId, own, call)
      refuse(refused('counter'))
    }
    if (own.conditional) await noteVerified(context, userId, own, call)
    const { write, guard } = useOf(own, assertion)
    return {
      kind,
      check: {
        ...(assertion.userVerified && { userVerified: true }),
        ...(second && { second: true }),
        ...marksOf(own),
      },
      user,
      holds: (state: User | undefined) => state?.human?.passkeys?.some(({ id }) => id === own.id) === true,
      writes: [write],
      guards: [guard],
      uses: [],
      claims: [{ ...challenge.once, taken: refused('late') }],
    }
  },
}

// A login application says by what it asks of the authenticator which it is.
function isSecond({ binding }: AskedAssertion, verifies: boolean): boolean {
  return binding.for === 'second' || binding.for === 'recovery-check' || (binding.for === 'session' && !verifies)
}

// Before the factor is recorded, which is a decision of the session: the signature stays right whatever becomes of that.
async function noteVerified(
  { store }: Pick<Context, 'store'>,
  userId: string,
  { id: passkeyId }: Passkey,
  { requestId, deadline }: Pick<Call, 'requestId' | 'deadline'>,
): Promise<void> {
  await store.execute({
    aggregate: { type: 'user', id: userId },
    call: { caller: { userId }, requestId, deadline },
    decide({ state }: Aggregate<User>): Decision<UserEvent> {
      const isMarked = state?.human?.passkeys?.some(({ id, conditional }) => id === passkeyId && conditional)
      return { events: isMarked ? [{ type: 'passkey.verified', payload: { passkeyId } }] : [], answer: undefined }
    },
  })
}

// At the limit it is known already.
async function noteCopy(
  { store, keys }: Pick<Context, 'store' | 'keys'>,
  userId: string,
  { id: passkeyId }: Passkey,
  { requestId, deadline }: Pick<Call, 'requestId' | 'deadline'>,
): Promise<void> {
  const known = new RosterError('RESOURCE_EXHAUSTED', 'FACTOR_THROTTLED', 'It is known already.')
  const use = {
    key: keys.mac('passkey-copies', keys.currentId, [passkeyId]).toString('base64'),
    limits: [
      { most: 5, seconds: 600 },
      { most: 20, seconds: 86_400 },
    ],
    exceeded: () => known,
  }
  await store
    .execute({
      aggregate: { type: 'user', id: userId },
      call: { caller: { userId }, requestId, deadline },
      decide({ state }: Aggregate<User>): Decision<UserEvent> {
        if (!state?.human) return { events: [], answer: undefined }
        return { events: [{ type: 'passkey.refused', payload: { passkeyId } }], uses: [use], answer: undefined }
      },
    })
    .catch((error: unknown) => {
      if (error !== known) throw error
    })
}
