import { v7 as uuid } from 'uuid'
import type { IssueTokenResponse } from '#gen/roster/users/v1/oauth_service'
import { AccessTokenType } from '#gen/roster/users/v1/user'
import type { RosterError } from '#lib/errors'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision, UniqueKey } from '#lib/eventstore/command'
import { anonymous } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import type { AuthenticationEvent } from '../events/authentication.ts'
import type { MachineClient } from '../clients/client.ts'
import type { Context } from '../../context.ts'
import { issuerOf } from '../../directory/issuer.ts'
import { roleClaims } from './role-claims.ts'
import type { Roles } from './scoped-roles.ts'
import type { Scope } from '../scope.ts'
import { newToken, storeToken } from '../../directory/tokens/token.ts'
import { statuses } from '../../directory/organizations/statuses.ts'
import { isOpen } from '../../../organization-status.ts'
import { isActive } from '../../directory/states/user-state.ts'
import { living } from '../../directory/events/credentials.ts'
import { credentialsOf, type User, userKey } from '../../directory/events/user.ts'

/** The facts that an access token is made from. */
export interface Grant {
  client: MachineClient
  grantType: string
  scope: Scope
  roles: Roles
  bound: BoundKey | undefined
}

/** The key that a token is bound to. Its proof may be used once. */
export interface BoundKey {
  thumbprint: string
  once: UniqueKey & { taken: RosterError }
}

interface Token {
  text: string
  id: string
  issuedAt: Date
  expiresAt: Date
}

/**
 * Makes an access token, as a JWT or opaque, as the machine wants it. Stores its hash, and claims the assertion and
 * the DPoP proof that it uses up.
 */
export async function issueAccessToken(context: Context, grant: Grant, call: Call): Promise<IssueTokenResponse> {
  const token = await makeToken(context, grant)
  const { requestId, deadline, once } = call
  const userId = grant.client.machine.id
  return context.store.execute({
    aggregate: { type: 'authentication', id: userId },
    reads: { user: userKey(userId), status: statuses.key(grant.client.machine.organizationId) },
    call: { caller: { ...anonymous, userId }, requestId, deadline, ...(once && { once }) },
    decide(_, now, { user, status }) {
      if (!isOpen(status)) throw grant.client.refusal
      return decide(grant, token, user, now)
    },
    respond: (): IssueTokenResponse => ({
      accessToken: token.text,
      tokenType: grant.bound ? 'DPoP' : 'Bearer',
      expiresIn: (token.expiresAt.getTime() - token.issuedAt.getTime()) / 1000,
      scope: grant.scope.text || undefined,
      idToken: undefined,
      refreshToken: undefined,
    }),
  })
}

// Times are whole seconds, as in a JWT. No token outlives the credential that it was obtained with.
async function makeToken({ config, signingKeys }: Context, grant: Grant): Promise<Token> {
  const { machine, credential } = grant.client
  const iat = Math.floor(machine.readAt.getTime() / 1000)
  const end = Math.floor(Date.parse(credential.expiresAt ?? '9999-01-01') / 1000)
  const exp = Math.min(iat + config.ACCESS_TOKEN_LIFETIME, end)
  const id = uuid()
  const isJwt = machine.state.machine!.accessTokenType === AccessTokenType.ACCESS_TOKEN_TYPE_JWT
  const text = isJwt ? await signingKeys.sign({ ...claimsOf(issuerOf(config), grant), iat, exp, jti: id }) : newToken()
  return { text, id, issuedAt: new Date(iat * 1000), expiresAt: new Date(exp * 1000) }
}

function claimsOf(issuer: string, { client, scope, roles, bound }: Grant) {
  const { id, organizationId } = client.machine
  return {
    iss: issuer,
    sub: id,
    aud: [scope.projectId ?? issuer],
    client_id: id,
    organization: organizationId,
    ...(scope.text !== '' && { scope: scope.text }),
    ...roleClaims(roles, scope),
    ...(bound && { cnf: { jkt: bound.thumbprint } }),
  }
}

function decide(
  { client, grantType, scope, roles, bound }: Grant,
  { text, id, issuedAt, expiresAt }: Token,
  user: Aggregate<User>,
  now: Date,
): Decision<AuthenticationEvent> {
  const { machine, credential, once } = client
  // The machine or its credential may have been taken out of use since it was checked.
  if (!mayStill(user.state, credential.id, now)) throw client.refusal
  // Bound tokens may have become mandatory, too.
  if (user.state?.machine?.dpopRequired && !bound) throw client.refusal
  const { id: userId, organizationId } = machine
  const [tokenId, credentialId] = [id, credential.id]
  const dpopThumbprint = bound?.thumbprint ?? null
  const { projectOrganizationId } = roles
  const access = { tokenId, scope: scope.text, projectOrganizationId, issuedAt, dpopThumbprint }
  return {
    organizationId,
    claims: [...(once ? [once] : []), ...(bound ? [bound.once] : [])],
    events: [
      {
        type: 'token.issued',
        payload: { tokenId, grantType, credentialId, scope: scope.text, expiresAt: expiresAt.toISOString() },
      },
    ],
    writes: [
      storeToken(text, { userId, organizationId, human: false, sessionId: '', credentialId, expiresAt, access }),
    ],
    answer: undefined,
  }
}

function mayStill(user: User | undefined, credentialId: string, now: Date): boolean {
  const { key, secret } = credentialsOf(user)
  return isActive(user) && living([...key, ...secret], now).some(({ id }) => id === credentialId)
}
