import { pino } from 'pino'
import { described, oneOf, origin, serverUrls } from './read-config.ts'

/** `PUBLIC_URL`, for the gateway and for each service that writes it into something. */
export const publicUrl = described(
  'The address under which users reach the gateway, without a path. Links in mails, domains of organizations and the OpenAPI document have it',
  origin('http://localhost:8080'),
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
