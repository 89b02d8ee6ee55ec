import { isDeepStrictEqual } from 'node:util'
import type { AddMachineKeyRequest, AddMachineKeyResponse } from '#gen/roster/users/v1/credential_service'
import { faultsOfKey, joseName } from '#lib/credentials/key-algorithms'
import { newKeyPair, type ReadKey, readPublicKey } from '#lib/credentials/public-key'
import { RosterError, type Violation } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { idOfDigits } from '#lib/id-of-digits'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { warningAtOnce } from '../../machine-credentials/expiry-warnings.ts'
import { checkExpiry, expiryOf, permitCredential } from '../../machine-credentials/new-credential.ts'
import { living } from '../../events/credentials.ts'
import { machineCredentials, type User, type UserEvent } from '../../events/user.ts'

const mostKeys = 20

export const addMachineKey = {
  permit: permitCredential,

  check: async (context: Context, request: AddMachineKeyRequest, call: Call): Promise<Violation[]> => [
    ...(await checkExpiry(context, request, call)),
    ...faultsOfKey(request),
  ],

  async handle({ store }: Context, request: AddMachineKeyRequest, call: Call): Promise<AddMachineKeyResponse> {
    const { userId, publicKey, expirationDate } = request
    const keyId = idOfDigits()
    const given = publicKey === undefined ? undefined : (readPublicKey(publicKey) as ReadKey)
    const place = { lane: call.caller.organizationId, deadline: call.deadline }
    const check = async () => {
      // Under an Idempotency-Key the answer may be stored already.
      if (call.once) return
      const user = await store.load<User>('user', userId)
      if (user) refuseOneMore(user.state, user.readAt)
    }
    const made = given ? undefined : await newKeyPair(joseName(request.algorithm) ?? 'RS256', place, check)
    const { algorithm, publicKey: jwk } = given ?? made!
    return store.execute({
      aggregate: { type: 'user', id: userId },
      call,
      decide: (user: Aggregate<User>, now) => decide(user, keyId, { algorithm, publicKey: jwk }, expirationDate, now),
      respond: ({ after }) => ({
        keyId,
        keyDetails: made ? keyFile(userId, keyId, made.privateKey) : Buffer.alloc(0),
        details: details(after),
      }),
    })
  },
}

function decide(
  { state }: Aggregate<User>,
  keyId: string,
  key: ReadKey,
  expirationDate: Date | undefined,
  now: Date,
): Decision<UserEvent> {
  const keys = living(machineCredentials(state).key, now)
  if (keys.some(({ publicKey }) => isDeepStrictEqual(publicKey, key.publicKey)))
    throw new RosterError('ALREADY_EXISTS', 'KEY_EXISTS', 'The machine has this key already.')
  refuseOneMore(state, now)
  return {
    events: [
      { type: 'key.added', payload: { keyId, ...key, ...expiryOf(expirationDate) } },
      ...warningAtOnce('key', keyId, expirationDate, now),
    ],
    answer: undefined,
  }
}

function refuseOneMore(state: User | undefined, now: Date) {
  if (living(machineCredentials(state).key, now).length >= mostKeys)
    throw new RosterError('FAILED_PRECONDITION', 'KEY_LIMIT_REACHED', `The machine has ${mostKeys} keys already.`)
}

function keyFile(userId: string, keyId: string, key: string): Buffer {
  return Buffer.from(JSON.stringify({ type: 'serviceaccount', keyId, key, userId, clientId: userId }))
}
