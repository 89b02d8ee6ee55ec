import { isDeepStrictEqual } from 'node:util'
import type { AddApplicationKeyRequest, AddApplicationKeyResponse } from '#gen/roster/grants/v1/application_service'
import { faultsOfKey, joseName } from '#lib/credentials/key-algorithms'
import { newKeyPair, type ReadKey, readPublicKey } from '#lib/credentials/public-key'
import { limitReached, RosterError, type Violation } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { v7 as uuid } from 'uuid'
import { checkExpiry, expiryOf } from '../../applications/credential-expiry.ts'
import { changeableApplication } from '../../applications/trusted-application.ts'
import type { Context } from '../../context.ts'
import { type Application, type ApplicationEvent, livingKeys, proofOf } from '../../vocabulary/application.ts'

const mostKeys = 20

export const addApplicationKey = {
  check: async (context: Context, request: AddApplicationKeyRequest): Promise<Violation[]> => [
    ...(await checkExpiry(context, request)),
    ...faultsOfKey(request),
  ],

  async handle({ store }: Context, request: AddApplicationKeyRequest, call: Call): Promise<AddApplicationKeyResponse> {
    const { appId, publicKey } = request
    const keyId = uuid()
    const given = publicKey === undefined ? undefined : (readPublicKey(publicKey) as ReadKey)
    const place = { lane: call.caller.organizationId, deadline: call.deadline }
    const check = async () => {
      // Under an Idempotency-Key the answer may be stored already.
      if (call.once) return
      const application = changeableApplication(await store.load<Application>('application', appId), request, call)
      refuseOneMore(application.state, application.readAt)
    }
    const made = given ? undefined : await newKeyPair(joseName(request.algorithm) ?? 'RS256', place, check)
    const { algorithm, publicKey: jwk } = given ?? made!
    return store.execute({
      aggregate: { type: 'application', id: appId },
      call,
      decide(application: Aggregate<Application>, now): Decision<ApplicationEvent> {
        const { state } = changeableApplication(application, request, call)
        refuseOneMore(state, now)
        if (livingKeys(state, now).some((key) => isDeepStrictEqual(key.publicKey, jwk)))
          throw new RosterError('ALREADY_EXISTS', 'KEY_EXISTS', 'The application has this key already.')
        return {
          events: [{ type: 'key.added', payload: { keyId, algorithm, publicKey: jwk, ...expiryOf(request) } }],
          answer: undefined,
        }
      },
      respond: ({ after }) => ({
        keyId,
        details: details(after),
        keyDetails: made ? keyFile(after.state!.clientId, appId, keyId, made.privateKey) : Buffer.alloc(0),
      }),
    })
  },
}

function refuseOneMore(application: Application, now: Date): void {
  if (proofOf(application) !== 'keys')
    throw new RosterError(
      'FAILED_PRECONDITION',
      'AUTH_METHOD_WITHOUT_KEYS',
      'The application proves who it is without keys.',
    )
  if (livingKeys(application, now).length >= mostKeys)
    throw limitReached('application.keys', mostKeys, `An application has at most ${mostKeys} keys.`)
}

function keyFile(clientId: string, appId: string, keyId: string, key: string): Buffer {
  return Buffer.from(JSON.stringify({ type: 'application', keyId, key, appId, clientId }))
}
