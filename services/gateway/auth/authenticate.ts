import { hash } from 'node:crypto'
import { InternalServiceDefinition as GrantsDefinition } from '#gen/roster/grants/v1/internal_service'
import { InternalServiceDefinition as UsersDefinition } from '#gen/roster/users/v1/internal_service'
import type { Nats } from '#lib/nats'
import { createClient } from '#lib/rpc/call'
import { codes, deadlineExceeded, RosterError } from '#lib/errors'
import { createCache } from '#lib/cache'
import { actsIn, anonymous, type Caller } from '#lib/rpc/caller'
import { callersChanged, organizationOf } from '#lib/events/hints'
import type { Access } from '#lib/rpc/methods'
import { permissionDenied } from '#lib/rpc/authorize'
import { lookups } from '#lib/telemetry/lookups'
import { withTimeout } from '#lib/with-timeout'
import { costOfRead, type Strangers } from '../rate-limits/strangers.ts'
import { createAccessTokens } from './access-tokens.ts'
import { createDirectory, type Holder, type Home, ownCall, type Place } from './directory.ts'
import { createProofs } from './proofs.ts'
import { createTeller } from './tell-caller.ts'
import { readToken, tokenInvalid } from './token-header.ts'
import { internalCalls } from '../../internal-calls.ts'

export interface Credentials {
  authorization: string | undefined
  /** The request itself. Its proof is used up once, however often its caller is authenticated. */
  request: object
  /** The header DPoP. The proof in it must be of this verb, and of this path without query. */
  proof: string | undefined
  verb: string
  path: string
  /** Gives the organization that the caller wants to act for. INVALID_ARGUMENT ORGANIZATION_AMBIGUOUS. */
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
   * Gives the caller, and the organization that it acts for. For a public method it does not look at the token: a stale
   * one must keep nobody from signing in again. The organization is then the one that the request names, unchecked.
   *
   * `admit` gets the caller as soon as that is proved, before the organization is checked. Its errors are thrown.
   *
   * UNAUTHENTICATED TOKEN_MISSING, TOKEN_INVALID, TOKEN_FOR_PROJECT, DPOP_PROOF_INVALID; PERMISSION_DENIED for an
   * organization that is unknown, or where the caller has no role; INVALID_ARGUMENT for two organizations;
   * RESOURCE_EXHAUSTED RATE_LIMITED for an address that sent too many false tokens; errors of the services that it
   * asks.
   */
  authenticate(access: Access, credentials: Credentials, admit?: (caller: Caller) => void): Promise<Identity>
  stop(): void
}

const idPattern = /^[\x21-\x7e]{1,200}$/

/** Bytes that the answers of each kind may take, about. */
const capacity = 16 * 1024 * 1024

