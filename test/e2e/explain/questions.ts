import type { JsonObject } from '@bufbuild/protobuf'
import type { Operation } from '../../examples/contract.ts'
import { ok } from '../../examples/people.ts'
import { type CallOptions, factsOf } from '../clients/call.ts'
import { callGrpc } from '../clients/grpc.ts'
import type { Scene } from './histories.ts'

/** A question in the words of an explanation, and as the authorizer answers it. */
export interface Question {
  organization: string
  request: JsonObject
  ask(): Promise<boolean>
}

/** Questions about the users of a scene: permissions, operations and roles, in both organizations. */
export function questionsAbout({ users, home, abroad, projectId }: Scene, admin: CallOptions): Question[] {
  return users.flatMap(({ userId, token, organization: own }, index) => {
    const as = (organization: string) => ({ url: admin.url!, token, organization })
    const isPassed = async (operation: Operation, request: JsonObject, organization: string) => {
      const headers = /^(Get|Search)/.test(operation) ? {} : { 'if-match': '"999999999999"' }
      const { code } = factsOf(await callGrpc(operation, request, { ...as(organization), headers }))
      return code !== 7 && code !== 16
    }
    const permission = (organization: string, name: string, more: { projectId?: string } = {}): Question => ({
      organization,
      request: { userId, permission: name, ...more },
      async ask() {
        const { ok: found } = await callGrpc('GetMyPermissions', more, as(organization))
        return ((found?.permissions ?? []) as string[]).includes(name)
      },
    })
    const operation = (path: string, organization: string, asked: JsonObject, request: JsonObject): Question => ({
      organization,
      request: { userId, operation: `/roster.${path}`, ...asked },
      ask: () => isPassed(path.split('/')[1] as Operation, request, organization),
    })
    const role = (organization: string, roleKey: string): Question => ({
      organization,
      request: { userId, role: { projectId, roleKey } },
      async ask() {
        if (!(await isPassed('GetMyPermissions', {}, own))) return false
        const held = await callGrpc('ListUserRoles', { userId, projectId }, { ...admin, organization })
        return ((held.ok?.roleKeys ?? []) as string[]).includes(roleKey)
      },
    })
    const other = users[1 - index]!
    return [
      permission(home, 'project.write'),
      permission(home, 'project.write', { projectId }),
      permission(home, 'user.grant.read', { projectId }),
      permission(abroad, 'user.read'),
      permission(home, 'iam.member.read'),
      permission(home, 'org.create'),
      operation('grants.v1.ProjectService/UpdateProject', home, { projectId }, { projectId, name: 'x' }),
      operation('grants.v1.ProjectService/AddProject', abroad, {}, { name: 'x' }),
      operation('grants.v1.UserGrantService/SearchMyGrants', home, {}, {}),
      operation('grants.v1.InstanceService/SearchInstanceMembers', home, {}, {}),
      operation('users.v1.UserService/GetUser', own, { own: true }, { userId }),
      operation('users.v1.UserService/GetUser', other.organization, {}, { userId: other.userId }),
      role(home, 'reader'),
      role(abroad, 'writer'),
    ]
  })
}

/** The answer of the explanation, which the administrator asks for. */
export async function explains(
  { organization, request }: Question,
  asOf: JsonObject,
  admin: CallOptions,
): Promise<boolean> {
  const answer = ok(await callGrpc('ExplainPermission', { ...request, ...asOf }, { ...admin, organization }))
  const { allowed = false, obstacles = [], grounds = [] } = answer
  const reasons = (grounds as { kind: string; allows?: boolean }[]).filter(({ allows }) => allows)
  const isOfRole = 'role' in request
  const named = isOfRole ? reasons.filter(({ kind }) => kind === 'GROUND_KIND_USER_GRANT') : reasons
  // What it names has to fit what it says.
  if (allowed !== (named.length > 0 && obstacles.length === 0)) throw new Error(JSON.stringify(answer))
  return allowed
}
