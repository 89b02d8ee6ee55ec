import { ErrorCode, NatsError, RequestStrategy } from 'nats'
import { storingServices } from '../../provision.ts'
import type { System } from '../system.ts'
import { mostTold } from './told.ts'

/** All that answer about their replicas. */
export const answering = [...storingServices, 'gateway'] as const
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
/** Bytes of an answer. Those of Roster have some KB. */
const largestAnswer = 65_536

/** What was heard from services, by their names. */
export interface Heard {
  replicas: Record<Answering, Replica[]>
  /** The answers that nobody can read. A service that was taken over may answer anything. */
  unreadable: Record<Answering, number>
  /** Those that gave more answers than anybody reads. */
  flooding: Answering[]
}

/** Asks each service, and hears the replicas that answer within a second. */
export async function lookAtServices(system: System): Promise<Heard> {
  const heard: Heard = {
    replicas: { users: [], grants: [], idp: [], notifier: [], gateway: [] },
    unreadable: { users: 0, grants: 0, idp: 0, notifier: 0, gateway: 0 },
    flooding: [],
  }
  const each = answering.map(async (service) => {
    const [told, counted] = await Promise.all([
      ask(system, `$SRV.INFO.${service}`, readInfo),
      ask(system, `$SRV.STATS.${service}`, readStats),
    ])
    const stats = new Map(counted.answers.map((one) => [one.id, one]))
    heard.replicas[service] = told.answers.map((one) => ({ ...one, ...(stats.get(one.id) ?? { calls: 0, errors: 0 }) }))
    heard.unreadable[service] = told.unreadable + counted.unreadable
    if (told.isFlood || counted.isFlood) heard.flooding.push(service)
  })
  await Promise.all(each)
  return heard
}

async function ask<T>(
  system: System,
  subject: string,
  read: (answer: Answer) => T,
): Promise<{ answers: T[]; unreadable: number; isFlood: boolean }> {
  const nats = await system.nats()
  const answers: T[] = []
  let unreadable = 0
  const asked = await nats.requestMany(subject, '', { strategy: RequestStrategy.Timer, maxWait: patience })
  try {
    for await (const message of asked) {
      if (answers.length + unreadable === mostTold) return { answers, unreadable, isFlood: true }
      try {
        if (message.data.length > largestAnswer) throw new TypeError('too large')
        answers.push(read(message.json<Answer>()))
      } catch {
        unreadable++
      }
    }
  } catch (error) {
    // The server itself says so where nobody listens. After an answer, somebody else did.
    if (!(error instanceof NatsError && error.code === ErrorCode.NoResponders)) throw error
    if (answers.length > 0) unreadable++
  }
  return { answers, unreadable, isFlood: false }
}

type Answer = Partial<Record<string, unknown>>

function readInfo({ id, version, metadata }: Answer): Omit<Replica, 'calls' | 'errors'> {
  const { host = '', waiting = '', starting = '' } = (metadata ?? {}) as Answer
  const texts = { id: textOf(id), version: textOf(version), host: textOf(host), waiting: textOf(waiting) }
  return { ...texts, starting: textOf(starting) === 'true' }
}

function readStats({ id, endpoints }: Answer): Pick<Replica, 'id' | 'calls' | 'errors'> {
  const all = (endpoints ?? []) as Answer[]
  const sum = (name: string) => all.reduce((before, endpoint) => before + numberOf(endpoint[name]), 0)
  return { id: textOf(id), calls: sum('num_requests'), errors: sum('num_errors') }
}

function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('no text')
  return value
}

function numberOf(value: unknown): number {
  if (typeof value !== 'number') throw new TypeError('no number')
  return value
}
