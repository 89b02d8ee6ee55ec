import { publicUrl } from '#lib/config/common-settings'
import { described, readConfig } from '#lib/config/read-config'
import { destinations } from '#lib/outbound/destinations'
import { storingSettings } from '#lib/storing-settings'

/** Reads the service's settings; throws one Error that lists every problem. */
export function readIdpConfig(environment?: Record<string, string | undefined>) {
  return readConfig(settings, environment)
}

export type Config = ReturnType<typeof readIdpConfig>

export const settings = {
  ...storingSettings,
  PUBLIC_URL: publicUrl,
  IDP_ALLOW_PRIVATE: described(
    '[Private addresses](providers.md#private-addresses) of identity providers that Roster may call, also without TLS',
    destinations,
  ),
}
