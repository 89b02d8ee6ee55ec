import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Fault, Process, Round } from './plan.ts'
import type { Running } from './running.ts'

const mostDown = 60_000

/** Inflicts the faults of a round. Resolves when every process and connection works again. */
export async function inflict(running: Running, { faults, apart }: Round): Promise<void> {
  await Promise.all(
    faults.map(async (fault, index) => {
      await sleep(index * apart)
      const end = await begin(running, fault)
      // A killed service comes back by itself.
      if (fault.kind !== 'kill' || isServer(fault.victim)) await sleep(fault.forMs)
      await end()
    }),
  )
}

/** Begins a fault. Returns the function that ends it, or waits until the supervisor did. */
export async function begin(running: Running, fault: Fault): Promise<() => Promise<void> | void> {
  if (fault.kind === 'cut' || fault.kind === 'stall') {
    const cable = running.cables[fault.victim]
    cable[fault.kind]()
    return () => cable.mend()
  }
  const { kind, victim } = fault
  const process_ = processOf(running, victim)
  if (kind === 'pause') return pause(process_.pid)
  await process_.kill('SIGKILL')
  if (isServer(victim)) return () => running.servers[victim]!.restart()
  return async () => {
    for (const end = Date.now() + mostDown; process_.pid === undefined; await sleep(20))
      if (Date.now() > end) throw new Error(`${victim} did not come back`)
  }
}

export function processOf({ servers, services }: Running, name: Process) {
  return isServer(name) ? servers[name]! : services.handles[name]
}

function isServer(name: Process): name is 'nats' | 'redis' | 'postgres' {
  return name === 'nats' || name === 'redis' || name === 'postgres'
}

/**
 * Stops a process and its children, because PostgreSQL answers in its children. Returns the function that lets them go
 * on.
 */
export function pause(pid: number | undefined): () => void {
  if (pid === undefined) return () => {}
  send(pid, 'SIGSTOP')
  const children = childrenOf(pid)
  for (const child of children) send(child, 'SIGSTOP')
  return () => {
    for (const stopped of [...children, pid]) send(stopped, 'SIGCONT')
  }
}

/** Kills a process and its children at once, as a power cut does. */
export function killAll(pid: number | undefined): void {
  if (pid !== undefined) for (const victim of [pid, ...childrenOf(pid)]) send(victim, 'SIGKILL')
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').map(Number).filter(Boolean)
}

function send(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process ended in the meantime.
  }
}
