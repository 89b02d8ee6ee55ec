import type {
  InternalServiceDefinition as GrantsDefinition,
  ProjectMembership,
} from '#gen/roster/grants/v1/internal_service'
import type { InternalServiceDefinition as UsersDefinition } from '#gen/roster/users/v1/internal_service'
import { codes, RosterError } from '#lib/errors'
import { permissionDenied } from '#lib/rpc/authorize'
import type { Caller } from '#lib/rpc/caller'
import type { Client } from '#lib/rpc/call'
import type { AccessTokens } from './access-tokens.ts'
import type { Remembered } from './memory.ts'
import { tokenInvalid } from './token-header.ts'
import type { internalCalls } from '../../internal-calls.ts'

/** The holder of a token. */
export interface Holder {
  caller: Caller
  /** The thumbprint of the key that the token is bound to. */
  thumbprint: string | undefined
  /** The token is for a project. Its servers have seen the token and could use it here. */
  forProject: boolean
}

/** Asks other services about callers. */
export interface Directory {
  /** Finds the holder of a token, until the token ends. UNAUTHENTICATED TOKEN_INVALID; errors of the services. */
  findHolder(token: string, tokenHash: string): Promise<Remembered<Holder>>
  /** The id of an organization that exists. PERMISSION_DENIED where there is none; errors of the services. */
  checkOrganization(organizationId: string): Promise<Remembered<string>>
}

/** The services that the directory asks. */
export interface DirectoryServices {
  users: Client<typeof UsersDefinition, (typeof internalCalls.gateway.users)[number]>
  grants: Client<typeof GrantsDefinition, (typeof internalCalls.gateway.grants)[number]>
  accessTokens: AccessTokens
}

const timeout = 5_000

/** The call with which the gateway itself asks a service. */
export function ownCall(): { requestId: string; deadline: number } {
  return { requestId: '', deadline: Date.now() + timeout }
}

export function createDirectory({ users, grants, accessTokens }: DirectoryServices): Directory {
  return {
    async findHolder(token, tokenHash) {
      const call = ownCall()
      await accessTokens.check(token)
      const found = await users.authenticate({ tokenHash: Buffer.from(tokenHash, 'base64') }, call)
      const { userId, human, organizationId, sessionId, scope, expirationDate } = found
      const request = { userId, organizationId, withInactive: false }
      const { instanceRoles, memberships, projectMemberships, organizationClosed } = await grants.listMemberships(
        request,
        call,
      )
      if (organizationClosed) throw tokenInvalid()
      const until = expirationDate?.getTime()
      const caller: Caller = {
        userId,
        human,
        organizationId,
        sessionId,
        scope,
        tokenEnd: scope === undefined ? undefined : until,
        instanceRoles,
        organizationRoles: Object.fromEntries(
          memberships.map((membership) => [membership.organizationId, membership.roles]),
        ),
        projectRoles: byOrganization(projectMemberships),
      }
      return { value: { caller, thumbprint: found.dpopThumbprint, forProject: found.forProject }, until }
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

function byOrganization(memberships: ProjectMembership[]): Caller['projectRoles'] {
  const groups = Map.groupBy(memberships, ({ organizationId }) => organizationId)
  // An id may be any text: from entries it becomes a property of its own, even "__proto__".
  return Object.fromEntries(
    [...groups].map(([organizationId, projects]) => [
      organizationId,
      Object.fromEntries(projects.map(({ projectId, roles }) => [projectId, roles])),
    ]),
  )
}
