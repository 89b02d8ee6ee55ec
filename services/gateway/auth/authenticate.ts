import { hash } from 'node:crypto'
import { InternalServiceDefinition as GrantsDefinition } from '#gen/roster/grants/v1/internal_service'
import { InternalServiceDefinition as UsersDefinition } from '#gen/roster/users/v1/internal_service'
import type { Nats } from '#lib/nats/connect-nats'
import { callBytes, createClient } from '#lib/rpc/call'
import { codes, deadlineExceeded, RosterError } from '#lib/errors'
import { actsIn, anonymous, type Caller } from '#lib/rpc/caller'
import { type Access, method } from '#lib/rpc/methods'
import { permissionDenied } from '#lib/rpc/authorize'
import { lookups } from '#lib/telemetry/lookups'
import { withTimeout } from '#lib/with-timeout'
import { type AddressRates, costOfRead } from '../rate-limits/address-rates.ts'
import { askAgain, type SecondRequests } from '../ask-again.ts'
import { consoleSessionEnded, otherSession, type PresentedConsole } from './presented-console.ts'
import { createAccessTokens, readToken, tokenInvalid } from './access-tokens.ts'
import { createCallerCache } from './caller-cache.ts'
import { createDirectory, type Holder, type Home, ownCall } from './directory.ts'
import { createProofs } from './dpop-proofs.ts'
import { internalCalls } from '../../internal-calls.ts'

