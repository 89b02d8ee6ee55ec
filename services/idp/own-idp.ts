import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Call } from '#lib/rpc/headers'
import { type Idp, idpNotFound } from './vocabulary.ts'

/**
 * The provider, if it belongs to the owner that the call is for. NOT_FOUND IDP_NOT_FOUND where there is none, where it
 * was removed, or where another owner has it.
 */
export function ownIdp<Found extends Aggregate<Idp>>(
  idp: Found | undefined,
  { organizationId }: Pick<Call, 'organizationId'>,
): Found & { state: Idp } {
  if (!idp?.state || idp.state.removed || idp.organizationId !== organizationId) throw idpNotFound()
  return idp as Found & { state: Idp }
}
