import { createHash } from 'node:crypto'
import { decodeJwt, type JWTPayload } from 'jose'
import { presetOf } from '../../presets.ts'
import { readSubject } from '../claims.ts'
import { KeysCache } from '../keys-cache.ts'
import { type LoggedOut, type Upstream, UpstreamError } from '../protocol.ts'
import { verifyToken } from '../verify-token.ts'
import { describe } from './begin.ts'
import { readSid } from './sid.ts'

const event = 'http://schemas.openid.net/event/backchannel-logout'
/** Bytes of a token; and seconds since its issue. */
const [longest, oldest] = [16 * 1024, 300]

const known = new KeysCache()

/**
 * Who has signed out at the provider (OpenID Connect Back-Channel Logout 1.0, 2.6). What could not be a logout token of this
 * provider is refused before anybody is asked.
 */
export async function loggedOut(upstream: Upstream<'oidc'>, token: string): Promise<LoggedOut> {
  const { clientId, issuer } = upstream.configuration
  const said = token.length > longest ? undefined : peek(token)
  const isFor = said && [said.aud].flat().includes(clientId) && withoutSlash(said.iss) === withoutSlash(issuer)
  if (!isFor || presetOf(upstream.configuration).hasTenants) throw notBelieved('It is no logout token for this client.')
  const server = await describe(upstream)
  if (server.jwks_uri === undefined) throw new UpstreamError('not-available', 'It names no address of keys.')
  const { payload, protectedHeader } = await verifyToken(
    upstream,
    token,
    {
      issuer: server.issuer,
      keysEndpoint: server.jwks_uri,
      audience: clientId,
      maxTokenAge: oldest,
      requiredClaims: ['iat', 'jti', 'events'],
    },
    known,
  )
  if (!['logout+jwt', 'jwt'].includes((protectedHeader.typ ?? 'jwt').toLowerCase().replace(/^application\//, '')))
    throw notBelieved('It is a token of another type.')
  return readLogout(server.issuer, payload)
}

function readLogout(issuer: string, { jti, sub, sid, nonce, events }: JWTPayload): LoggedOut {
  // An ID token has one.
  if (nonce !== undefined) throw notBelieved('It has a nonce.')
  const about = isObject(events) ? events[event] : undefined
  if (!isObject(about)) throw notBelieved('It is about no sign-out.')
  if (typeof jti !== 'string' || jti === '') throw notBelieved('It has no id.')
  const [subject, session] = [sub === undefined ? '' : readSubject(sub), readSid(sid) ?? '']
  if (subject === '' && session === '') throw notBelieved('It names neither a person nor a session.')
  const of = createHash('sha256')
    .update(JSON.stringify(['logout', jti]))
    .digest('base64url')
  return { issuer, subject, sid: session, once: { of, seconds: 3 * oldest } }
}

function peek(token: string): JWTPayload | undefined {
  try {
    return decodeJwt(token)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function withoutSlash(issuer: unknown): string {
  return String(issuer).replace(/\/$/, '')
}

function notBelieved(message: string): UpstreamError {
  return new UpstreamError('not-believed', message)
}
