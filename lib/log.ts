import { pino, type Logger } from 'pino'

export type Log = Logger

/** A log in JSON lines on standard output. It never shows a secret, an address or a query string. */
export function createLog(service: string, level = 'info'): Log {
  return pino({
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
  })
}
