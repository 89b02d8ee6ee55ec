import { readConfig, url } from '#lib/config'
import { encryptionKey } from '#lib/keys'
import { logLevel } from '#lib/log'
import { callerKey } from '#lib/rpc/caller-keys'

/** Reads the service's settings; throws one Error that lists every problem. */
export function readGrantsConfig(environment?: Record<string, string | undefined>) {
  return readConfig(
    {
      DATABASE_URL: url(['postgres', 'postgresql']),
      NATS_URL: url(['nats', 'tls']),
      PUBLIC_URL: url(['http', 'https'], 'http://localhost:8080'),
      ROSTER_ENCRYPTION_KEY: encryptionKey,
      ROSTER_CALLER_KEY: callerKey,
      LOG_LEVEL: logLevel,
    },
    environment,
  )
}

export type Config = ReturnType<typeof readGrantsConfig>
