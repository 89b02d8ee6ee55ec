import type { IssueTokenRequest, IssueTokenResponse } from '#gen/roster/users/v1/oauth_service'
import { verifyProof } from '#lib/dpop'
import { RosterError, type Violation } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { type BoundKey, issueAccessToken } from '../../oauth/access-token.ts'
import { authenticateBearer, authenticateClient, checkClient, type Client } from '../../oauth/client.ts'
import type { Context } from '../../context.ts'
import { grantTypes } from '../../oauth/grant-types.ts'
import { tokenEndpointOf } from '../../oauth/issuer.ts'
import { findRoles } from '../../oauth/scoped-roles.ts'
import { invalidScope, readScope } from '../../oauth/scope.ts'
import { singleUse } from '../../oauth/single-use.ts'

export const issueToken = { check, beforeReplay, handle }

function check(_context: Context, request: IssueTokenRequest): Violation[] {
  const { grantType, assertion, clientSecret, clientAssertion } = request
  if (grantType !== grantTypes.jwtBearer) return checkClient(request)
  if (assertion === '') return [{ field: 'assertion', description: 'is needed for this grant' }]
  // The assertion is the only proof. A second one could be of another machine.
  return Object.entries({ clientSecret, clientAssertion }).flatMap(([field, value]) =>
    value === '' ? [] : [{ field, description: 'must not come with this grant' }],
  )
}

async function handle(context: Context, request: IssueTokenRequest, call: Call): Promise<IssueTokenResponse> {
  const { grantType } = request
  const scope = readScope(request.scope)
  const client = await authenticate(context, request, call)
  const bound = await readProof(context, client, request.dpopProof)
  const roles = await findRoles(context, client.machine, scope, call)
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

function authenticate(context: Context, request: IssueTokenRequest, call: Call): Promise<Client> {
  const authenticator = authenticators.get(request.grantType)
  if (!authenticator)
    throw new RosterError('INVALID_ARGUMENT', 'UNSUPPORTED_GRANT_TYPE', 'Machines cannot use this grant type.')
  return authenticator(context, request, call)
}

type Authenticate = (context: Context, request: IssueTokenRequest, call: Call) => Promise<Client>

const authenticators = new Map<string, Authenticate>([
  [grantTypes.clientCredentials, authenticateClient],
  [
    grantTypes.jwtBearer,
    (context, { assertion, clientId }, call) =>
      authenticateBearer(context, assertion, { clientId, method: 'jwt-bearer', refusal: invalidGrant() }, call),
  ],
])

function invalidGrant() {
  return new RosterError(
    'INVALID_ARGUMENT',
    'INVALID_GRANT',
    'There is no such machine, or it cannot sign in this way.',
  )
}

async function readProof({ config }: Context, { machine, fail }: Client, text: string): Promise<BoundKey | undefined> {
  if (text === '' && !machine.state.machine!.dpopRequired) return undefined
  const proof = await verifyProof(text, { verb: 'POST', url: tokenEndpointOf(config), now: machine.readAt })
  const taken = new RosterError('INVALID_ARGUMENT', 'DPOP_PROOF_INVALID', 'The request needs a valid DPoP proof.')
  if (!proof) return fail('proof', taken)
  return { thumbprint: proof.thumbprint, once: { ...singleUse('dpop_proof', proof.id, proof.end), taken } }
}
