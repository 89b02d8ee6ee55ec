import type { IssueTokenRequest, IssueTokenResponse } from '#gen/roster/users/v1/oauth_service'
import { verifyProof } from '#lib/credentials/dpop'
import { orUnavailable, readNow } from '#lib/database/database'
import type { Keyring } from '#lib/encryption/keys'
import { RosterError, type Violation } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { loadAuthorization } from '../authorization/later-facts.ts'
import { type PresentedGrant, type Presenter, readCode, redeemCode } from '../authorization/redeem.ts'
import { refresh } from '../refresh/refresh.ts'
import { type BoundKey, issueAccessToken } from '../tokens/access-token.ts'
import {
  authenticateBearer,
  authenticateClient,
  authenticateOnce,
  checkClient,
  type MachineClient,
} from '../clients/client.ts'
import type { Context } from '../../context.ts'
import type { ProvedClient } from '../clients/failing-client.ts'
import { grantTypes } from '../tokens/grant-types.ts'
import { tokenEndpointOf } from '../../directory/issuer.ts'
import { findRoles } from '../tokens/scoped-roles.ts'
import { invalidScope, readScope } from '../tokens/scope.ts'
import { singleUse, useUp } from '../clients/single-use.ts'
import { readRefreshToken } from '../tokens/refresh-token.ts'

export const issueToken = {
  check,
  // What may be used once says itself what a repetition is.
  ignoresKey: ({ grantType }: IssueTokenRequest) => ofPeople.has(grantType),
  beforeReplay,
  handle,
}

/** A grant of people, which applications present. `read`: what the text says; undefined where it is no such token. */
interface PeopleGrant<Read extends { authorizationId: string }> {
  needs: 'code' | 'refreshToken'
  read(keys: Keyring, text: string): Read | undefined
  exchange(
    context: Context,
    request: IssueTokenRequest,
    presented: (Read & PresentedGrant) | undefined,
    by: Presenter,
    call: Call,
  ): Promise<IssueTokenResponse>
}

const ofPeople = new Map([
  [grantTypes.authorizationCode, grantOf({ needs: 'code', read: readCode, exchange: redeemCode })],
  [grantTypes.refreshToken, grantOf({ needs: 'refreshToken', read: readRefreshToken, exchange: refresh })],
])

function grantOf<Read extends { authorizationId: string }>({ needs, read, exchange }: PeopleGrant<Read>) {
  return {
    needs,
    async handle(context: Context, request: IssueTokenRequest, call: Call): Promise<IssueTokenResponse> {
      const presented = read(context.keys, request[needs])
      // Together, since loads of the same moment share a statement.
      const [client, authorization] = await Promise.all([
        authenticateOnce(context, request, call),
        presented && loadAuthorization(context, presented.authorizationId),
      ])
      if (!('application' in client) || !client.application.oidc)
        throw unauthorizedClient('Only applications that people sign in to')
      const dpopThumbprint = await useProof(context, client, request.dpopProof)
      return exchange(context, request, presented && { ...presented, authorization }, { client, dpopThumbprint }, call)
    },
  }
}

function check(_context: Context, request: IssueTokenRequest): Violation[] {
  const { grantType, assertion, clientSecret, clientAssertion } = request
  const needs = grantType === grantTypes.jwtBearer ? 'assertion' : ofPeople.get(grantType)?.needs
  const missing = needs && request[needs] === '' ? [{ field: needs, description: 'is needed for this grant' }] : []
  if (grantType !== grantTypes.jwtBearer) return [...missing, ...checkClient(request)]
  if (assertion === '') return missing
  // The assertion is the only proof. A second one could be of another machine.
  return Object.entries({ clientSecret, clientAssertion }).flatMap(([field, value]) =>
    value === '' ? [] : [{ field, description: 'must not come with this grant' }],
  )
}

async function handle(context: Context, request: IssueTokenRequest, call: Call): Promise<IssueTokenResponse> {
  // Ignored, the token would have another audience than the client asked for. An empty value counts as not sent.
  if (request.resource.some((name) => name !== ''))
    throw new RosterError('INVALID_ARGUMENT', 'INVALID_TARGET', 'The parameter resource is not supported.')
  const ofPerson = ofPeople.get(request.grantType)
  return ofPerson ? ofPerson.handle(context, request, call) : issueToMachine(context, request, call)
}

async function useProof(context: Context, client: ProvedClient, text: string): Promise<string | undefined> {
  if (text === '') return undefined
  const { thumbprint, once } = await readProof(context, client, text, await orUnavailable(readNow(context.sql)))
  return (await useUp(context.sql, once)) ? thumbprint : client.fail('proof', once.taken)
}

async function issueToMachine(context: Context, request: IssueTokenRequest, call: Call): Promise<IssueTokenResponse> {
  const { grantType, dpopProof } = request
  const scope = readScope(request.scope)
  const client = await authenticate(context, request, call)
  const { machine } = client
  const isBound = dpopProof !== '' || machine.state.machine!.dpopRequired
  const bound = isBound ? await readProof(context, client, dpopProof, machine.readAt) : undefined
  const roles = await findRoles(context, machine, scope, call)
  if (scope.projectId !== undefined && roles.projectRoles.length === 0) throw invalidScope()
  try {
    return await issueAccessToken(context, { client, grantType, scope, roles, bound }, call)
  } catch (error) {
    if (client.once && error === client.once.taken) return client.fail('replayed')
    if (bound && error === bound.once.taken) return client.fail('proof', bound.once.taken)
    throw error
  }
}

async function beforeReplay(context: Context, request: IssueTokenRequest, call: Call): Promise<void> {
  await authenticate(context, request, call)
}

function authenticate(context: Context, request: IssueTokenRequest, call: Call): Promise<MachineClient> {
  const authenticator = authenticators.get(request.grantType)
  if (!authenticator)
    throw new RosterError('INVALID_ARGUMENT', 'UNSUPPORTED_GRANT_TYPE', 'There is no such grant type.')
  return authenticator(context, request, call)
}

type Authenticate = (context: Context, request: IssueTokenRequest, call: Call) => Promise<MachineClient>

const authenticators = new Map<string, Authenticate>([
  [
    grantTypes.clientCredentials,
    async (context, request, call) => {
      const client = await authenticateClient(context, request, call)
      if ('machine' in client) return client
      throw unauthorizedClient('Only machines')
    },
  ],
  [grantTypes.jwtBearer, (context, request, call) => authenticateBearer(context, request, noMachine(), call)],
])

function unauthorizedClient(who: string) {
  return new RosterError('INVALID_ARGUMENT', 'UNAUTHORIZED_CLIENT', `${who} can use this grant type.`)
}

function noMachine() {
  return new RosterError(
    'INVALID_ARGUMENT',
    'INVALID_GRANT',
    'There is no such machine, or it cannot sign in this way.',
  )
}

async function readProof(
  { config }: Context,
  { fail }: Pick<ProvedClient, 'fail'>,
  text: string,
  now: Date,
): Promise<BoundKey> {
  const proof = await verifyProof(text, { verb: 'POST', url: tokenEndpointOf(config), now })
  const taken = new RosterError('INVALID_ARGUMENT', 'DPOP_PROOF_INVALID', 'The request needs a valid DPoP proof.')
  if (!proof) return fail('proof', taken)
  return { thumbprint: proof.thumbprint, once: { ...singleUse('dpop_proof', proof.id, proof.end), taken } }
}
