import { OIDCGrantType } from '#gen/roster/grants/v1/application_service'
import type { OidcCopy } from '../applications/application-copy.ts'
import { wordsOf } from './parameters.ts'

/** `no-refresh-token`: the grant types of the application lack it. `no-consent`: the person did not allow it, and no page could ask. */
export type NotOffline = 'no-refresh-token' | 'no-consent'

/** Why a request that asks for `offline_access` does not get it. Undefined where it gets it, or does not ask. Pure. */
export function whyNotOffline(
  scope: string,
  { grantTypes }: Pick<OidcCopy, 'grantTypes'>,
  granted: readonly string[],
): NotOffline | undefined {
  if (!wordsOf(scope).includes('offline_access') || granted.includes('offline_access')) return undefined
  return grantTypes.includes(OIDCGrantType.OIDC_GRANT_TYPE_REFRESH_TOKEN) ? 'no-consent' : 'no-refresh-token'
}
