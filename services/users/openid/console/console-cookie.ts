import { v7 as uuid } from 'uuid'
import { type ByFunction, orUnavailable } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import type { ServiceCall } from '#lib/rpc/call'
import type { Context } from '../../context.ts'
import { writeAccess } from '../../directory/tokens/access-rows.ts'
import { findToken, type FoundToken, tokenRow } from '../../directory/tokens/token.ts'
import { findPerson } from '../authorization/later-facts.ts'
import type { PersonGrant } from '../tokens/person-grant.ts'
import { personScope } from '../tokens/person-scope.ts'
import { isConsole } from '../applications/console-application.ts'

// A session of the console is an authorization of its application. Its cookie is the only token of it, and lies in the same
// table as an access token, under a hash that no token can have: so neither passes for the other.

/** Seconds without use after which it is over, and from its beginning. */
export const idleFor = 30 * 60
const lastsFor = 12 * 3600

/** Stores the cookie of a session of the console that begins now. */
export function storeCookie(hash: Uint8Array, { allowed, authorizationId, scopes }: PersonGrant, now: Date) {
  const { userId, organizationId, application, project } = allowed
  const tokenId = uuid()
  const row = tokenRow('', {
    userId,
    organizationId,
    human: true,
    sessionId: '',
    authorizationId,
    expiresAt: new Date(now.getTime() + idleFor * 1000),
    access: {
      tokenId,
      scope: personScope(scopes, application.oidc!, project).stored.text,
      projectOrganizationId: '',
      issuedAt: now,
      dpopThumbprint: null,
    },
  })
  const write: ByFunction = writeAccess({ token: { ...row, hash: `\\x${Buffer.from(hash).toString('hex')}` } })
  return { tokenId, write }
}

/** Notes that the person is there, which gives the session another half an hour. UNAVAILABLE STORE_UNAVAILABLE. */
export async function keepCookie({ sql }: Pick<Context, 'sql'>, hash: Uint8Array): Promise<void> {
  await orUnavailable(sql`
    update tokens set expires_at = least(
      issued_at + make_interval(secs => ${lastsFor}), roster_now() + make_interval(secs => ${idleFor})
    )
    where hash = ${hash} and expires_at > roster_now()
  `)
}

/** Takes a cookie back that another one has replaced. UNAVAILABLE STORE_UNAVAILABLE. */
export async function dropCookie({ sql }: Pick<Context, 'sql'>, hash: Uint8Array): Promise<void> {
  await orUnavailable(sql`delete from tokens where hash = ${hash}`)
}

/** The person in the console. UNAUTHENTICATED CONSOLE_SESSION_ENDED; UNAVAILABLE; errors of grants. */
export async function findConsolePerson(context: Context, hash: Uint8Array, call: ServiceCall) {
  const token: FoundToken | undefined = await findToken(context, hash)
  const person = token?.authorizationId && (await findPerson(context, 'token', token.authorizationId, call))
  if (!token || !person || !isConsole(person.allowed.application)) throw consoleSessionEnded()
  return { ...person, token }
}

export function consoleSessionEnded(): RosterError {
  const message = 'There is no such session of the console, or it is over. Sign in again.'
  return new RosterError('UNAUTHENTICATED', 'CONSOLE_SESSION_ENDED', message)
}
