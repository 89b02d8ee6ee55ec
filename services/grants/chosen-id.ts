import { RosterError } from '#lib/errors'
import type { Aggregate } from '#lib/eventstore/aggregate'
import { instance } from '#lib/instance'
import { permissionDenied } from '#lib/rpc/authorize'
import { type Caller, holds } from '#lib/rpc/caller'

/**
 * Throws PERMISSION_DENIED where a caller chooses an id without the permission on the instance. Otherwise one
 * organization could take the ids that another one will bring along, and ask for ids of all others.
 */
export function permitChosenId(caller: Caller, permission: string, id: string | undefined): void {
  if (id !== undefined && !holds(caller, permission)) throw permissionDenied()
}

/** Throws ALREADY_EXISTS where the new object has an id that is or was in use. */
export function refuseTakenId({ type, id, state }: Aggregate): void {
  if (state !== undefined || reserved[type] === id) throw taken[type]!()
}

const reserved: Record<string, string> = {
  // Roles that belong to the id of the instance count in every organization.
  organization: instance.id,
  // A scope that names this project means Roster itself.
  project: 'zitadel',
  application: instance.console.id,
}

const taken: Record<string, () => RosterError> = {
  organization: () => new RosterError('ALREADY_EXISTS', 'ORGANIZATION_ID_TAKEN', 'An organization has or had this id.'),
  project: () => new RosterError('ALREADY_EXISTS', 'PROJECT_ID_TAKEN', 'A project has or had this id.'),
  project_grant: () =>
    new RosterError('ALREADY_EXISTS', 'PROJECT_GRANT_ID_TAKEN', 'A grant of a project has or had this id.'),
  application: () => new RosterError('ALREADY_EXISTS', 'APPLICATION_ID_TAKEN', 'An application has or had this id.'),
  user_grant: () => new RosterError('ALREADY_EXISTS', 'USER_GRANT_ID_TAKEN', 'A user grant has or had this id.'),
}
