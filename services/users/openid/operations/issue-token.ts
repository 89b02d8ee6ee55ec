import type { IssueTokenRequest, IssueTokenResponse } from '#gen/roster/users/v1/oauth_service'
import type { Keyring } from '#lib/encryption/keys'
import { RosterError, type Violation } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { loadAuthorization, loadOfCode } from '../authorization/later-facts.ts'
import { refuseGrant } from '../authorization/refuse-grant.ts'
import { type PresentedGrant, type Presenter, redeemCode } from '../authorization/redeem.ts'
import { readCode } from '../authorization/sealed-code.ts'
import { isConsole } from '../applications/console-application.ts'
import { refresh } from '../refresh/refresh.ts'
import { issueAccessToken } from '../tokens/access-token.ts'
import {
  authenticateBearer,
  authenticateClient,
  authenticateOnce,
  checkClient,
  type MachineClient,
} from '../clients/client.ts'
import type { Context } from '../../context.ts'
import { rememberReads } from '../../remember-reads.ts'
import { readProof, useProof } from '../tokens/token-proof.ts'
import { grantTypes } from '../tokens/grant-types.ts'
import { findRoles } from '../tokens/scoped-roles.ts'
import { invalidScope, providerTokens, readScope } from '../scope.ts'
import { readRefreshToken } from '../tokens/refresh-token.ts'
import { whichInLog } from '../which-in-log.ts'

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
  step: 'redeemed' | 'refresh'
  read(keys: Keyring, text: string): Read | undefined
  load(context: Context, read: Read): Promise<PresentedGrant['authorization']>
  exchange(
    context: Context,
    request: IssueTokenRequest,
    presented: (Read & PresentedGrant) | undefined,
    by: Presenter,
    call: Call,
  ): Promise<IssueTokenResponse>
}

const ofPeople = new Map([
  [
    grantTypes.authorizationCode,
    grantOf({ needs: 'code', step: 'redeemed', read: readCode, load: loadOfCode, exchange: redeemCode }),
  ],
  [
    grantTypes.refreshToken,
    grantOf({ needs: 'refreshToken', step: 'refresh', read: readRefreshToken, load: loadById, exchange: refresh }),
  ],
])

function loadById(context: Context, { authorizationId }: { authorizationId: string }) {
  return loadAuthorization(context, authorizationId)
}

function grantOf<Read extends { authorizationId: string }>({ needs, step, read, load, exchange }: PeopleGrant<Read>) {
  return {
    needs,
    async handle(own: Context, request: IssueTokenRequest, call: Call): Promise<IssueTokenResponse> {
      const context = rememberReads(own)
      const presented = read(context.keys, request[needs])
      // Together, since loads of the same moment share a statement.
      const [client, authorization] = await Promise.all([
        authenticateOnce(context, request, call),
        presented && load(context, presented),
      ])
      if (!('application' in client) || !client.application.oidc || isConsole(client.application))
        throw unauthorizedClient('only applications that people sign in to')
      const dpopThumbprint = await useProof(context, client, request.dpopProof)
      try {
        const known = presented && { ...presented, authorization }
        const tokens = await exchange(context, request, known, { client, dpopThumbprint }, call)
        context.arrivals.step(client.application.clientId, step)
        return tokens
      } catch (error) {
        const what = needs === 'code' ? 'code' : 'refresh-token'
        throw refuseGrant(context, { request, what, client, authorization }, error, call)
      }
    },
  }
}

const needed = new Map<string, ('assertion' | 'code' | 'redirectUri' | 'refreshToken')[]>([
  [grantTypes.jwtBearer, ['assertion']],
  [grantTypes.authorizationCode, ['code', 'redirectUri']],
  [grantTypes.refreshToken, ['refreshToken']],
])

function check(_context: Context, request: IssueTokenRequest): Violation[] {
  const { grantType, assertion, clientSecret, clientAssertion } = request
  const missing = (needed.get(grantType) ?? [])
    .filter((field) => request[field] === '')
    .map((field) => ({ field, description: 'is needed for this grant' }))
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

async function issueToMachine(context: Context, request: IssueTokenRequest, call: Call): Promise<IssueTokenResponse> {
  const { grantType, dpopProof } = request
  const scope = readScope(request.scope)
  // A machine signs in at no identity provider.
  if (scope.names.has(providerTokens)) throw invalidScope()
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

const known = Object.values(grantTypes).join(', ')

function authenticate(context: Context, request: IssueTokenRequest, call: Call): Promise<MachineClient> {
  const authenticator = authenticators.get(request.grantType)
  if (!authenticator)
    throw new RosterError('INVALID_ARGUMENT', 'UNSUPPORTED_GRANT_TYPE', `grant_type: must be one of ${known}.`)
  return authenticator(context, request, call)
}

type Authenticate = (context: Context, request: IssueTokenRequest, call: Call) => Promise<MachineClient>

const authenticators = new Map<string, Authenticate>([
  [
    grantTypes.clientCredentials,
    async (context, request, call) => {
      const client = await authenticateClient(context, request, call)
      if ('machine' in client) return client
      throw unauthorizedClient('only machines')
    },
  ],
  [grantTypes.jwtBearer, (context, request, call) => authenticateBearer(context, request, noMachine(call), call)],
])

function unauthorizedClient(who: string) {
  return new RosterError('INVALID_ARGUMENT', 'UNAUTHORIZED_CLIENT', `grant_type: ${who} can use this one.`)
}

function noMachine(call: Call) {
  return new RosterError(
    'INVALID_ARGUMENT',
    'INVALID_GRANT',
    `There is no such machine, or it cannot sign in this way. ${whichInLog(call)}`,
  )
}
