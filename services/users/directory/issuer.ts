import type { Config } from '../config.ts'

/** The issuer of access tokens: PUBLIC_URL. */
export function issuerOf({ PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>): string {
  return PUBLIC_URL
}

/** The URL where access tokens are issued. */
export function tokenEndpointOf(config: Pick<Config, 'PUBLIC_URL'>): string {
  return `${issuerOf(config)}/oauth/v2/token`
}