/** Authenticates by the answers of users and grants, which it caches for at most `maxAge` milliseconds. */
export function createAuthenticator(nats: Nats, strangers: Strangers, maxAge = 30_000): Authenticator {
  const users = createClient(nats, UsersDefinition, internalCalls.gateway.users)
  const grants = createClient(nats, GrantsDefinition, internalCalls.gateway.grants)
  const accessTokens = createAccessTokens(() => users.getSigningKeys({}, ownCall()))
  const proofs = createProofs(users, () => accessTokens.issuer())
  const directory = createDirectory({ users, grants, accessTokens })
  const tellCaller = createTeller()
  const bounds = { capacity, sizeOf, maxAge }
  const holders = createCache<Holder>(bounds)
  // All tokens of a user share these.
  const homes = createCache<Home>(bounds)
  const places = createCache<Place>(bounds)
  const organizations = createCache<string>({ capacity: 10_000, maxAge })

  const subscription = nats.connection.subscribe(callersChanged, {
    callback: (_error, message) => {
      const changed = message.string()
      const organizationId = organizationOf(changed)
      if (organizationId === undefined) {
        holders.evict(({ user }) => user.userId === changed)
        homes.evict(({ userId }) => userId === changed)
        places.evict(({ userId }) => userId === changed)
      } else {
        organizations.evict((known) => known === organizationId)
        homes.evict((home) => home.organizationId === organizationId)
        places.evict((place) => place.organizationId === organizationId)
      }
    },
  })
  const unwatch = nats.onDisconnect(() => {
    for (const cache of [holders, homes, places]) cache.clear()
  })

  // A known token costs an address nothing, so callers go on where strangers have used up its rate.
  async function identify(token: string, credentials: Credentials): Promise<{ holder: Holder; home: Home }> {
    const { clientAddress } = credentials
    const key = hash('sha256', token, 'base64')
    const known = holders.get(key)
    if (!known) strangers.check(clientAddress)
    try {
      const holder =
        known ??
        (await waitFor(
          holders.obtain(key, () => directory.findHolder(token, key)),
          credentials,
        ))
      const { userId, organizationId } = holder.user
      const knownHome = homes.get(userId)
      lookups.add(1, 'callers', known && knownHome ? 'hit' : 'miss')
      const lookup = () => homes.obtain(userId, () => directory.findHome(userId, organizationId))
      const home = knownHome ?? (await waitFor(lookup(), credentials))
      if (home.closed) throw tokenInvalid()
      return { holder, home }
    } catch (error) {
      if (error instanceof RosterError && error.code === codes.UNAUTHENTICATED) strangers.count(clientAddress)
      throw error
    }
  }

  /** The caller as it acts for the organization that it names; or for its own. */
  async function actFor(holder: Holder, home: Home, credentials: Credentials): Promise<Identity> {
    const organization = credentials.organization() || home.organizationId
    if (organization === home.organizationId) return { caller: tellCaller(holder, home), organizationId: organization }
    if (!home.hasRole || !idPattern.test(organization)) throw permissionDenied()
    const { userId } = home
    const key = JSON.stringify([userId, organization])
    const known = places.get(key)
    lookups.add(1, 'callers', known ? 'hit' : 'miss')
    const lookup = () => places.obtain(key, () => directory.findPlace(userId, organization))
    const caller = tellCaller(holder, home, known ?? (await waitFor(lookup(), credentials)))
    if (!actsIn(caller, organization)) await checkOrganization(caller, organization, credentials)
    return { caller, organizationId: organization }
  }

  async function checkOrganization({ instanceRoles }: Caller, organization: string, credentials: Credentials) {
    if (instanceRoles.length === 0) throw permissionDenied()
    const known = organizations.get(organization)
    lookups.add(1, 'organizations', known ? 'hit' : 'miss')
    if (known) return
    const lookup = organizations.obtain(organization, () => directory.checkOrganization(organization))
    await waitFor(lookup, credentials)
  }

  // Whoever shows no token is a stranger, whatever is asked for.
  function read({ authorization, clientAddress }: Credentials) {
    try {
      return readToken(authorization)
    } catch (error) {
      strangers.admit(clientAddress, costOfRead)
      throw error
    }
  }

  return {
    async authenticate(access, credentials, admit = () => {}) {
      if (access.rule === 'public') {
        admit(anonymous)
        const organization = credentials.organization() ?? ''
        if (organization !== '' && !idPattern.test(organization)) throw permissionDenied()
        return { caller: anonymous, organizationId: organization }
      }
      const { token, isBound } = read(credentials)
      const { holder, home } = await identify(token, credentials)
      const { thumbprint, forProject } = holder
      // A bound token without its proof proves nothing, and an unbound token must not pass for a bound one.
      if (isBound !== (thumbprint !== undefined)) throw tokenInvalid()
      if (thumbprint !== undefined) await proofs.check(token, thumbprint, credentials)
      if (forProject && !access.anyAudience) throw tokenForProject()
      admit(tellCaller(holder, home))
      return actFor(holder, home, credentials)
    },
    stop() {
      subscription.unsubscribe()
      unwatch()
    },
  }
}

// Objects take several times the text that tells them.
function sizeOf(answer: object): number {
  return 500 + 4 * JSON.stringify(answer).length
}

function tokenForProject(): RosterError {
  return new RosterError('UNAUTHENTICATED', 'TOKEN_FOR_PROJECT', 'The token is for a project, not for Roster itself.')
}

// A lookup is shared: the deadline of one caller does not end it for the others that wait.
function waitFor<T>(lookup: Promise<T>, { deadline, signal }: Credentials): Promise<T> {
  return withTimeout(lookup, { timeout: deadline - Date.now(), late: deadlineExceeded, signal, gone: clientGone })
}

function clientGone() {
  return new RosterError('CANCELLED', 'CANCELLED', 'The client went away.')
}
