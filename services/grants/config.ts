import { publicUrl } from '#lib/config/common-settings'
import { described, integer, readConfig } from '#lib/config/read-config'
import { privateDestinations } from '#lib/outbound/destinations'
import { nameServers } from '#lib/outbound/name-servers'
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
  DNS_SERVERS: described(
    'The name servers that [domains of organizations](domains.md) are looked up with, separated by commas. Without it: those of the machine',
    nameServers,
  ),
  DOMAIN_CHECK_INTERVAL: described(
    'Seconds between two looks for the record of [a verified domain](domains.md#the-daily-look). Where it was missing, Roster looks 24 times as often',
    integer(1, 604_800, 86_400),
  ),
  DOMAIN_LOST_AFTER: described(
    'Seconds that a domain stays verified whose record is [missing](domains.md#the-daily-look)',
    integer(1, 31_536_000, 604_800),
  ),
  PROJECT_MAX_ROLES: described('The most roles of a project', integer(1, 10_000, 1000)),
  GRANT_MAX_ROLE_KEYS: described('The most role keys of a user grant or a project grant', integer(1, 1000, 200)),
}
