import { SignInReason, TokenKind, TokenReason } from '#gen/roster/users/v1/session_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { issuerOf } from '../../directory/issuer.ts'
import { isOrganizationOpen } from '../../directory/organizations/statuses.ts'
import { findStored, hashToken, type StoredToken } from '../../directory/tokens/token.ts'
import { loadAuthorization } from '../../openid/authorization/later-facts.ts'
import { type ActiveToken, findActive } from '../../openid/authorization/active-token.ts'
import { personScope, scopesOf } from '../../openid/tokens/person-scope.ts'
import { readScope } from '../../openid/scope.ts'
import { findRoles } from '../../openid/tokens/scoped-roles.ts'
import type { Session } from '../../sessions/events/session.ts'
import { loadPersonPolicy } from '../../sessions/login-policy/load-person-policy.ts'
import { missingMethods } from '../../sessions/session-tokens.ts'
import { describeAuthorization, whyEnded } from './explain-grant.ts'
import type { TokenFacts } from './token-facts.ts'
import { ground } from './grounds.ts'

/** What is known of a token that is stored by its hash. UNAVAILABLE; errors of grants. */
export async function explainStored(context: Context, text: string, call: Call): Promise<TokenFacts | undefined> {
  const stored = await findStored(context, hashToken(text))
  if (!stored) return undefined
  const { userId, organizationId, human, sessionId, credentialId, expiresAt, access, authorizationId } = stored.token
  const scope = readScope(access?.scope ?? '')
  const [active, ofApplication] = await Promise.all([
    findActive(context, text, call),
    authorizationId === undefined
      ? undefined
      : loadAuthorization(context, authorizationId).then((found) => describeAuthorization(context, found)),
  ])
  return {
    of: { userId, organizationId, human },
    kind: kindOf(stored),
    sessionId,
    credentialId: credentialId ?? '',
    clientId: access && authorizationId === undefined ? userId : '',
    audience: [scope.projectId ?? issuerOf(context.config)],
    scopes: active ? givenTo(active) : (access?.scope ?? stored.token.scope ?? '').split(' ').filter(Boolean),
    actsInRoster: scope.projectId === undefined,
    roles: active && access ? (await findRoles(context, { id: userId, organizationId }, scope, call)).roles : [],
    keyBound: typeof access?.dpopThumbprint === 'string',
    creationDate: access?.issuedAt,
    expirationDate: expiresAt ?? undefined,
    ...ofApplication,
    ...(!active && (await whyOver(context, stored, call))),
  }
}

function kindOf({ token: { authorizationId, access, sessionId } }: StoredToken): TokenKind {
  if (authorizationId !== undefined) return TokenKind.TOKEN_KIND_ACCESS_OF_PERSON
  if (access) return TokenKind.TOKEN_KIND_ACCESS_OF_MACHINE
  return sessionId === '' ? TokenKind.TOKEN_KIND_PERSONAL_ACCESS : TokenKind.TOKEN_KIND_SESSION
}

function givenTo({ token: { access, scope: ofToken = '' }, person }: ActiveToken): string[] {
  const stored = readScope(access?.scope ?? '')
  if (!person) return (access ? stored.text : ofToken).split(' ').filter(Boolean)
  const { allowed } = person
  const { given } = personScope(scopesOf(allowed, stored), allowed.application.oidc!, allowed.project)
  return given.split(' ').filter(Boolean)
}

type Why = Pick<TokenFacts, 'reason' | 'ground' | 'missingFactors'>

async function whyOver(context: Context, { token, over }: StoredToken, call: Call): Promise<Why> {
  const { userId, organizationId, user, sessionId, authorizationId } = token
  const person = { type: 'user', id: userId }
  const because = (found: Parameters<typeof ground>[0]): Why => ({
    reason: TokenReason.TOKEN_REASON_GROUND,
    ground: ground(found),
  })
  switch (over) {
    case 'expired':
      return { reason: TokenReason.TOKEN_REASON_EXPIRED }
    case 'key':
      return { reason: TokenReason.TOKEN_REASON_KEY_REQUIRED }
    case 'closed': {
      const isClosed = !(await isOrganizationOpen(context, organizationId))
      const reason = isClosed
        ? SignInReason.SIGN_IN_REASON_ORGANIZATION_CLOSED
        : SignInReason.SIGN_IN_REASON_CLOSED_MEANWHILE
      return because({ reason, object: { type: 'organization', id: organizationId } })
    }
    case 'user':
      if (user.removed) return { reason: TokenReason.TOKEN_REASON_TAKEN_BACK }
      return because({
        reason: user.locked ? SignInReason.SIGN_IN_REASON_USER_LOCKED : SignInReason.SIGN_IN_REASON_USER_INACTIVE,
        object: person,
      })
    case undefined: {
      if (authorizationId !== undefined) {
        const found = await loadAuthorization(context, authorizationId)
        return whyEnded(context, found ?? { id: authorizationId, state: undefined }, 'token', call)
      }
      const [policy, session] = await Promise.all([
        loadPersonPolicy(context, { userId, organizationId }, call),
        context.store.load<Session>('session', sessionId),
      ])
      if (!session) return { reason: TokenReason.TOKEN_REASON_TAKEN_BACK }
      const missingFactors = missingMethods(policy, user, session.state, session.readAt)
      return { reason: TokenReason.TOKEN_REASON_FACTOR_MISSING, missingFactors }
    }
  }
}
