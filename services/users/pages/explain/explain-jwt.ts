import { compactVerify, decodeJwt, decodeProtectedHeader, errors, importJWK, type JWTPayload } from 'jose'
import type { SigningKey } from '#gen/roster/users/v1/signing_key'
import { SignInReason, TokenKind, TokenReason } from '#gen/roster/users/v1/session_service'
import { orUnavailable, readNow } from '#lib/database/database'
import type { Context } from '../../context.ts'
import { issuerOf } from '../../directory/issuer.ts'
import type { User } from '../../directory/events/user.ts'
import { isActive } from '../../directory/states/user-state.ts'
import { loadApplication } from '../../openid/applications/find-application.ts'
import type { TokenFacts } from './token-facts.ts'
import { ground } from './grounds.ts'

/**
 * What a JWT says of itself that is stored nowhere: an ID token, or an access token that is over. What is wrong with its
 * signature everybody can tell, by the public keys. UNAVAILABLE.
 */
export async function explainJwt(context: Context, text: string): Promise<TokenFacts | undefined> {
  const read = readJwt(text)
  if (!read) return undefined
  const { kid, typ, claims } = read
  const fault = (reason: TokenReason): TokenFacts => ({ of: undefined, reason })
  if (claims.iss !== issuerOf(context.config)) return fault(TokenReason.TOKEN_REASON_OTHER_ISSUER)
  const kind = kinds[typ]
  const key = kind === undefined ? undefined : await findKey(context, kind, kid)
  if (kind === undefined || !key) return fault(TokenReason.TOKEN_REASON_KEY_UNKNOWN)
  if (!(await isSigned(text, key))) return fault(TokenReason.TOKEN_REASON_SIGNATURE_WRONG)
  const { sub: userId = '', iat, exp = 0 } = claims
  const user = await context.store.load<User>('user', userId)
  if (!user) return undefined
  const now = await orUnavailable(readNow(context.sql))
  const clientId = kind === TokenKind.TOKEN_KIND_ID ? audienceOf(claims)[0]! : textOf(claims['client_id'])
  const known = clientId === userId ? undefined : await loadApplication(context, { clientId })
  const isPast = now.getTime() >= exp * 1000
  return {
    of: { userId, organizationId: user.organizationId, human: user.state.human !== undefined },
    kind: kind === TokenKind.TOKEN_KIND_ACCESS_OF_PERSON && clientId === userId ? ofMachine : kind,
    clientId,
    appId: known?.application.id ?? '',
    sessionId: textOf(claims['sid']),
    audience: audienceOf(claims),
    scopes: textOf(claims['scope']).split(' ').filter(Boolean),
    actsInRoster: kind !== TokenKind.TOKEN_KIND_ID && audienceOf(claims).includes(issuerOf(context.config)),
    keyBound: claims['cnf'] !== undefined,
    creationDate: iat === undefined ? undefined : new Date(iat * 1000),
    expirationDate: new Date(exp * 1000),
    ...(isPast
      ? { reason: TokenReason.TOKEN_REASON_EXPIRED }
      : kind !== TokenKind.TOKEN_KIND_ID && whyTakenBack(userId, user.state)),
  }
}

const ofMachine = TokenKind.TOKEN_KIND_ACCESS_OF_MACHINE

const kinds: Record<string, TokenKind | undefined> = {
  'at+jwt': TokenKind.TOKEN_KIND_ACCESS_OF_PERSON,
  JWT: TokenKind.TOKEN_KIND_ID,
}

function readJwt(text: string): { kid: string; typ: string; claims: JWTPayload } | undefined {
  try {
    const { kid = '', typ = '' } = decodeProtectedHeader(text)
    return { kid, typ, claims: decodeJwt(text) }
  } catch {
    return undefined
  }
}

type Key = Pick<SigningKey, 'alg'> & object

async function findKey({ signingKeys, idTokenKeys }: Context, kind: TokenKind, kid: string): Promise<Key | undefined> {
  if (kind === TokenKind.TOKEN_KIND_ID) return idTokenKeys.find(kid)
  return signingKeys.published().find((key) => key.kid === kid)
}

// The key says the algorithm, never the token.
async function isSigned(text: string, key: Key): Promise<boolean> {
  try {
    await compactVerify(text, await importJWK(key, key.alg), { algorithms: [key.alg] })
    return true
  } catch (error) {
    if (error instanceof errors.JOSEError) return false
    throw error
  }
}

// It is stored nowhere, though its time is not over.
function whyTakenBack(userId: string, user: User): Pick<TokenFacts, 'reason' | 'ground'> {
  if (isActive(user) || user.removed) return { reason: TokenReason.TOKEN_REASON_TAKEN_BACK }
  const reason = user.locked ? SignInReason.SIGN_IN_REASON_USER_LOCKED : SignInReason.SIGN_IN_REASON_USER_INACTIVE
  return { reason: TokenReason.TOKEN_REASON_GROUND, ground: ground({ reason, object: { type: 'user', id: userId } }) }
}

function audienceOf({ aud = [] }: JWTPayload): string[] {
  return typeof aud === 'string' ? [aud] : aud
}

function textOf(claim: unknown): string {
  return typeof claim === 'string' ? claim : ''
}
