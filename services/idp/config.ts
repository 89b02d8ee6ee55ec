import { readConfig } from '#lib/config/read-config'
import { privateDestinations } from '#lib/outbound/destinations'
import { storingSettings } from '#lib/storing-settings'

/** Reads the service's settings; throws one Error that lists every problem. */
export function readIdpConfig(environment?: Record<string, string | undefined>) {
  return readConfig(settings, environment)
}

export type Config = ReturnType<typeof readIdpConfig>

export const settings = { ...storingSettings, WEBHOOK_ALLOW_PRIVATE: privateDestinations }
