import type { Daemon } from './daemon.ts'

/** How a crashed process comes back. Times in milliseconds. */
export interface Backoff {
  /** The first wait; each further crash doubles it. Default 500. */
  first?: number
  /** The longest wait. Default 30 000. */
  cap?: number
  /** After so long a life a crash counts as the first again. Default 60 000. */
  calm?: number
  random?: () => number
}

/** Starts a daemon again whenever it crashes, until dismissed; `say` hears one line each time. */
export function keepAlive(daemon: Daemon, say: (line: string) => void, backoff: Backoff = {}): { dismiss(): void } {
  const { calm = 60_000 } = backoff
  let crashes = 0
  let bornAt = Date.now()
  let timer: NodeJS.Timeout | undefined
  let dismissed = false

  daemon.onCrash(again)
  return {
    dismiss: () => {
      dismissed = true
      clearTimeout(timer)
    },
  }

  function again(how: string): void {
    if (dismissed) return
    crashes = Date.now() - bornAt >= calm ? 1 : crashes + 1
    const wait = delay(crashes, backoff)
    say(`${daemon.name} ended (${how}); it starts again in ${(wait / 1000).toFixed(1)} s. Its log: ${daemon.logFile}`)
    timer = setTimeout(() => {
      bornAt = Date.now()
      daemon.start().catch(() => again('not ready'))
    }, wait)
  }
}

/**
 * The wait before the n-th start in a row (from 1): doubled each time and capped. It is cut by up to half, so that
 * many do not return at once.
 */
export function delay(crashes: number, { first = 500, cap = 30_000, random = Math.random }: Backoff = {}): number {
  const whole = Math.min(cap, first * 2 ** (crashes - 1))
  return Math.round(whole * (1 - random() / 2))
}
