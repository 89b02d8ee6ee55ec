import { once } from 'node:events'
import { createServer, type Http2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { Code, ConnectError, type ConnectRouter, type HandlerContext, type Interceptor } from '@connectrpc/connect'
import { connectNodeAdapter } from '@connectrpc/connect-node'
import { AdminService } from '@zitadel/proto/zitadel/admin_pb'
import { ManagementService } from '@zitadel/proto/zitadel/management_pb'
import { OrganizationService } from '@zitadel/proto/zitadel/org/v2/org_service_pb'
import { UserService } from '@zitadel/proto/zitadel/user/v2/user_service_pb'
import type { ZitadelData } from './zitadel-data.ts'

export const zitadelToken = 'token-of-zitadel'

/**
 * Serves the lists of ZITADEL that the migration reads, over gRPC, from its own published services. `busy`: so many
 * calls are refused first, as ZITADEL does where it has too many. `endless`: the list of users never ends.
 */
export async function startZitadel(data: ZitadelData, { busy = 0, endless = false } = {}) {
  let refusals = busy
  const check: Interceptor = (next) => async (request) => {
    const isKnown = request.header.get('authorization') === `Bearer ${zitadelToken}`
    if (!isKnown) throw new ConnectError('no token', Code.Unauthenticated)
    if (refusals-- > 0) throw new ConnectError('too many calls', Code.ResourceExhausted)
    return next(request)
  }
  const sessions = new Set<Http2Session>()
  const server = createServer(
    connectNodeAdapter({ routes: (router) => route(router, data, endless), interceptors: [check] }),
  )
  server.on('session', (session) => {
    sessions.add(session)
    session.on('close', () => sessions.delete(session))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      for (const session of sessions) session.destroy()
      await new Promise((done) => server.close(done))
    },
  }
}

function route(router: ConnectRouter, data: ZitadelData, endless: boolean): void {
  router.service(OrganizationService, {
    listOrganizations: ({ query, queries }) => {
      const wanted = queries.flatMap(({ query: one }) => (one.case === 'idQuery' ? [one.value.id] : []))
      return page(
        data.organizations.filter(({ id }) => wanted.every((one) => one === id)),
        query,
      )
    },
  })
  router.service(UserService, {
    listUsers({ query, queries }) {
      if (endless) return { result: endlessUsers(data, Number(query?.offset)), details: { totalResult: 1n << 40n } }
      let users = data.users
      for (const { query: one } of queries) {
        if (one.case === 'organizationIdQuery')
          users = users.filter(({ details }) => details?.resourceOwner === one.value.organizationId)
        if (one.case === 'inUserIdsQuery') {
          const wanted = new Set(one.value.userIds)
          users = users.filter(({ userId }) => wanted.has(userId!))
        }
      }
      return page(users, query)
    },
  })
  const of = <Item>(lists: Record<string, Item[]>, key: string) => (Object.hasOwn(lists, key) ? lists[key]! : [])
  router.service(ManagementService, {
    listProjects: ({ query }, context) =>
      page(
        data.projects.filter(({ details }) => details?.resourceOwner === acting(context)),
        query,
      ),
    listProjectRoles: ({ query, projectId }) => page(of(data.roles, projectId), query),
    listProjectGrants: ({ query, projectId }) =>
      page(
        data.projectGrants.filter((grant) => grant.projectId === projectId),
        query,
      ),
    listUserGrants: ({ query }, context) =>
      page(
        data.userGrants.filter(({ orgId }) => orgId === acting(context)),
        query,
      ),
    listOrgMembers: ({ query }, context) => page(of(data.members, acting(context)), query),
    listProjectMembers: ({ query, projectId }) => page(of(data.members, projectId), query),
    listProjectGrantMembers: ({ query, grantId }) => page(of(data.members, grantId), query),
    listProviders: ({ query }, context) => page(of(data.providers, acting(context)), query),
  })
  router.service(AdminService, {
    listIAMMembers: ({ query }) => page(of(data.members, ''), query),
    listProviders: ({ query }) => page(of(data.providers, ''), query),
  })
}

function acting({ requestHeader }: HandlerContext): string {
  return requestHeader.get('x-zitadel-orgid') ?? ''
}

function page<Item>(all: Item[], query: { offset: bigint; limit: number } | undefined, total = all.length) {
  const [offset, limit] = [Number(query?.offset ?? 0n), query?.limit || 100]
  return { result: all.slice(offset, offset + limit), details: { totalResult: BigInt(total) } }
}

function endlessUsers({ users }: ZitadelData, offset: number): ZitadelData['users'] {
  return Array.from({ length: 500 }, (_, n) => ({ ...users[0]!, userId: String(offset + n) }))
}
