import { type DestinationStream, pino, type Logger } from 'pino'

export type Log = Logger

/** A log in JSON lines, on standard output where no destination is given. It never shows a secret, an address or a query string. */
export function createLog(service: string, level = 'info', destination?: DestinationStream): Log {
  const options = {
    level,
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
      '*.parameters',
      '*.args',
    ],
  }
  return destination ? pino(options, destination) : pino(options)
}
