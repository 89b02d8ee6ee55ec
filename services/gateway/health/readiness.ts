import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats'
import { offered } from '../calls/routes.ts'

export interface Readiness {
  /** Names the services that are missing right now. Empty when the gateway can answer every call. */
  missing(): Promise<string[]>
  /** Counts the events that were refused for good, by their service, as of the last `missing`. */
  parked(): Record<string, number>
  /** Makes the gateway not ready from now on, even if all services answer. */
  close(): void
}

const askTimeout = 1_000
const interval = 2_000

/** The names of the services behind the gateway, from the packages of the offered methods, `roster.<name>.v1`. */
export const services = [...new Set(offered.map(({ subject }) => subject.split('.')[1]!))]

/**
 * Without these, no caller can be identified and no call answered. Without another service, only its own calls fail.
 */
const essential = ['gateway', 'nats', 'users', 'grants']

/** Whether the gateway can answer calls while these are missing. */
export function isReady(missing: string[]): boolean {
  return !missing.some((name) => essential.includes(name))
}

/** Watches whether the services answer. Tells `onChange` which are missing, once at the start and at every change. */
export function watchReadiness(nats: Nats, log: Log, onChange: (missing: string[]) => void): Readiness {
  let closed = false
  let known: string | undefined
  let checking: Promise<string[]> | undefined
  let next: Promise<string[]> | undefined
  let parked: Record<string, number> = {}

  async function check() {
    const [missing, found] = closed ? [['gateway'], parked] : await look(nats)
    parked = found
    const text = closed ? 'gateway' : missing.join(', ')
    if (text !== known) {
      known = text
      if (text === '') log.info('ready for calls')
      else log.warn({ missing }, isReady(missing) ? 'ready for most calls' : 'not ready for calls')
      onChange(missing)
    }
    return missing
  }
  // However many callers ask, at most two looks run: one under way, and the next, which begins after they asked.
  function missing(): Promise<string[]> {
    if (!checking) return (checking = check().finally(() => (checking = undefined)))
    return (next ??= checking.then(missingNext, missingNext))
  }

  function missingNext() {
    next = undefined
    return missing()
  }

  const timer = setInterval(() => void missing(), interval)
  void missing()
  return {
    missing: () => (closed ? Promise.resolve(['gateway']) : missing()),
    parked: () => parked,
    close() {
      closed = true
      clearInterval(timer)
      void check()
    },
  }
}

// A service that answers without a number of parked events counts as having none.
async function look(nats: Nats): Promise<[missing: string[], parked: Record<string, number>]> {
  if (!nats.connected()) return [['nats'], {}]
  const missing: string[] = []
  const parked: Record<string, number> = {}
  const ask = async (name: string) => {
    const answer = await nats.connection
      .request(`$SRV.INFO.${name}`, '', { timeout: askTimeout })
      .catch(() => undefined)
    if (!answer) return missing.push(name)
    const count = Number(/"parked":"(\d+)"/.exec(answer.string())?.[1] ?? 0)
    return count > 0 && (parked[name] = count)
  }
  await Promise.all(services.map(ask))
  return [services.filter((name) => missing.includes(name)), parked]
}
