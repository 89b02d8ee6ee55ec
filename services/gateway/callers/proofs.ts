import type { InternalServiceDefinition as UsersDefinition } from '#gen/roster/users/v1/internal_service'
import { verifyProof } from '#lib/dpop'
import { RosterError } from '#lib/errors'
import type { Client } from '#lib/rpc/call'

/** Looks at the DPoP proofs (RFC 9449) that bound tokens come with. */
export interface Proofs {
  /**
   * Lets pass a proof of this request and token by the key of this thumbprint, once at all gateways. UNAUTHENTICATED
   * DPOP_PROOF_INVALID; errors of the service that notes which were used.
   */
  check(token: string, thumbprint: string, request: ProvenRequest): Promise<void>
}

interface ProvenRequest {
  /** Whose proof is looked at once. */
  request: object
  proof: string | undefined
  verb: string
  path: string
  requestId: string
  deadline: number
}

/** Checks proofs for the address that `issuer` gives, which is how clients know this gateway. */
export function createProofs(users: Client<'gateway', typeof UsersDefinition>, issuer: () => Promise<string>): Proofs {
  const proven = new WeakSet<object>()
  return {
    async check(token, thumbprint, { request, proof: text = '', verb, path, requestId, deadline }) {
      if (proven.has(request)) return
      const proof = await verifyProof(text, { verb, url: (await issuer()) + path, token })
      if (proof?.thumbprint !== thumbprint)
        throw new RosterError('UNAUTHENTICATED', 'DPOP_PROOF_INVALID', 'A DPoP proof of this request is needed.')
      await users.useProof({ id: proof.id, end: proof.end }, { requestId, deadline })
      proven.add(request)
    },
  }
}
