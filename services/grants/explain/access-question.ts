import type { ExplainPermissionRequest } from '#gen/roster/grants/v1/permission_service'
import type { Violation } from '#lib/errors'
import { authorize, type FindOwner } from '#lib/rpc/authorize'
import type { Caller } from '#lib/rpc/caller'
import { type Method, offered } from '#lib/rpc/methods'
import { permissionsIn } from '#lib/rpc/permissions-in'
import { permissions } from '#lib/rpc/roles'

/** Whether a user may do what needs a permission, or may call an operation. */
export interface AccessQuestion {
  userId: string
  organizationId: string
  projectId: string
  /** The operation is called for the user itself, or for an object of its own. */
  own: boolean
  /** Empty where the operation needs none. */
  permission: string
  /** Undefined for a question about the permission alone. */
  method: Method | undefined
}

/** The faults of a question that no rule of a field finds. */
export function faultsOf({ question, asOf }: ExplainPermissionRequest): Violation[] {
  if (!question)
    return [{ field: 'question', description: 'must have one of permission, operation, role and requestId' }]
  if (question.$case === 'permission' && !permissions.includes(question.value))
    return [{ field: 'permission', description: 'is none that an operation asks for' }]
  if (question.$case === 'operation' && !operations.has(question.value))
    return [{ field: 'operation', description: 'must be an operation, such as /roster.users.v1.UserService/GetUser' }]
  if (question.$case === 'requestId' && asOf)
    return [{ field: 'requestId', description: 'has a time of its own, so leave asOf out' }]
  return []
}

/** The question of a request that has no faults. */
export function accessQuestion(
  { userId, projectId, own }: ExplainPermissionRequest,
  question: { $case: 'permission' | 'operation'; value: string },
  organizationId: string,
): AccessQuestion {
  const method = question.$case === 'operation' ? operations.get(question.value) : undefined
  const permission = method ? method.access.permission : question.value
  return { userId, organizationId, projectId, own, permission, method }
}

/**
 * Whether these roles are enough. The authorizer itself decides: it gets a call of the method in the organization, for
 * an object there.
 */
export async function passes(question: AccessQuestion, caller: Caller): Promise<boolean> {
  const { method, permission, organizationId, projectId, own, userId } = question
  if (!method) return permissionsIn(caller, organizationId, projectId || undefined).includes(permission)
  const object = { organizationId: own ? caller.organizationId : organizationId, projectId, ...(own && { userId }) }
  const found: FindOwner<undefined> = () => Promise.resolve(object)
  const { resource, project } = method.access
  const owners = { ...(resource && { [resource]: found }), ...(project && { [project]: found }) }
  const call = { caller, organizationId, requestId: '', deadline: Infinity, clientAddress: '', traceparent: '' }
  return authorize(method, {}, call, undefined, owners).then(
    () => true,
    () => false,
  )
}

const operations: ReadonlyMap<string, Method> = new Map(offered.map((method) => [method.path, method]))
