import { IDPCallback } from '#gen/roster/idp/v1/idp_config'
import type { Idp } from '../vocabulary.ts'

/** Each provider has an address of its own, so that no other one's answer fits, or one that providers of ZITADEL have together. */
const templates: Partial<Record<IDPCallback, string>> = {
  [IDPCallback.IDP_CALLBACK_ZITADEL]: '/idps/callback',
  [IDPCallback.IDP_CALLBACK_ZITADEL_V1]: '/ui/login/login/externalidp/callback',
}
const own = '/ui/login/idps/{idp_id}/callback'

/** Where a provider sends browsers back to, as the template of the path. */
export function callbackOf({ oidc }: Pick<Idp, 'oidc'>): string {
  return templates[oidc?.callback ?? IDPCallback.IDP_CALLBACK_OWN] ?? own
}

/** Whether other providers send browsers there, too. */
export function isCommon(idp: Pick<Idp, 'oidc'>): boolean {
  return callbackOf(idp) !== own
}

/** Where a provider sends browsers back to. */
export function redirectUriOf(publicUrl: string, idpId: string, idp: Pick<Idp, 'oidc'>): string {
  return publicUrl + callbackOf(idp).replace('{idp_id}', encodeURIComponent(idpId))
}

/** Where a provider sends browsers back to after a sign-out there. */
export function signedOutUriOf(publicUrl: string, idpId: string): string {
  return `${publicUrl}/ui/login/idps/${encodeURIComponent(idpId)}/signed-out`
}
