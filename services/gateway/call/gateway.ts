import type { Log } from '#lib/log'
import type { AskingNats } from '#lib/rpc/call'
import type { throttled } from '#lib/throttled'
import type { BodySettings } from '../listen/admission.ts'
import type { ClientAddresses } from '../listen/client-addresses.ts'
import type { StreamGuard } from '../listen/stream-guard.ts'
import type { ConsoleSessions } from '../auth/console-sessions.ts'
import type { Authenticator } from '../auth/authenticate.ts'
import type { Rates } from '../rate-limits/rates.ts'
import type { StreamPlaces } from '../rate-limits/stream-places.ts'
import type { Brands } from '../pages/brands.ts'
import type { OriginSettings } from './check-origin.ts'
import type { Refusals } from './refusals.ts'
import type { SecondRequests } from '../ask-again.ts'
import type { UnderWay } from '../rate-limits/under-way.ts'

/** The parts of a running gateway that every call needs. */
export interface Gateway {
  config: CallSettings
  nats: AskingNats
  log: Log
  authenticator: Authenticator
  consoleSessions: ConsoleSessions
  /** The files of the console are there. */
  hasConsole: boolean
  clientAddresses: ClientAddresses
  rates: Rates
  streamGuard: StreamGuard
  streamPlaces: StreamPlaces
  refusals: Refusals
  brands: Brands
  underWay: UnderWay
  secondRequests: SecondRequests
  /** Warns of a proxy that writes another Host than that of PUBLIC_URL. */
  warnOfHost: ReturnType<typeof throttled>
  /** Aborted once the gateway stops. */
  stopping: AbortSignal
}

export interface CallSettings extends BodySettings, OriginSettings {
  CONSOLE_URL: string
  PASSKEY_ORIGINS: string[]
  TRUST_TRACEPARENT: string
  LOG_CALLS: number
  CALL_TIMEOUT_MS: number
  MAX_CALL_TIMEOUT_MS: number
  STREAM_MAX_AGE_MS: number
}
