import { setTimeout as sleep } from 'node:timers/promises'
import { Code, ConnectError, createClient, type Interceptor } from '@connectrpc/connect'
import { createGrpcTransport } from '@connectrpc/connect-node'
import { AdminService } from '@zitadel/proto/zitadel/admin_pb'
import type { Provider } from '@zitadel/proto/zitadel/idp_pb'
import { IDPOwnerType } from '@zitadel/proto/zitadel/idp_pb'
import { ManagementService } from '@zitadel/proto/zitadel/management_pb'
import type { Member } from '@zitadel/proto/zitadel/member_pb'
import type { Organization } from '@zitadel/proto/zitadel/org/v2/org_pb'
import { OrganizationFieldName } from '@zitadel/proto/zitadel/org/v2/query_pb'
import { OrganizationService } from '@zitadel/proto/zitadel/org/v2/org_service_pb'
import type { GrantedProject, Project, Role } from '@zitadel/proto/zitadel/project_pb'
import { UserFieldName } from '@zitadel/proto/zitadel/user/v2/query_pb'
import type { User } from '@zitadel/proto/zitadel/user/v2/user_pb'
import { UserService } from '@zitadel/proto/zitadel/user/v2/user_service_pb'
import type { UserGrant } from '@zitadel/proto/zitadel/user_pb'
import { pagesOf } from './pages-of.ts'

type Pages<Item> = AsyncGenerator<Item[]>

/** What the migration reads of ZITADEL, by its own client. It changes nothing there. */
export interface Source {
  /** The one, or all. */
  organizations(id: string | undefined): Pages<Organization>
  users(organization: string): Pages<User>
  usersById(ids: string[]): Promise<User[]>
  projects(organization: string): Pages<Project>
  roles(organization: string, projectId: string): Pages<Role>
  projectGrants(organization: string, projectId: string): Pages<GrantedProject>
  userGrants(organization: string): Pages<UserGrant>
  instanceMembers(): Pages<Member>
  organizationMembers(organization: string): Pages<Member>
  projectMembers(organization: string, projectId: string): Pages<Member>
  projectGrantMembers(organization: string, projectId: string, grantId: string): Pages<Member>
  instanceProviders(): Pages<Provider>
  organizationProviders(organization: string): Pages<Provider>
}

const pageSize = 500
/** More than a page of it has. */
const mostBytes = 32 << 20
const timeoutMs = 60_000
const patience = 300_000
const passing = new Set([Code.Unavailable, Code.ResourceExhausted, Code.DeadlineExceeded, Code.Aborted])

export function openSource({ url, token, most }: { url: string; token: string; most: number }): Source {
  const authorize: Interceptor = (next) => (request) => {
    request.header.set('authorization', `Bearer ${token}`)
    return next(request)
  }
  const transport = createGrpcTransport({
    baseUrl: url,
    interceptors: [repeat, authorize],
    readMaxBytes: mostBytes,
    defaultTimeoutMs: timeoutMs,
  })
  const [organizations, users] = [createClient(OrganizationService, transport), createClient(UserService, transport)]
  const [management, admin] = [createClient(ManagementService, transport), createClient(AdminService, transport)]
  const within = (organization: string) => ({ headers: { 'x-zitadel-orgid': organization } })
  const read = <Item extends object>(list: (at: Place) => Promise<Answer<Item>>): Pages<Item> =>
    pagesOf(async (offset) => {
      const { result, details } = await list({ query: { offset: BigInt(offset), limit: pageSize, asc: true } })
      return { items: result, total: Number(details?.totalResult ?? 0n) }
    }, most)

  return {
    organizations: (id) =>
      read(({ query }) =>
        organizations.listOrganizations({
          query,
          sortingColumn: OrganizationFieldName.NAME,
          queries: id === undefined ? [] : [{ query: { case: 'idQuery', value: { id } } }],
        }),
      ),
    users: (organizationId) =>
      read(({ query }) =>
        users.listUsers({
          query,
          sortingColumn: UserFieldName.CREATION_DATE,
          queries: [{ query: { case: 'organizationIdQuery', value: { organizationId } } }],
        }),
      ),
    async usersById(userIds) {
      const queries = [{ query: { case: 'inUserIdsQuery' as const, value: { userIds } } }]
      return (await users.listUsers({ query: { limit: 2 * pageSize }, queries })).result
    },
    projects: (organization) =>
      read(({ query }) =>
        management.listProjects(
          {
            query,
            queries: [{ query: { case: 'projectResourceOwnerQuery', value: { resourceOwner: organization } } }],
          },
          within(organization),
        ),
      ),
    roles: (organization, projectId) =>
      read(({ query }) => management.listProjectRoles({ query, projectId }, within(organization))),
    projectGrants: (organization, projectId) =>
      read(({ query }) => management.listProjectGrants({ query, projectId }, within(organization))),
    userGrants: (organization) => read(({ query }) => management.listUserGrants({ query }, within(organization))),
    instanceMembers: () => read(({ query }) => admin.listIAMMembers({ query })),
    organizationMembers: (organization) =>
      read(({ query }) => management.listOrgMembers({ query }, within(organization))),
    projectMembers: (organization, projectId) =>
      read(({ query }) => management.listProjectMembers({ query, projectId }, within(organization))),
    projectGrantMembers: (organization, projectId, grantId) =>
      read(({ query }) => management.listProjectGrantMembers({ query, projectId, grantId }, within(organization))),
    instanceProviders: () => read(({ query }) => admin.listProviders({ query })),
    organizationProviders: (organization) =>
      read(({ query }) =>
        management.listProviders(
          {
            query,
            queries: [{ query: { case: 'ownerTypeQuery', value: { ownerType: IDPOwnerType.IDP_OWNER_TYPE_ORG } } }],
          },
          within(organization),
        ),
      ),
  }
}

interface Place {
  query: { offset: bigint; limit: number; asc: boolean }
}

interface Answer<Item> {
  result: Item[]
  details?: { totalResult: bigint }
}

/** Asks again where ZITADEL is busy or away: all that is asked are reads. */
const repeat: Interceptor = (next) => async (request) => {
  const begun = Date.now()
  for (let count = 0; ; count++) {
    try {
      return await next(request)
    } catch (cause) {
      const error = ConnectError.from(cause)
      if (error.code === Code.Unauthenticated)
        throw new Error(`ZITADEL refuses the token: ${error.rawMessage}.`, { cause })
      const isTooLarge = /readMaxBytes/.test(error.rawMessage)
      if (isTooLarge || !passing.has(error.code) || Date.now() - begun > patience)
        throw new Error(`ZITADEL does not answer ${request.method.name}: ${error.message}.`, { cause })
      const asked = 1000 * Number(error.metadata.get('retry-after') ?? 0) || 0
      await sleep(Math.max(asked, Math.min(30_000, 100 * 2 ** count)))
    }
  }
}
