import { type DestinationStream, pino, type Logger } from 'pino'
import { oneOf } from './config.ts'

export type Log = Logger

// What PostgreSQL tells beside its message, such as "Key (email)=(…) already exists": whole rows, statements and their values.
const ofPostgres = ['detail', 'where', 'hint', 'query', 'internal_query', 'parameters', 'args']

const levels = [...Object.values(pino.levels.labels), 'silent']

/** `LOG_LEVEL`: the least important lines that are written. */
export const logLevel = oneOf(levels, 'info')

/** A log in JSON lines, on standard output where no destination is given. It never shows a secret, an address or a query string. */
export function createLog(service: string, level = 'info', destination?: DestinationStream): Log {
  const options = {
    // An unknown level is the configuration's to report, and that needs a log.
    level: levels.includes(level) ? level : 'info',
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: [
      'authorization',
      '*.authorization',
      'password',
      '*.password',
      'token',
      '*.token',
      '*.email',
      // Of ioredis: the password, where Redis refuses it.
      '*.command.args',
      ...ofPostgres.flatMap((name) => [`*.${name}`, `*.aggregateErrors[*].${name}`]),
    ],
  }
  return destination ? pino(options, destination) : pino(options)
}
