import { setTimeout as sleep } from 'node:timers/promises'
import { Misfit, releaseOf } from '#lib/health/release'
import { readWaits } from '#lib/health/waits'
import type { Log } from '#lib/log'
import type { Nats } from '#lib/nats/connect-nats'
import { offered } from '#lib/rpc/methods'
import { answers, ready } from '../measures.ts'
import { askReplicas, findMisfit, type Replica, versionsOf } from './fleet.ts'

export interface Readiness {
  look(): Promise<Report>
  /** Makes the gateway not ready from now on, even if all services answer. */
  close(): void
}

export interface Report {
  /** The services that are missing right now. Empty when the gateway can answer every call. */
  missing: string[]
  /** Counts the events that were refused for good, by their service. */
  parked: Record<string, number>
  /** The services whose database lacks events that the stream has. */
  ahead: string[]
  /** The servers that each service waits for, and the services that the gateway waits for, with the time since when. */
  waiting: Record<string, Record<string, string>>
  /** The versions that run, by service. */
  versions: Record<string, string[]>
  /** Whether mails and webhooks wait, because this is a copy on trial. */
  drill: boolean
}

const interval = 2_000
/** Lines about versions in the log, a minute. */
const mostLines = 4
/** Milliseconds that replicas may answer later than the first one of their service, when a gateway starts. */
const firstAnswersWithin = 200
/** Replicas of a service that count. */
const mostReplicas = 100

/** The names of the services behind the gateway, from the packages of the offered methods, `roster.<name>.v1`. */
export const services = [...new Set(offered.map(({ subject }) => subject.split('.')[1]!))].toSorted()

/**
 * Without these, no caller can be identified and no call answered. Without another service, only its own calls fail.
 */
const essential = ['gateway', 'nats', 'users', 'grants']

/** Whether the gateway can answer calls while these are missing. */
export function isReady(missing: string[]): boolean {
  return !missing.some((name) => essential.includes(name))
}

/**
 * Watches whether the services answer. Calls `onChange` with the missing ones, once at the start and at every change.
 * Rejects where a service runs in a version that must not work beside this one.
 */
export async function watchReadiness(nats: Nats, log: Log, onChange: (missing: string[]) => void): Promise<Readiness> {
  let closed = false
  let known: string | undefined
  let knownVersions = ''
  let lines: number[] = []
  let looking: Promise<Report> | undefined
  let next: Promise<Report> | undefined
  const missingSince = new Map<string, string>()
  let last: string[] | undefined
  ready.watch(() => last && Number(isReady(last)))
  for (const name of services) answers.watch(() => last && Number(!last.includes(name) && !last.includes('nats')), name)
  const askAll = createQuestions(nats)

  async function check(): Promise<Report> {
    const { missing, replicas } = await askAll()
    const report = closed ? { ...nothing, missing: ['gateway'] } : reportOf(nats, missing, replicas, since(missing))
    publish(report)
    logVersions(report, replicas)
    last = report.missing
    return report
  }

  function since(missing: string[]) {
    for (const name of missingSince.keys()) if (!missing.includes(name)) missingSince.delete(name)
    for (const name of missing) if (!missingSince.has(name)) missingSince.set(name, new Date().toISOString())
    return Object.fromEntries(missingSince)
  }

  function publish({ missing, waiting }: Report) {
    const waits = Object.entries(waiting).map(([name, servers]) => `${name}: ${Object.keys(servers).join()}`)
    const text = `${missing.join()} ${waits.join()}`
    if (text === known) return
    known = text
    if (text === ' ') log.info('ready for calls')
    else log.warn({ missing, waiting }, isReady(missing) ? 'ready for most calls' : 'not ready for calls')
    onChange(missing)
  }

  function logVersions({ versions }: Report, replicas: Replica[]) {
    const all = [...new Set(Object.values(versions).flat())].toSorted()
    const wasMixed = knownVersions.includes(' ')
    if (replicas.length === 0 || all.join(' ') === knownVersions) return
    // A captured service may change its mind with each look.
    lines = lines.filter((at) => at > Date.now() - 60_000)
    if (lines.length >= mostLines) return
    lines.push(Date.now())
    knownVersions = all.join(' ')
    if (all.length > 1) log.warn({ versions }, 'services of different versions run side by side')
    else if (wasMixed) log.info({ versions }, 'all services run in one version')
    const wrong = findMisfit(replicas)
    if (wrong) log.error({ versions }, `${wrong.service} runs in a version that must not work beside this one`)
  }

  // However many callers ask, at most two looks run: one under way, and the next, which begins after they asked.
  function look(): Promise<Report> {
    if (!looking) return (looking = check().finally(() => (looking = undefined)))
    return (next ??= looking.then(lookNext, lookNext))
  }

  function lookNext() {
    next = undefined
    return look()
  }

  const wrong = findMisfit(await askEssential(nats))
  if (wrong) throw new Misfit(`${wrong.service} is`, releaseOf(wrong.version))
  const timer = setInterval(() => void look(), interval)
  void look()
  return {
    look,
    close() {
      closed = true
      clearInterval(timer)
      void check()
    },
  }
}

