import { RosterError } from '../errors.ts'
import { holds } from './caller.ts'
import { callerIn } from './caller-in.ts'
import type { Call } from './headers.ts'
import type { Method } from './methods.ts'

/** Finds the owner of an object, and its project; undefined when the object does not exist. */
export type FindOwner<Context> = (
  context: Context,
  id: string,
) => Promise<{ userId?: string; organizationId: string; projectId?: string } | undefined>

/**
 * The permission check: throws unless the method's access option allows the caller. Returns whether the caller holds the declared permission,
 * because a caller may reach its own object without it. UNAUTHENTICATED TOKEN_MISSING, PERMISSION_DENIED.
 */
export async function authorize<Context>(
  { access, desc }: Method,
  request: Record<string, unknown>,
  call: Call,
  context: Context,
  owners: Record<string, FindOwner<Context>> = {},
): Promise<boolean> {
  const { caller, organizationId } = call
  if (access.rule === 'public' || access.rule === 'internal') return false
  if (caller.userId === '') throw tokenMissing()
  if (access.rule === 'authenticated') return false
  if (access.scope === 'organization' && holds(caller, access.permission, organizationId)) return true
  if (holds(caller, access.permission)) return true
  if (access.project) {
    // Only a caller with roles in projects of this organization makes the service look.
    const roles = Object.hasOwn(caller.projectRoles, organizationId) ? caller.projectRoles[organizationId] : undefined
    const project = roles && (await projectOf(access.project))
    if (project !== undefined && holds(caller, access.permission, organizationId, project)) return true
  }
  // The operation finds whom the name means, and asks for the permission there.
  if (access.orNamed !== '' && fieldOf(access.resource) === '' && fieldOf(access.orNamed) !== '') return false
  if (access.scope === 'resource') {
    const owner = await ownerOf(access.resource)
    if (owner && holds(await callerIn(call, owner.organizationId), access.permission, owner.organizationId)) return true
    if (owner && access.orSelf && owner.userId === caller.userId) return false
    if (access.orPermission !== '' && holds(caller, access.orPermission)) return false
  }
  throw permissionDenied()

  // The project itself, or the project of the object that the field names.
  async function projectOf(name: string): Promise<string | undefined> {
    if (!owners[name]) return fieldOf(name)
    const owner = await ownerOf(name)
    return owner?.organizationId === organizationId ? owner.projectId : undefined
  }

  async function ownerOf(name: string) {
    const findOwner = owners[name]
    if (!findOwner) throw new Error(`no function finds the owner of a ${name}`)
    const id = fieldOf(name)
    // Validation runs later, so check here for an id that no database can hold. Such an object has no owner.
    return id.includes('\0') ? undefined : findOwner(context, id)
  }

  function fieldOf(name: string): string {
    const field = desc.input.fields.find((candidate) => candidate.name === name)
    if (!field) throw new Error(`${desc.name} has no field ${name}`)
    return String(request[field.localName])
  }
}

/** Nobody calls. */
export function tokenMissing(): RosterError {
  return new RosterError('UNAUTHENTICATED', 'TOKEN_MISSING', 'A bearer token is needed.')
}

/** The same error for everything that a caller may not do or see. */
export function permissionDenied(): RosterError {
  return new RosterError('PERMISSION_DENIED', 'PERMISSION_DENIED', 'The caller lacks the permission for this call.')
}
