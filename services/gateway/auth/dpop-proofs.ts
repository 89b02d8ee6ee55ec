import type { InternalServiceDefinition as UsersDefinition } from '#gen/roster/users/v1/internal_service'
import { verifyProof } from '#lib/credentials/dpop'
import { RosterError } from '#lib/errors'
import type { Client } from '#lib/rpc/call'

/** Checks the DPoP proofs (RFC 9449) that come with bound tokens. */
export interface Proofs {
  /**
   * Passes a proof of this request and token by the key with this thumbprint. A proof passes once at all gateways
   * together. UNAUTHENTICATED DPOP_PROOF_INVALID; errors of users, which stores the used proofs.
   */
  check(token: string, thumbprint: string, request: ProvenRequest): Promise<void>
}

interface ProvenRequest {
  /** The request itself: its proof is checked once, and holds for as long as the request lasts. */
  request: object
  proof: string | undefined
  verb: string
  path: string
  requestId: string
  deadline: number
}

/** Checks proofs for the address that `issuer` gives: clients know this gateway by it. */
export function createProofs(users: Client<typeof UsersDefinition, 'useProof'>, issuer: () => Promise<string>): Proofs {
  const proven = new WeakSet<object>()
  return {
    async check(token, thumbprint, { request, proof: text = '', verb, path, requestId, deadline }) {
      if (proven.has(request)) return
      const proof = await verifyProof(text, { verb, url: (await issuer()) + path, token })
      if (proof?.thumbprint !== thumbprint)
        throw new RosterError('UNAUTHENTICATED', 'DPOP_PROOF_INVALID', 'The request needs a valid DPoP proof.')
      await users.useProof({ id: proof.id, end: proof.end }, { requestId, deadline })
      proven.add(request)
    },
  }
}
