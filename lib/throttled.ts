import { ErrorCode, NatsError } from 'nats'
import { codes, RosterError } from './errors.ts'
import type { Log } from './log.ts'

const sameErrorEvery = 30_000
/** Seconds of a process's life in which the other services may still be starting, too. */
const startsWithin = 10

/**
 * Warns of errors, or logs them as errors, at most every 30 s: while a server is away, every connection and every try
 * fails. A line has the details of the error that it reports. A service that is unavailable while this process starts
 * is not worth a warning.
 */
export function throttled(log: Log, message: string, level: 'warn' | 'error' = 'warn') {
  let next = 0
  let silent = 0
  return (error: Error, details: object = {}): void => {
    const mayBeStarting = process.uptime() < startsWithin && isUnavailable(error)
    if (mayBeStarting || Date.now() < next) {
      silent++
      return
    }
    log[level]({ err: error, silent, ...details }, message)
    next = Date.now() + sameErrorEvery
    silent = 0
  }
}

function isUnavailable(error: Error): boolean {
  if (error instanceof NatsError) return error.code === ErrorCode.Timeout || error.code === ErrorCode.NoResponders
  return error instanceof RosterError && error.code === codes.UNAVAILABLE
}
