import type { CreateSessionRequest, CreateSessionResponse } from '#gen/roster/users/v1/session_service'
import { canonicalName } from '#lib/canonical-name'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import { orUnavailable } from '#lib/eventstore/database'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { v7 as uuid } from 'uuid'
import type { Context } from '../context.ts'
import { userNameKind } from '../new-user.ts'
import { lookupDomain } from '../organization-domain.ts'
import { verifyPassword } from '../password.ts'
import { countAttempt } from '../sign-in-throttle.ts'
import { newToken, storeToken } from '../token.ts'
import { isActive } from '../user-state.ts'
import type { SessionEvent, User } from '../vocabulary.ts'

/** Guesses at a request that was answered are counted like others. Gives what takes the attempt back. */
export const beforeSessionReplay = ({ sql }: Context, { loginName }: CreateSessionRequest, { clientAddress }: Call) =>
  countAttempt(sql, loginName, clientAddress)

export async function createSession(
  context: Context,
  { loginName, password }: CreateSessionRequest,
  call: Call,
): Promise<CreateSessionResponse> {
  const takeBack = await countAttempt(context.sql, loginName, call.clientAddress)
  const user = await findUser(context, loginName, call)
  // Who may not sign in is answered as late and as little as who has no password.
  const hash = user && isActive(user.state) ? user.hash : null
  const right = await verifyPassword(password, hash ?? undefined)
  if (!right || !user) throw credentialsInvalid()
  await takeBack()
  return open(context, user, call)
}

async function open({ config, store }: Context, user: FoundUser, call: Call): Promise<CreateSessionResponse> {
  const { userId, organizationId } = user
  const { caller, requestId, deadline, once } = call
  const sessionId = uuid()
  const sessionToken = newToken()
  return store.execute({
    aggregate: { type: 'session', id: sessionId },
    // Without If-Match: it would tell of a right password and leave no session.
    call: { caller: { ...caller, userId }, requestId, deadline, ...(once && { once }) },
    reads: [{ type: 'user', id: userId }],
    decide(_session, now, [user]: Aggregate<User>[]): Decision<SessionEvent, Date> {
      if (!isActive(user!.state)) throw credentialsInvalid()
      const end = new Date(now.getTime() + config.SESSION_LIFETIME * 1000)
      return {
        organizationId,
        events: [{ type: 'created', payload: { userId, expiresAt: end.toISOString() } }],
        writes: [storeToken(sessionToken, { userId, organizationId, human: true, sessionId, expiresAt: end })],
        answer: end,
      }
    },
    respond: ({ after, answer: expirationDate }) => ({
      sessionId,
      sessionToken,
      expirationDate,
      details: details(after),
    }),
  })
}

interface FoundUser {
  userId: string
  organizationId: string
  state: User
  /** Null for a machine, and for a human without a password. */
  hash: string | null
}

// A bare name must be of one user only. The organization is asked for whenever there is an @, so that the time that the answer
// takes does not tell which names exist.
async function findUser({ sql, grants }: Context, loginName: string, call: Call): Promise<FoundUser | undefined> {
  const at = loginName.lastIndexOf('@')
  const [bare, organizationId] = await Promise.all([
    orUnavailable(select(sql, loginName)),
    at < 0 ? undefined : lookupDomain(grants, loginName.slice(at + 1), call),
  ])
  const [qualified] =
    organizationId === undefined ? [] : await orUnavailable(select(sql, loginName.slice(0, at), organizationId))
  // The qualified name first: else a user of another organization, so named, would shut its owner out.
  return qualified ?? (bare.length === 1 ? bare[0] : undefined)
}

function select(sql: Context['sql'], userName: string, organizationId?: string) {
  return sql<FoundUser[]>`
    select k.aggregate_id as "userId", k.scope as "organizationId", u.state, p.hash
    from unique_keys k
    join aggregates u on u.type = 'user' and u.id = k.aggregate_id
    left join passwords p on p.user_id = k.aggregate_id
    where k.kind = ${userNameKind} and k.key = ${canonicalName(userName)}
      ${organizationId === undefined ? sql`` : sql`and k.scope = ${organizationId}`}
    limit 2
  `
}

function credentialsInvalid() {
  return new RosterError('UNAUTHENTICATED', 'CREDENTIALS_INVALID', 'The login name or the password is wrong.')
}
