import { ErrorCode, NatsError, RequestStrategy } from 'nats'
import { storingServices } from '../../deploy/provision.ts'
import type { System } from '../system.ts'

/** All that answer about their replicas. */
const answering = [...storingServices, 'gateway'] as const
export type Answering = (typeof answering)[number]

/** A running replica of a service. */
export interface Replica {
  id: string
  host: string
  version: string
  /** The servers that it waits for; empty where it can work. */
  waiting: string
  /** It takes no calls yet. */
  starting: boolean
  /** Since its start: calls, and calls that it could not take. */
  calls: number
  errors: number
}

const patience = 1000

/** Asks each service, and hears the replicas that answer within a second. */
export async function lookAtServices(system: System): Promise<Record<Answering, Replica[]>> {
  const heard = answering.map(async (service) => {
    const [infos, counted] = await Promise.all([
      ask<Info>(system, `$SRV.INFO.${service}`),
      ask<Stats>(system, `$SRV.STATS.${service}`),
    ])
    const replicas = infos.map(({ id, version, metadata = {} }): Replica => {
      const { host = '', waiting = '', starting } = metadata
      const endpoints = counted.find((one) => one.id === id)?.endpoints ?? []
      const sum = (name: 'num_requests' | 'num_errors') => endpoints.reduce((all, one) => all + one[name], 0)
      return {
        id,
        host,
        version,
        waiting,
        starting: starting === 'true',
        calls: sum('num_requests'),
        errors: sum('num_errors'),
      }
    })
    return [service, replicas] as const
  })
  return Object.fromEntries(await Promise.all(heard)) as Record<Answering, Replica[]>
}

// As the micro services of NATS answer.
interface Info {
  id: string
  version: string
  metadata?: { host?: string; waiting?: string; starting?: string }
}

interface Stats {
  id: string
  endpoints: { num_requests: number; num_errors: number }[]
}

async function ask<Answer>(system: System, subject: string): Promise<Answer[]> {
  const nats = await system.nats()
  const answers: Answer[] = []
  const asked = await nats.requestMany(subject, '', { strategy: RequestStrategy.Timer, maxWait: patience })
  try {
    for await (const message of asked) answers.push(message.json<Answer>())
  } catch (error) {
    // The server itself says so where no service listens.
    if (!(error instanceof NatsError && error.code === ErrorCode.NoResponders)) throw error
  }
  return answers
}
