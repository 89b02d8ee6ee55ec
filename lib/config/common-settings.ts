import { pino } from 'pino'
import { described, integer, oneOf, optional, origin, serverUrls, type Setting } from './read-config.ts'

/** `PUBLIC_URL`, for the gateway and for each service that writes it into something. */
export const publicUrl = described(
  'The address under which users reach the gateway, without a path. Links in mails, domains of organizations and the OpenAPI document have it',
  origin('http://localhost:8080'),
)

/** `CONSOLE_URL`. Empty: that of `PUBLIC_URL`. */
export const consoleUrl = described(
  'The address of the [console](operations.md#the-console) where it has a host of its own, without a path. It leads to the gateway, too. Without it, the console is at `PUBLIC_URL`',
  { ...origin(), default: '' },
)

/** `NATS_URL`. */
export const natsUrl = (fallback?: string) =>
  described(
    'NATS with JetStream, with the account of the service ([nats.conf](../deploy/nats/nats.conf))',
    serverUrls(['nats', 'tls'], fallback),
  )

export const logLevels = [...Object.values(pino.levels.labels), 'silent']

/** `LOG_LEVEL`. */
export const lowestLevel = described('The lowest level that the log writes', oneOf(logLevels, 'info'))

const { read: readPort, accepts: ports } = integer(1, 65_535)
const port: Setting<number | undefined> = { read: readPort, default: undefined, accepts: ports! }

/** Where a service shows its health. */
export const healthSettings = {
  HEALTH_PORT: described(
    'The port of [health checks](operations.md#health-checks) by HTTP: `/healthz` and `/readyz`. Without it there is none. `npm start` ignores it',
    port,
  ),
  HEALTH_FILE: described(
    'The file for health checks without HTTP: it holds `ready` or the problem, and is renewed every two seconds. `npm start` ignores it',
    optional(),
  ),
}
