import { integer, origin, readConfig, url } from '#lib/config'
import { checkpointInterval, largestEvent } from '#lib/eventstore/limits'
import { encryptionKey } from '#lib/keys'
import { logLevel } from '#lib/log'
import { callerKey } from '#lib/rpc/caller-keys'

/** Reads the service's settings; throws one Error that lists every problem. */
export function readGrantsConfig(environment?: Record<string, string | undefined>) {
  return readConfig(
    {
      DATABASE_URL: url(['postgres', 'postgresql']),
      NATS_URL: url(['nats', 'tls']),
      PUBLIC_URL: origin('http://localhost:8080'),
      ROSTER_ENCRYPTION_KEY: encryptionKey,
      ROSTER_CALLER_KEY: callerKey,
      // Bytes of an event as it is published.
      EVENT_MAX_BYTES: largestEvent,
      CHECKPOINT_INTERVAL: checkpointInterval,
      // Roles of a project; role keys of a user grant and of a project grant.
      PROJECT_MAX_ROLES: integer(1, 10_000, 1000),
      GRANT_MAX_ROLE_KEYS: integer(1, 1000, 200),
      LOG_LEVEL: logLevel,
    },
    environment,
  )
}

export type Config = ReturnType<typeof readGrantsConfig>
