import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats'
import { offered } from './routes.ts'

export interface Readiness {
  /** What is missing right now; empty when the gateway can answer every call. */
  missing(): Promise<string[]>
  /** How many events were refused for good, by the service that has them, as of the last look at what is missing. */
  parked(): Record<string, number>
  /** From now on the gateway is not ready, whatever is there. */
  close(): void
}

const pingTimeout = 1_000
const interval = 2_000

/** Names of the services behind the gateway: the packages of the offered methods, `roster.<name>.v1`. */
export const services = [...new Set(offered.map(({ subject }) => subject.split('.')[1]!))]

/** Without these no call can be answered, since nobody knows who calls. What lacks another is its own calls. */
const essential = ['gateway', 'nats', 'users', 'grants']

/** Whether calls may come although this is missing. */
export function isReady(missing: string[]): boolean {
  return !missing.some((name) => essential.includes(name))
}

/** Watches whether the services answer; calls back with what is missing at every change, and once at the start. */
export function watchReadiness(nats: Nats, log: Log, onChange: (missing: string[]) => void): Readiness {
  let closed = false
  let known: string | undefined
  let checking: Promise<string[]> | undefined
  let parked: Record<string, number> = {}

  async function check() {
    const [missing, found] = closed ? [['gateway'], parked] : await Promise.all([findMissing(nats), findParked(nats)])
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
  // However many ask, one question is under way.
  const missing = () => (checking ??= check().finally(() => (checking = undefined)))
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

async function findMissing(nats: Nats): Promise<string[]> {
  if (!nats.connected()) return ['nats']
  const answers = await Promise.all(
    services.map((name) =>
      nats.connection.request(`$SRV.PING.${name}`, '', { timeout: pingTimeout }).then(
        () => true,
        () => false,
      ),
    ),
  )
  return services.filter((_name, index) => !answers[index])
}

// A service that does not tell has none that are known.
async function findParked(nats: Nats): Promise<Record<string, number>> {
  if (!nats.connected()) return {}
  const counts = await Promise.all(
    services.map((name) =>
      nats.connection.request(`$SRV.INFO.${name}`, '', { timeout: pingTimeout }).then(
        (answer) => Number(answer.json<{ metadata?: { parked?: string } }>().metadata?.parked) || 0,
        () => 0,
      ),
    ),
  )
  return Object.fromEntries(services.flatMap((name, index) => (counts[index]! > 0 ? [[name, counts[index]!]] : [])))
}
