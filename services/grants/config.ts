import { publicUrl } from '#lib/config/common-settings'
import { described, integer, readConfig } from '#lib/config/read-config'
import { privateDestinations } from '#lib/outbound/destinations'
import { storingSettings } from '#lib/storing-settings'

/** Reads the service's settings; throws one Error that lists every problem. */
export function readGrantsConfig(environment?: Record<string, string | undefined>) {
  return readConfig(settings, environment)
}

export type Config = ReturnType<typeof readGrantsConfig>

export const settings = {
  ...storingSettings,
  PUBLIC_URL: publicUrl,
  WEBHOOK_ALLOW_PRIVATE: privateDestinations,
  PROJECT_MAX_ROLES: described('The most roles of a project', integer(1, 10_000, 1000)),
  GRANT_MAX_ROLE_KEYS: described('The most role keys of a user grant or a project grant', integer(1, 1000, 200)),
}
