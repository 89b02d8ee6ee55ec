import type { IDPCheck } from '#gen/roster/idp/v1/idp_check'
import type { GuardedFetch } from '#lib/outbound/guarded-fetch'
import type { Configurations, Protocol } from '../vocabulary.ts'

/** What Roster says to a provider, and how it gets there. */
export interface Upstream<P extends Protocol = Protocol> {
  configuration: Configurations[P]
  /** The client secret; or why there is none to send. */
  secret: { secret: string } | { fault: string }
  /** Where the provider sends browsers back to. */
  redirectUri: string
  /** Bounded in bytes and time, without redirects, and only to where Roster may call. */
  fetch: GuardedFetch
  /** How far PostgreSQL's clock is ahead of this process's, in milliseconds. */
  clockAhead: number
}

/** The work of a protocol: a folder for each. */
export interface ProtocolWork<P extends Protocol> {
  /** Looks at a provider, in the order in which a sign-in needs it. */
  test(upstream: Upstream<P>): Promise<IDPCheck[]>
}
