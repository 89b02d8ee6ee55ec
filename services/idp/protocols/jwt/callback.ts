import { createHash } from 'node:crypto'
import { readClaims, readMethods, readSubject } from '../claims.ts'
import { type Begun, type Proved, type Upstream, UpstreamError, type Wish } from '../protocol.ts'
import { verify } from './verify.ts'

/** Bytes of a token. */
const longest = 16 * 1024

/** Whom the token proves that came in the header of the record, to the address that the browser was told to come back to. */
export async function callback(
  upstream: Upstream<'jwt'>,
  { state }: Begun,
  { maxAge }: Wish,
  answer: URLSearchParams,
  tokens: string[] = [],
): Promise<Proved> {
  const states = answer.getAll('state')
  if (states.length !== 1 || states[0] !== state)
    throw new UpstreamError('not-asked-for', 'The answer is not of this sign-in.')
  if (tokens.length !== 1) throw new UpstreamError('not-believed', `The header came ${tokens.length} times.`)
  const token = tokens[0]!.replace(/^Bearer /i, '')
  if (token.length > longest) throw new UpstreamError('not-believed', 'The token is too long.')
  const claims = await verify(upstream, token)
  const authTime = typeof claims['auth_time'] === 'number' ? new Date(claims['auth_time'] * 1000) : undefined
  if (maxAge !== undefined && !isWithin(authTime, maxAge, upstream.clockAhead))
    throw new UpstreamError('not-believed', 'The token does not say that the person signed in of late.')
  return {
    issuer: claims.iss!,
    subject: readSubject(claims.sub!),
    authTime,
    claims: readClaims([claims], upstream),
    methods: readMethods(claims),
    said: claims,
    once: { of: onlyOnce(claims.jti, token), seconds: 900 },
  }
}

function isWithin(authTime: Date | undefined, maxAge: number, clockAhead: number): boolean {
  if (authTime === undefined) return false
  return Date.now() + clockAhead - authTime.getTime() <= (maxAge + 30) * 1000
}

// A signature may be written in several ways, so a token without an id is known by what was signed.
function onlyOnce(jti: string | undefined, token: string): string {
  const what = jti === undefined ? ['token', token.slice(0, token.lastIndexOf('.'))] : ['jti', jti]
  return createHash('sha256').update(JSON.stringify(what)).digest('base64url')
}
