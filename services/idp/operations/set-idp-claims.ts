import { isDeepStrictEqual } from 'node:util'
import type { IDPClaims, SetIDPClaimsRequest, SetIDPClaimsResponse } from '#gen/roster/idp/v1/idp_claims'
import { invalid } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import { changeIdp } from '../change-idp.ts'
import type { Context } from '../context.ts'
import type { Idp } from '../vocabulary.ts'

export async function setIdpClaims(
  context: Context,
  request: SetIDPClaimsRequest,
  call: Call,
): Promise<SetIDPClaimsResponse> {
  const claims = claimsOf(request)
  return changeIdp(context, request.idpId, call, (idp) => {
    // What is refused here would never have an effect.
    if (claims.secondFactor && !saysHow(idp))
      throw invalid([{ field: 'secondFactor', description: 'is for OpenID Connect and JSON Web Tokens alone' }])
    if (isDeepStrictEqual(claims, idp.claims ?? { isAutoUpdate: false })) return { events: [] }
    return { events: [{ type: 'claims.set', payload: { claims } }] }
  })
}

// As it is stored: without what is missing.
function claimsOf({ mapping, isAutoUpdate, secondFactor }: SetIDPClaimsRequest): IDPClaims {
  const named = Object.entries(mapping ?? {}).filter(([, claim]) => claim !== undefined)
  const counts = secondFactor !== undefined && secondFactor.amr.length + secondFactor.acr.length > 0
  return {
    isAutoUpdate,
    ...(named.length > 0 && { mapping: Object.fromEntries(named) }),
    ...(counts && { secondFactor: { amr: secondFactor.amr, acr: secondFactor.acr } }),
  }
}

function saysHow({ oidc, jwt }: Idp): boolean {
  return oidc !== undefined || jwt !== undefined
}