export interface Credentials {
  authorization: string | undefined
  /** The session of the console, in place of a token. */
  console: PresentedConsole | undefined
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

/** A caller that has proved itself. Without a holder and a home, it is the anonymous caller of a public method. */
export interface Proved {
  /** The caller as it acts for its own organization. */
  caller: Caller
  holder?: Holder
  home?: Home
}

export interface Identity {
  caller: Caller
  /** The acting organization. */
  organizationId: string
}

export interface Authenticator {
  /**
   * Gives the caller. For a public method it does not look at the token: a caller with a stale one must be able to sign
   * in again. Where the method wants to know its caller, a valid token counts and any other does not.
   *
   * UNAUTHENTICATED TOKEN_MISSING, TOKEN_INVALID, TOKEN_FOR_PROJECT, DPOP_PROOF_INVALID, CONSOLE_SESSION_ENDED; ABORTED CONSOLE_SESSION_OTHER; RESOURCE_EXHAUSTED RATE_LIMITED
   * for an address that sent too many false tokens; errors of the services that it asks.
   */
  authenticate(access: Access, credentials: Credentials): Promise<Proved>
  /**
   * Gives the caller as it acts for the organization that it names, or for its own. For a public method, it is the
   * organization that the request names, unchecked.
   *
   * PERMISSION_DENIED for an organization that is unknown, or where the caller has no role; INVALID_ARGUMENT for two
   * organizations; errors of the services that it asks.
   */
  actFor(proved: Proved, credentials: Credentials): Promise<Identity>
  /** Whether a user has a role anywhere. Errors of the services that it asks. */
  hasRole(userId: string, organizationId: string): Promise<boolean>
  stop(): void
}

const idPattern = /^[\x21-\x7e]{1,200}$/

const publicCaller: Proved = { caller: anonymous }

/**
 * Authenticates by the answers of users and grants, which it caches for at most `maxAge` milliseconds. To look up a token
 * uses nothing up and counts no try, so a silent lookup is asked again, too.
 */
export function createAuthenticator(
  nats: Nats,
  addressRates: AddressRates,
  secondRequests: SecondRequests,
  maxAge = 30_000,
): Authenticator {
  const ask: typeof callBytes = (...asked) =>
    askAgain(secondRequests, method(asked[1]), false, () => callBytes(...asked))
  const users = createClient(nats, UsersDefinition, internalCalls.gateway.users, ask)
  const grants = createClient(nats, GrantsDefinition, internalCalls.gateway.grants, ask)
  const accessTokens = createAccessTokens(() => users.getSigningKeys({}, ownCall()))
  const proofs = createProofs(users, () => accessTokens.issuer())
  const directory = createDirectory({ users, grants, accessTokens })
  const cache = createCallerCache(nats, maxAge)

  // A known token costs an address nothing, so callers go on where others have used up its rate.
  async function find(
    token: string | undefined,
    key: string,
    credentials: Credentials,
  ): Promise<{ holder: Holder; home: Home }> {
    const { clientAddress } = credentials
    const known = cache.holders.get(key)
    if (!known) addressRates.check(clientAddress)
    try {
      const findHolder = () => cache.holders.obtain(key, () => directory.findHolder(token, key))
      const holder = known ?? (await waitFor(findHolder(), credentials))
      const { userId, organizationId } = holder.user
      const knownHome = cache.homes.get(userId)
      lookups.add(1, 'callers', known && knownHome ? 'hit' : 'miss')
      const home = knownHome ?? (await waitFor(findHome(userId, organizationId), credentials))
      if (home.closed) throw tokenInvalid()
      return { holder, home }
    } catch (error) {
      if (error instanceof RosterError && error.code === codes.UNAUTHENTICATED) addressRates.count(clientAddress)
      throw error
    }
  }

  function findHome(userId: string, organizationId: string): Promise<Home> {
    return cache.homes.obtain(userId, () => directory.findHome(userId, organizationId))
  }

  async function checkOrganization({ instanceRoles }: Caller, organization: string, credentials: Credentials) {
    if (instanceRoles.length === 0) throw permissionDenied()
    const known = cache.organizations.get(organization)
    lookups.add(1, 'organizations', known ? 'hit' : 'miss')
    if (known) return
    const lookup = cache.organizations.obtain(organization, () => directory.checkOrganization(organization))
    await waitFor(lookup, credentials)
  }

  // A caller without a token counts by its address, whatever it asks for.
  function read({ authorization, clientAddress }: Credentials) {
    try {
      return readToken(authorization)
    } catch (error) {
      addressRates.admit(clientAddress, costOfRead)
      throw error
    }
  }

  async function prove(access: Access, credentials: Credentials): Promise<Proved> {
    if (credentials.console) return proveConsole(credentials.console, credentials)
    const { token, isBound } = read(credentials)
    const { holder, home } = await find(token, hash('sha256', token, 'base64'), credentials)
    const { thumbprint, forProject } = holder
    // A bound token without its proof proves nothing, and an unbound token must not pass for a bound one.
    if (isBound !== (thumbprint !== undefined)) throw tokenInvalid()
    if (thumbprint !== undefined) await proofs.check(token, thumbprint, credentials)
    if (forProject && !access.anyAudience) throw tokenForProject()
    return { caller: cache.callerOf(holder, home), holder, home }
  }

  async function proveConsole(session: PresentedConsole, credentials: Credentials): Promise<Proved> {
    try {
      const { holder, home } = await find(undefined, session.hash.toString('base64'), credentials)
      const { userId, authorizationId: name = '' } = holder.user
      if (name !== session.name) throw otherSession({ name, userId })
      return { caller: cache.callerOf(holder, home), holder, home }
    } catch (error) {
      if (error instanceof RosterError && error.reason === 'TOKEN_INVALID') throw consoleSessionEnded()
      throw error
    }
  }

  return {
    async authenticate(access, credentials) {
      if (access.rule !== 'public') return prove(access, credentials)
      const presentsNothing = credentials.authorization === undefined && !credentials.console
      if (!access.knowsCaller || presentsNothing) return publicCaller
      try {
        // The method acts in the organization that the request names, as it does for anybody.
        const { caller } = await prove(access, credentials)
        return { caller }
      } catch (error) {
        if (error instanceof RosterError && provesNobody.has(error.code)) return publicCaller
        throw error
      }
    },
    async actFor({ caller, holder, home }, credentials) {
      const named = credentials.organization() || (home?.organizationId ?? '')
      if (named === home?.organizationId) return { caller, organizationId: named }
      if (!holder || !home) {
        if (named !== '' && !idPattern.test(named)) throw permissionDenied()
        return { caller, organizationId: named }
      }
      if (!home.hasRole || !idPattern.test(named)) throw permissionDenied()
      const { userId } = home
      const key = JSON.stringify([userId, named])
      const known = cache.places.get(key)
      lookups.add(1, 'callers', known ? 'hit' : 'miss')
      const lookup = () => cache.places.obtain(key, () => directory.findPlace(userId, named))
      const acting = cache.callerOf(holder, home, known ?? (await waitFor(lookup(), credentials)))
      if (!actsIn(acting, named)) await checkOrganization(acting, named, credentials)
      return { caller: acting, organizationId: named }
    },
    hasRole: async (userId, organizationId) =>
      (cache.homes.get(userId) ?? (await findHome(userId, organizationId))).hasRole,
    stop: () => cache.stop(),
  }
}

// The token is wrong, or the address sent too many wrong ones for it to be looked at.
const provesNobody = new Set<number>([codes.UNAUTHENTICATED, codes.RESOURCE_EXHAUSTED])

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
