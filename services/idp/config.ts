import { readConfig, url } from '#lib/config'
import { logLevel } from '#lib/log'
import { checkpointInterval, largestEvent } from '#lib/eventstore/limits'
import { encryptionKey } from '#lib/keys'
import { callerKey } from '#lib/rpc/caller-keys'

/** Reads the service's settings; throws one Error that lists every problem. */
export function readIdpConfig(environment?: Record<string, string | undefined>) {
  return readConfig(
    {
      DATABASE_URL: url(['postgres', 'postgresql']),
      NATS_URL: url(['nats', 'tls']),
      ROSTER_ENCRYPTION_KEY: encryptionKey,
      ROSTER_CALLER_KEY: callerKey,
      // Bytes of an event as it is published.
      EVENT_MAX_BYTES: largestEvent,
      CHECKPOINT_INTERVAL: checkpointInterval,
      LOG_LEVEL: logLevel,
    },
    environment,
  )
}

export type Config = ReturnType<typeof readIdpConfig>
