import type { AuthorizationServer } from 'oauth4webapi'
import { presetOf } from '../../presets.ts'
import type { Configurations } from '../../vocabulary.ts'
import { UpstreamError } from '../protocol.ts'
import { isCommon } from '../redirect-uri.ts'

/**
 * Why this provider cannot share its callback with others; undefined where it can, or does not. There, `iss` alone tells whose
 * answer it is (RFC 9700, 4.4.2): `readCodeAnswer` wants it from whoever says that it sends it.
 */
export function faultOfCallback(oidc: Configurations['oidc'], server: AuthorizationServer): string | undefined {
  if (!isCommon({ oidc })) return undefined
  if (presetOf(oidc).postsAnswer) return 'has to be its own: the provider posts its answer'
  return server.authorization_response_iss_parameter_supported
    ? undefined
    : 'has to be its own: the provider does not say authorization_response_iss_parameter_supported'
}

/** Throws UpstreamError. */
export function checkCallback(oidc: Configurations['oidc'], server: AuthorizationServer): void {
  const fault = faultOfCallback(oidc, server)
  if (fault !== undefined) throw new UpstreamError('not-available', `The callback ${fault}.`)
}
