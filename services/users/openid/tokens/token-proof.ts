import { verifyProof } from '#lib/credentials/dpop'
import { orUnavailable, readNow } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import type { Context } from '../../context.ts'
import { tokenEndpointOf } from '../../directory/issuer.ts'
import type { BoundKey } from './access-token.ts'
import type { ProvedClient } from '../clients/failing-client.ts'
import { singleUse, useUp } from '../../directory/secrets/single-use.ts'

/** Uses up the DPoP proof of a request for tokens, and gives the thumbprint of its key. Undefined where there is none. */
export async function useProof(context: Context, client: ProvedClient, text: string): Promise<string | undefined> {
  if (text === '') return undefined
  const { thumbprint, once } = await readProof(context, client, text, await orUnavailable(readNow(context.sql)))
  return (await useUp(context.sql, once)) ? thumbprint : client.fail('proof', once.taken)
}

/** Reads the proof, which is yet to be used up. INVALID_ARGUMENT DPOP_PROOF_INVALID. */
export async function readProof(
  { config }: Context,
  { fail }: Pick<ProvedClient, 'fail'>,
  text: string,
  now: Date,
): Promise<BoundKey> {
  const proof = await verifyProof(text, { verb: 'POST', url: tokenEndpointOf(config), now })
  const taken = new RosterError('INVALID_ARGUMENT', 'DPOP_PROOF_INVALID', 'The request needs a valid DPoP proof.')
  if (!proof) return fail('proof', taken)
  return { thumbprint: proof.thumbprint, once: { ...singleUse('dpop_proof', proof.id, proof.end), taken } }
}
