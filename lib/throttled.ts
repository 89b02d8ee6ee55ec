import type { Log } from './log.ts'

const sameErrorEvery = 30_000

/** Warns of errors, at most every 30 s: while a server is away, every connection and every try fails. */
export function throttled(log: Log, message: string): (error: Error) => void {
  let next = 0
  let silent = 0
  return (error) => {
    if (Date.now() < next) {
      silent++
      return
    }
    log.warn({ err: error, silent }, message)
    next = Date.now() + sameErrorEvery
    silent = 0
  }
}