const nothing: Report = { missing: [], parked: {}, ahead: [], waiting: {}, versions: {}, drill: false }

/**
 * Asks the replicas that decide whether this gateway may start. A service that the gateway can do without may be
 * captured, and must not keep it from starting. Users and grants could refuse all calls anyway, and another gateway
 * could act as every caller.
 */
async function askEssential(nats: Nats): Promise<Replica[]> {
  const replicas: Replica[] = []
  const asked = ['users', 'grants', 'gateway'].map((service) =>
    askReplicas(
      nats,
      service,
      (replica) => void (replicas.length < mostReplicas && replicas.push(replica)),
      () => {},
    ),
  )
  await Promise.all(asked)
  // The first answer of a service need not be that of the wrong replica.
  await sleep(firstAnswersWithin)
  return replicas
}

/** Gives a function that asks all replicas of the services, and of the gateway. */
function createQuestions(nats: Nats): () => Promise<{ missing: string[]; replicas: Replica[] }> {
  // The replicas that answered to the last question, by service.
  const before = new Map<string, Map<string, Replica>>()

  async function ask(service: string) {
    const now = new Map<string, Replica>()
    await askReplicas(
      nats,
      service,
      (replica) => void (now.size < mostReplicas && now.set(replica.instance, replica)),
      () => void before.set(service, now),
    )
    const isMissing = [...now.values()].every(({ starting }) => starting)
    // Those of before count as well, because answers are still under way.
    return { service, isMissing, replicas: [...new Map([...(before.get(service) ?? []), ...now]).values()] }
  }

  return async () => {
    const asked = nats.connected() ? await Promise.all([...services, 'gateway'].map(ask)) : []
    if (!nats.connected()) return { missing: ['nats'], replicas: [] }
    // A gateway that starts or stops does not answer about itself. It needs no other one.
    const missing = asked.flatMap(({ service, isMissing }) => (isMissing && service !== 'gateway' ? [service] : []))
    return { missing, replicas: asked.flatMap(({ replicas }) => replicas) }
  }
}

function reportOf(nats: Nats, missing: string[], replicas: Replica[], missingSince: Record<string, string>): Report {
  const [parked, waiting]: [Report['parked'], Report['waiting']] = [{}, {}]
  const { nats: _, ...missedServices } = missingSince
  const own = { ...readWaits(String(nats.waits)), ...missedServices }
  if (Object.keys(own).length > 0) waiting['gateway'] = own
  for (const { service, ...replica } of replicas) {
    if (replica.deadLetters > 0) parked[service] = Math.max(parked[service] ?? 0, replica.deadLetters)
    for (const [server, at] of Object.entries(replica.waiting)) {
      const servers = (waiting[service] ??= {})
      if (servers[server] === undefined || at < servers[server]) servers[server] = at
    }
    // The cause of the others, whichever replica noticed it.
    const { SinglePrimary, ...others } = waiting[service] ?? {}
    if (SinglePrimary !== undefined) waiting[service] = { SinglePrimary, ...others }
  }
  const ahead = replicas.flatMap(({ service, streamIsAhead }) => (streamIsAhead ? [service] : []))
  const drill = replicas.some((replica) => replica.drill)
  // A probe shows them in this order: causes first.
  return { waiting, missing, parked, ahead: [...new Set(ahead)], versions: versionsOf(replicas), drill }
}
