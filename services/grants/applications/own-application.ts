import { RosterError } from '#lib/errors'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { UniqueKey } from '#lib/eventstore/command'
import type { Application } from '../vocabulary/application.ts'
import { keyKinds } from '../vocabulary/key-kinds.ts'

/**
 * The application, if it is one of this project, and the organization owns the project. NOT_FOUND APPLICATION_NOT_FOUND
 * for an unknown and a foreign one alike.
 */
export function ownApplication<Found extends Aggregate<Application>>(
  application: Found | undefined,
  { projectId }: { projectId: string },
  { organizationId }: { organizationId: string },
): Found & { state: Application } {
  const { state } = application ?? {}
  if (!state || state.removed || state.projectId !== projectId || application!.organizationId !== organizationId)
    throw new RosterError('NOT_FOUND', 'APPLICATION_NOT_FOUND', 'The project has no such application.')
  return application as Found & { state: Application }
}

/** The unique key of a client id. */
export function clientKey(clientId: string): UniqueKey {
  return { kind: keyKinds.client, scope: '', key: clientId }
}
