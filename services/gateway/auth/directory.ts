import type { InternalServiceDefinition as GrantsDefinition } from '#gen/roster/grants/v1/internal_service'
import type { InternalServiceDefinition as UsersDefinition } from '#gen/roster/users/v1/internal_service'
import { codes, RosterError } from '#lib/errors'
import type { Cached } from '#lib/cache'
import { permissionDenied } from '#lib/rpc/authorize'
import type { Caller, RolesThere } from '#lib/rpc/caller'
import type { Client } from '#lib/rpc/call'
import type { AccessTokens } from './access-tokens.ts'
import type { internalCalls } from '../../internal-calls.ts'
import { membershipsIn, rolesThere } from '../../roles-there.ts'

/** What a token says of its holder. */
export interface Holder {
  user: Pick<Caller, 'userId' | 'human' | 'organizationId' | 'sessionId' | 'scope' | 'tokenEnd' | 'authorizationId'>
  /** The thumbprint of the key that the token is bound to. */
  thumbprint: string | undefined
  /** The token is for a project. Its servers have seen the token and could use it here. */
  forProject: boolean
  /** What the token stands on beside its user, as announcements name it. */
  standsOn: string[]
}

/** What a user holds in one organization. */
export interface Place extends RolesThere {
  userId: string
  organizationId: string
}

/** What a user holds in its own organization and on the instance, and whether it holds anything. */
export interface Home extends Place {
  /** The organization is deactivated or removed: its users may do nothing. */
  closed: boolean
  hasRole: boolean
  instanceRoles: string[]
}

/** Asks other services about callers. */
export interface Directory {
  /** Finds the holder of a token, until the token ends; without a text, of the cookie of the console with this hash. UNAUTHENTICATED TOKEN_INVALID; errors of the services. */
  findHolder(token: string | undefined, tokenHash: string): Promise<Cached<Holder>>
  /** Errors of grants. */
  findHome(userId: string, organizationId: string): Promise<Cached<Home>>
  /** Errors of grants. */
  findPlace(userId: string, organizationId: string): Promise<Cached<Place>>
  /** The id of an organization that exists. PERMISSION_DENIED where there is none; errors of the services. */
  checkOrganization(organizationId: string): Promise<Cached<string>>
}

export interface DirectoryServices {
  users: Client<typeof UsersDefinition, (typeof internalCalls.gateway.users)[number]>
  grants: Client<typeof GrantsDefinition, (typeof internalCalls.gateway.grants)[number]>
  accessTokens: AccessTokens
}

const timeout = 5_000
/** Milliseconds for which an answer holds whose end nobody announces. */
const briefly = 1_000

/** The call with which the gateway itself asks a service. */
export function ownCall(): { requestId: string; deadline: number } {
  return { requestId: '', deadline: Date.now() + timeout }
}

export function createDirectory({ users, grants, accessTokens }: DirectoryServices): Directory {
  return {
    async findHolder(token, tokenHash) {
      const call = ownCall()
      if (token !== undefined) await accessTokens.check(token)
      const found = await users.authenticate({ tokenHash: Buffer.from(tokenHash, 'base64') }, call)
      const { userId, human, organizationId, sessionId, scope, expirationDate } = found
      const end = expirationDate?.getTime()
      const tokenEnd = scope === undefined ? undefined : end
      const authorizationId = found.authorizationId || undefined
      const user = { userId, human, organizationId, sessionId, scope, tokenEnd, authorizationId }
      const { dpopThumbprint: thumbprint, forProject, standsOn, brief } = found
      const until = Math.min(end ?? Infinity, brief ? Date.now() + briefly : Infinity)
      return { value: { user, thumbprint, forProject, standsOn }, until }
    },
    async findHome(userId, organizationId) {
      const request = { ...membershipsIn(userId, organizationId), organizationId }
      const answer = await grants.listMemberships(request, ownCall())
      const { hasRole, instanceRoles, organizationClosed: closed } = answer
      const value = { userId, organizationId, ...rolesThere(answer, organizationId), closed, hasRole, instanceRoles }
      return { value }
    },
    async findPlace(userId, organizationId) {
      const answer = await grants.listMemberships(membershipsIn(userId, organizationId), ownCall())
      return { value: { userId, organizationId, ...rolesThere(answer, organizationId) } }
    },
    async checkOrganization(organizationId) {
      try {
        await grants.lookupOrganization({ by: { $case: 'organizationId', value: organizationId } }, ownCall())
      } catch (error) {
        if (error instanceof RosterError && error.code === codes.NOT_FOUND) throw permissionDenied()
        throw error
      }
      return { value: organizationId }
    },
  }
}
