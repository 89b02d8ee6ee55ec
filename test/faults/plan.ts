import { type Random, seeded } from './random.ts'

export const processes = ['users', 'grants', 'idp', 'gateway', 'notifier', 'nats', 'redis', 'postgres'] as const
export type Process = (typeof processes)[number]

export const lines = [
  'users↔postgres',
  'grants↔postgres',
  'idp↔postgres',
  'notifier↔postgres',
  'users↔nats',
  'grants↔nats',
  'gateway↔nats',
  'notifier↔nats',
  'notifier↔redis',
  'notifier↔smtp',
] as const
export type Line = (typeof lines)[number]

/** A fault that lasts for some milliseconds. */
export type Fault =
  | { kind: 'kill'; victim: Process; forMs: number }
  | { kind: 'pause'; victim: Process; forMs: number }
  | { kind: 'cut'; victim: Line; forMs: number }
  | { kind: 'stall'; victim: Line; forMs: number }

/** The faults of one round of the suite: one, or two that overlap. */
export interface Round {
  number: number
  faults: Fault[]
  /** Milliseconds from the first fault to the second. */
  apart: number
}

const killed: Fault[] = processes.map((victim) => ({ kind: 'kill', victim, forMs: 0 }))
const paused: Fault[] = processes.map((victim) => ({ kind: 'pause', victim, forMs: 0 }))
const cut: Fault[] = lines.map((victim) => ({ kind: 'cut', victim, forMs: 0 }))
const stalled: Fault[] = lines.map((victim) => ({ kind: 'stall', victim, forMs: 0 }))
/** Each fault by itself. */
export const singleFaults: Fault[] = [...killed, ...paused, ...cut, ...stalled]
const longest = { kill: 1500, pause: 6000, cut: 3000, stall: 6000 }

/**
 * Plans every fault or the named ones, alone and in pairs, so many times. The seed decides their order and duration.
 */
export function makePlan(
  seed: number,
  { rounds, pairs, only }: { rounds: number; pairs: number; only?: string[] | undefined },
) {
  const random = seeded(seed, 'plan')
  const chosen =
    only === undefined
      ? singleFaults
      : singleFaults.filter((fault) => only.some((name) => nameOf([fault]).includes(name)))
  if (chosen.length === 0)
    throw new Error(`No fault is named ${only?.join(' or ')}; known: ${singleFaults.map(one).join(', ')}`)
  const plan: Omit<Round, 'number'>[] = []
  for (let round = 0; round < rounds; round++) {
    const singles = chosen.map((fault) => ({ faults: [last(fault, random)], apart: 0 }))
    plan.push(...random.shuffle([...singles, ...pairsOf(chosen, pairs, random)]))
  }
  return plan.map((round, index): Round => ({ ...round, number: index + 1 }))
}

/** `kill -9 users`, `pause redis and cut users↔nats` */
export function nameOf(faults: Fault[]): string {
  return faults.map(one).join(' and ')
}

function one({ kind, victim }: Fault): string {
  return `${kind === 'kill' ? 'kill -9' : kind} ${victim}`
}

function pairsOf(faults: Fault[], count: number, random: Random): Omit<Round, 'number'>[] {
  if (faults.length < 2) return []
  return Array.from({ length: count }, () => {
    const first = random.pick(faults)
    const second = random.pick(faults.filter(({ victim }) => victim !== first.victim))
    return { faults: [last(first, random), last(second, random)], apart: random.between(0, 1500) }
  })
}

function last(fault: Fault, random: Random): Fault {
  const most = longest[fault.kind]
  return { ...fault, forMs: random.between(most / 3, most) }
}
