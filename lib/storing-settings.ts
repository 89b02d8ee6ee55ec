import { healthSettings, lowestLevel, natsUrl } from './config/common-settings.ts'
import { described } from './config/read-config.ts'
import { postgresUrl } from './database/database-url.ts'
import { checkpointInterval, largestEvent } from './eventstore/limits.ts'
import { encryptionKey } from './encryption/keys.ts'
import { callerKey } from './rpc/signatures/caller-keys.ts'

/** The settings of every service with events. */
export const storingSettings = {
  DATABASE_URL: described(
    "PostgreSQL, with the service's own role. `npm start` and `provision` take the URL of an administrator instead. Of [several hosts](operations.md#several-servers), the one that takes writes counts",
    postgresUrl,
  ),
  NATS_URL: natsUrl(),
  ROSTER_ENCRYPTION_KEY: described(
    "The service's own key, [derived from the root key](decisions/9-keys-of-services.md) of the installation. The first key encrypts; the others still decrypt",
    encryptionKey,
  ),
  ROSTER_CALLER_KEY: described(
    'The key by which the service verifies that the gateway signed the caller; `new,old` to change it. It is derived from the root key, too',
    { ...callerKey, accepts: '32 bytes in base64, several separated by commas' },
  ),
  EVENT_MAX_BYTES: described(
    'The most bytes of a published event. Roster refuses a change that needs more',
    largestEvent,
  ),
  CHECKPOINT_INTERVAL: described(
    "The least seconds between two signed [checkpoints](decisions/22-audit.md) of a service's audit log",
    checkpointInterval,
  ),
  LOG_LEVEL: lowestLevel,
  ...healthSettings,
}
