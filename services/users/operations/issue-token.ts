import { v7 as uuid } from 'uuid'
import type { IssueTokenRequest, IssueTokenResponse } from '#gen/roster/users/v1/oauth_service'
import { AccessTokenType } from '#gen/roster/users/v1/user'
import { RosterError, type Violation } from '#lib/errors'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { anonymous } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import type { AuthenticationEvent } from '../authentication.ts'
import { authenticateBearer, authenticateClient, checkClient, type Client } from '../client-authentication.ts'
import type { Context } from '../context.ts'
import { grantTypes } from '../grant-types.ts'
import { issuerOf } from '../issuer.ts'
import { findRoles, type Roles } from '../roles.ts'
import { invalidScope, readScope, type Scope } from '../scope.ts'
import { newToken, storeToken } from '../token.ts'
import { isActive } from '../user-state.ts'
import { credentialsOf, living, type User } from '../vocabulary.ts'

export const issueToken = { check, handle }

function check(_context: Context, request: IssueTokenRequest): Violation[] {
  const { grantType, assertion, clientSecret, clientAssertion } = request
  if (grantType !== grantTypes.jwtBearer) return checkClient(request)
  if (assertion === '') return [{ field: 'assertion', description: 'is needed for this grant' }]
  // The assertion is all the proof there is; two could be of two machines.
  return [...Object.entries({ clientSecret, clientAssertion })].flatMap(([field, value]) =>
    value === '' ? [] : [{ field, description: 'must not come with this grant' }],
  )
}

async function handle(context: Context, request: IssueTokenRequest, call: Call): Promise<IssueTokenResponse> {
  const authenticate = authenticators.get(request.grantType)
  if (!authenticate)
    throw new RosterError('INVALID_ARGUMENT', 'UNSUPPORTED_GRANT_TYPE', 'There is no such grant for machines.')
  const scope = readScope(request.scope)
  const client = await authenticate(context, request, call)
  const { machine } = client
  const roles = await findRoles(context, machine, scope, call)
  if (scope.projectId !== undefined && roles.projectRoles.length === 0) throw invalidScope()
  const token = await makeToken(context, client, scope, roles)
  try {
    return await store(context, request.grantType, client, scope, roles, token, call)
  } catch (error) {
    if (client.once && error === client.once.taken) return client.fail('replayed')
    throw error
  }
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
  return new RosterError('INVALID_ARGUMENT', 'INVALID_GRANT', 'There is no such machine that may sign in so.')
}

interface Token {
  text: string
  id: string
  issuedAt: Date
  expiresAt: Date
}

// In whole seconds, as a JWT has them. No token outlives the credential that it was obtained with.
async function makeToken(context: Context, client: Client, scope: Scope, roles: Roles): Promise<Token> {
  const { config, signingKeys } = context
  const { machine, credential } = client
  const iat = Math.floor(Date.now() / 1000)
  const end = Math.floor(Date.parse(credential.expiresAt ?? '9999-01-01') / 1000)
  const exp = Math.min(iat + config.ACCESS_TOKEN_LIFETIME, end)
  const id = uuid()
  const token = { id, issuedAt: new Date(iat * 1000), expiresAt: new Date(exp * 1000) }
  if (machine.state.machine!.accessTokenType !== AccessTokenType.ACCESS_TOKEN_TYPE_JWT)
    return { ...token, text: newToken() }
  const text = await signingKeys.sign({
    iss: issuerOf(config),
    sub: machine.id,
    aud: [issuerOf(config), ...(scope.projectId === undefined ? [] : [scope.projectId])],
    client_id: machine.id,
    iat,
    exp,
    jti: id,
    organization: machine.organizationId,
    ...(scope.text !== '' && { scope: scope.text }),
    ...(scope.projectId !== undefined && { roles: roles.roles, project_roles: roles.projectRoles }),
    ...(scope.names.has('roles') && { organization_roles: roles.organizationRoles }),
  })
  return { ...token, text }
}

function store(
  context: Context,
  grantType: string,
  { machine, credential, refusal, once }: Client,
  scope: Scope,
  { projectOrganizationId }: Roles,
  { text, id, issuedAt, expiresAt }: Token,
  { requestId, deadline, once: keyed }: Call,
): Promise<IssueTokenResponse> {
  const { id: userId, organizationId } = machine
  const decide = (_: Aggregate, now: Date, [user]: Aggregate<User>[]): Decision<AuthenticationEvent> => {
    // The machine or its credential may have been taken out of use since it was looked at.
    if (!mayStill(user!.state, credential.id, now)) throw refusal
    const issued = { tokenId: id, grantType, credentialId: credential.id, scope: scope.text }
    const access = { tokenId: id, scope: scope.text, projectOrganizationId, issuedAt }
    return {
      organizationId,
      ...(once && { claims: [once] }),
      events: [{ type: 'token.issued', payload: { ...issued, expiresAt: expiresAt.toISOString() } }],
      writes: [
        storeToken(text, {
          userId,
          organizationId,
          human: false,
          sessionId: '',
          credentialId: credential.id,
          expiresAt,
          access,
        }),
      ],
      answer: undefined,
    }
  }
  return context.store.execute<object, AuthenticationEvent, void, IssueTokenResponse>({
    aggregate: { type: 'authentication', id: userId },
    reads: [{ type: 'user', id: userId }],
    call: { caller: { ...anonymous, userId }, requestId, deadline, ...(keyed && { once: keyed }) },
    decide,
    respond: () => ({
      accessToken: text,
      tokenType: 'Bearer',
      expiresIn: Math.round((expiresAt.getTime() - issuedAt.getTime()) / 1000),
      scope: scope.text || undefined,
    }),
  })
}

function mayStill(user: User | undefined, credentialId: string, now: Date): boolean {
  const { key, secret } = credentialsOf(user)
  return isActive(user) && living([...key, ...secret], now).some(({ id }) => id === credentialId)
}
