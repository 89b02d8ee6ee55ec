import type { GrantsApplication, GrantsApplicationRefusal, GrantsOIDCApplicationPatch } from '#gen/console/api'

/** A change of the settings by which a refused address is right. */
export interface Mending {
  uri: string
  change: GrantsOIDCApplicationPatch
}

/** Undefined where the address is registered by now, or could not be: one that was cut, or is no URI. */
export function mending(
  { parameter, sent = '' }: GrantsApplicationRefusal,
  application: GrantsApplication | undefined,
): Mending | undefined {
  const config = application?.oidcConfig
  const isWhole = /^[a-z][a-z\d+.-]*:[!-~]+$/i.test(sent) && !sent.includes('\\u{')
  if (!config || !isWhole) return undefined
  const field = parameter === 'redirect_uri' ? 'redirectUris' : 'postLogoutRedirectUris'
  const registered = config[field] ?? []
  if (registered.includes(sent)) return undefined
  const isLocal = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(\/|$)/.test(sent)
  const needsDevMode = isLocal && !config.devMode && config.appType !== 'OIDC_APP_TYPE_NATIVE'
  return { uri: sent, change: { [field]: [...registered, sent], ...(needsDevMode && { devMode: true }) } }
}
