import { RequestStrategy } from 'nats'
import { storingServices, type StoringService } from '../../provision.ts'
import type { System } from '../system.ts'

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

/** The replicas of each service that answer within a second. */
export async function lookAtServices(system: System): Promise<Record<StoringService, Replica[]>> {
  const found = await Promise.all(storingServices.map(async (name) => [name, await replicasOf(system, name)]))
  return Object.fromEntries(found) as Record<StoringService, Replica[]>
}

async function replicasOf(system: System, service: StoringService): Promise<Replica[]> {
  const [told, counted] = await Promise.all([
    ask<Info>(system, `$SRV.INFO.${service}`),
    ask<Stats>(system, `$SRV.STATS.${service}`),
  ])
  const stats = new Map(counted.map((one) => [one.id, one.endpoints ?? []]))
  return told.map(({ id, version, metadata = {} }) => {
    const endpoints = stats.get(id) ?? []
    const sum = (of: 'num_requests' | 'num_errors') => endpoints.reduce((all, endpoint) => all + endpoint[of], 0)
    return {
      id,
      host: metadata['host'] ?? '',
      version,
      waiting: metadata['waiting'] ?? '',
      starting: metadata['starting'] === 'true',
      calls: sum('num_requests'),
      errors: sum('num_errors'),
    }
  })
}

interface Info {
  id: string
  version: string
  metadata?: Record<string, string>
}

interface Stats {
  id: string
  endpoints?: { num_requests: number; num_errors: number }[]
}

async function ask<T>(system: System, subject: string): Promise<T[]> {
  const nats = await system.nats()
  const answers: T[] = []
  const asked = await nats.requestMany(subject, '', { strategy: RequestStrategy.Timer, maxWait: patience })
  for await (const message of asked) if (message.data.length > 0) answers.push(message.json<T>())
  return answers
}
