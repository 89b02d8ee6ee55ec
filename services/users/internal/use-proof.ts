import type { UseProofRequest, UseProofResponse } from '#gen/roster/users/v1/internal_service'
import type { Context } from '../context.ts'
import { RosterError } from '#lib/errors'
import { singleUse, useUp } from '../directory/secrets/single-use.ts'

export async function useProof({ sql }: Context, { id, end }: UseProofRequest): Promise<UseProofResponse> {
  if (await useUp(sql, singleUse('dpop_proof', id, end))) return {}
  throw new RosterError('UNAUTHENTICATED', 'DPOP_PROOF_INVALID', 'The DPoP proof was used before.')
}
