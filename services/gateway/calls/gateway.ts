import type { Log } from '#lib/log'
import type { AskingNats } from '#lib/rpc/call'
import type { BodySettings } from '../arrival/body.ts'
import type { ClientAddresses } from '../arrival/client-addresses.ts'
import type { Authenticator } from '../callers/authenticate.ts'
import type { Rates } from '../limits/rates.ts'
import type { StreamPlaces } from '../limits/stream-places.ts'
import type { Refusals } from './refusals.ts'
import type { UnderWay } from '../limits/under-way.ts'

/** The parts of a running gateway that every call needs. */
export interface Gateway {
  config: CallSettings
  nats: AskingNats
  log: Log
  authenticator: Authenticator
  clientAddresses: ClientAddresses
  rates: Rates
  streamPlaces: StreamPlaces
  refusals: Refusals
  underWay: UnderWay
  /** Aborted once the gateway stops. */
  stopping: AbortSignal
}

/** The settings that calls read: see `config.ts`. */
export interface CallSettings extends BodySettings {
  TRUST_TRACEPARENT: string
  LOG_CALLS: number
  CALL_TIMEOUT_MS: number
  MAX_CALL_TIMEOUT_MS: number
  STREAM_MAX_AGE_MS: number
}
