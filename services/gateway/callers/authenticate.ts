import { hash } from 'node:crypto'
import { InternalServiceDefinition as GrantsDefinition } from '#gen/roster/grants/v1/internal_service'
import { InternalServiceDefinition as UsersDefinition } from '#gen/roster/users/v1/internal_service'
import type { Nats } from '#lib/nats'
import { createClient } from '#lib/rpc/call'
import { codes, deadlineExceeded, RosterError } from '#lib/errors'
import { anonymous, type Caller } from '#lib/rpc/caller'
import { callersChanged } from '#lib/events/hints'
import type { Access } from '#lib/rpc/methods'
import { permissionDenied } from '#lib/rpc/authorize'
import { within } from '#lib/within'
import { createAccessTokens } from './access-tokens.ts'
import { createMemory } from './memory.ts'
import { createProofs } from './proofs.ts'
import type { Strangers } from '../limits/strangers.ts'
import { readToken, tokenInvalid } from './token-header.ts'

export interface Credentials {
  authorization: string | undefined
  /** The request itself: a proof that came with it is used up once, however often is asked who calls. */
  request: object
  /** The header DPoP, and what the proof in it must be of: the verb, and the path without query. */
  proof: string | undefined
  verb: string
  path: string
  /** The one that the caller wants to act for. INVALID_ARGUMENT ORGANIZATION_AMBIGUOUS. */
  organization(): string | undefined
  clientAddress: string
  requestId: string
  /** Unix time in milliseconds. */
  deadline: number
  signal: AbortSignal
}

export interface Identity {
  caller: Caller
  /** The acting organization. */
  organizationId: string
}

export interface Authenticator {
  /**
   * Who calls, and for which organization. A public method looks at neither token nor organization: a stale token must not
   * keep anybody from signing in again.
   * UNAUTHENTICATED TOKEN_MISSING, TOKEN_INVALID or TOKEN_FOR_PROJECT; PERMISSION_DENIED for an organization that is unknown or where the
   * caller may nothing; INVALID_ARGUMENT for one that is named twice; RESOURCE_EXHAUSTED RATE_LIMITED where too many tokens from the
   * address were none; errors of the services that are asked.
   * `admit` is told who calls, once that is proved and before anything else is looked at; what it throws is thrown.
   */
  authenticate(access: Access, credentials: Credentials, admit?: (caller: Caller) => void): Promise<Identity>
  stop(): void
}

const nobody: Identity = { caller: anonymous, organizationId: '' }
const lookupTimeout = 5_000

/** Asks users and grants who holds a token, and remembers it for at most `maxAge` milliseconds. */
export function createAuthenticator(nats: Nats, strangers: Strangers, maxAge = 30_000): Authenticator {
  const users = createClient(nats, 'gateway', UsersDefinition)
  const grants = createClient(nats, 'gateway', GrantsDefinition)
  const accessTokens = createAccessTokens(() =>
    users.getSigningKeys({}, { requestId: '', deadline: Date.now() + lookupTimeout }),
  )
  const proofs = createProofs(users, () => accessTokens.issuer())
  const callers = createMemory<Holder>({ capacity: 10_000, maxAge })
  const organizations = createMemory<true>({ capacity: 10_000, maxAge })

  const subscription = nats.connection.subscribe(callersChanged, {
    callback: (_error, message) => {
      const userId = message.string()
      callers.forget(({ caller }) => caller.userId === userId)
    },
  })
  const unwatch = nats.onDisconnect(() => callers.forgetAll())

  async function lookUp(token: string, tokenHash: string) {
    const call = { requestId: '', deadline: Date.now() + lookupTimeout }
    await accessTokens.check(token)
    const holder = await users.authenticate({ tokenHash: Buffer.from(tokenHash, 'base64') }, call)
    const { instanceRoles, memberships } = await grants.listMemberships({ userId: holder.userId }, call)
    const caller: Caller = {
      userId: holder.userId,
      human: holder.human,
      organizationId: holder.organizationId,
      sessionId: holder.sessionId,
      scope: holder.scope,
      tokenEnd: holder.scope === undefined ? undefined : holder.expirationDate?.getTime(),
      instanceRoles,
      organizationRoles: Object.fromEntries(memberships.map(({ organizationId, roles }) => [organizationId, roles])),
    }
    const { dpopThumbprint: thumbprint, forProject, expirationDate } = holder
    return { value: { caller, thumbprint, forProject }, until: expirationDate?.getTime() }
  }

  async function exists(organizationId: string) {
    const call = { requestId: '', deadline: Date.now() + lookupTimeout }
    try {
      await grants.lookupOrganization({ by: { $case: 'organizationId', value: organizationId } }, call)
    } catch (error) {
      if (error instanceof RosterError && error.code === codes.NOT_FOUND) throw permissionDenied()
      throw error
    }
    return { value: true as const }
  }

  // Only what is not known yet costs anything.
  async function obtain(token: string, key: string, credentials: Credentials) {
    const { clientAddress } = credentials
    strangers.check(clientAddress)
    try {
      return await waitFor(
        callers.obtain(key, () => lookUp(token, key)),
        credentials,
      )
    } catch (error) {
      if (error instanceof RosterError && error.code === codes.UNAUTHENTICATED) strangers.count(clientAddress)
      throw error
    }
  }

  async function actingOrganization(caller: Caller, credentials: Credentials) {
    const organization = credentials.organization()
    if (organization === undefined || organization === '' || organization === caller.organizationId)
      return caller.organizationId
    if (Object.hasOwn(caller.organizationRoles, organization)) return organization
    if (caller.instanceRoles.length === 0 || !/^[\x21-\x7e]{1,200}$/.test(organization)) throw permissionDenied()
    if (!organizations.get(organization))
      await waitFor(
        organizations.obtain(organization, () => exists(organization)),
        credentials,
      )
    return organization
  }

  return {
    async authenticate(access, credentials, admit = () => {}) {
      if (access.rule === 'public') {
        admit(anonymous)
        return nobody
      }
      const { token, isBound } = readToken(credentials.authorization)
      const key = hash('sha256', token, 'base64')
      const { caller, thumbprint, forProject } = callers.get(key) ?? (await obtain(token, key, credentials))
      // A bound token is worth nothing by itself, and no other may come as one.
      if (isBound !== (thumbprint !== undefined)) throw tokenInvalid()
      if (thumbprint !== undefined) await proofs.check(token, thumbprint, credentials)
      if (forProject && !access.anyAudience) throw tokenForProject()
      admit(caller)
      return { caller, organizationId: await actingOrganization(caller, credentials) }
    },
    stop() {
      subscription.unsubscribe()
      unwatch()
    },
  }
}

interface Holder {
  caller: Caller
  /** Of the key that the token is bound to. */
  thumbprint: string | undefined
  /** It is for a project, and whoever serves that has seen it. */
  forProject: boolean
}

function tokenForProject(): RosterError {
  return new RosterError('UNAUTHENTICATED', 'TOKEN_FOR_PROJECT', 'The token is for a project, not for Roster itself.')
}

// A lookup is shared: it goes on for the others that wait, whatever the deadline of one of them.
function waitFor<T>(lookup: Promise<T>, { deadline, signal }: Credentials): Promise<T> {
  return within(lookup, { timeout: deadline - Date.now(), late: deadlineExceeded, signal, gone: clientGone })
}

function clientGone() {
  return new RosterError('CANCELLED', 'CANCELLED', 'The client went away.')
}
