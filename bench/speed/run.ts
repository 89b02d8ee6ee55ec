// Puts Roster and the bare chain under the same load, on the same servers, alternately, and another checkout where it
// is wanted.
import { type BareChain, startBareChain } from '../bare-chain/start.ts'
import { type Check, openCheck, type Stored } from '../check.ts'
import { type Generator, startGenerator } from '../load/generator.ts'
import type { Round } from '../load/load.ts'
import { addFamilies } from '../load/people.ts'
import { addClients } from '../load/tokens.ts'
import { addHumans } from '../load/users.ts'
import { chains, kindOf, ofPeople, type Subjects, workloads } from '../load/workloads.ts'
import type { Options } from '../options.ts'
import { commitOf, saveResults } from '../save-results.ts'
import { startSystem, type System, type SystemOptions } from '../system.ts'
import { measure, sum } from './measure.ts'
import { facts, render, type Run, summarize } from './report.ts'

/** A system under load, with its subjects. */
interface Side {
  name: string
  system: System
  check: Check
  subjects: Omit<Subjects, 'round'>
  before: Stored
  acknowledged: Stored
}

/** Seconds of each load before the first round: V8 still compiles for that long. */
const warmUp = 8

/** Runs the rounds and prints the tables. Returns the faults that it found. */
export async function measureSpeed(options: Options): Promise<string[]> {
  const generator = startGenerator()
  const begun: { stop(): Promise<void> | void }[] = [generator]
  const stop = async () => {
    for (const part of begun.splice(0).toReversed()) await part.stop()
  }
  try {
    const open = async (name: string, own: SystemOptions = {}) => {
      const system = await startSystem({
        replicas: options.replicas,
        settings: { PERSON_TOKEN_LIFETIME: '86400' },
        ...own,
      })
      begun.push(system)
      return openSide(name, system, options)
    }
    const ours = await open('')
    const sides = [ours]
    if (options.beside) sides.push(await open(', beside', { root: options.beside }))
    begun.push(...sides.map(({ check }) => ({ stop: () => check.close() })))
    const bare = await startBareChain(ours.system.servers)
    begun.push(bare)
    const { problems, results } = await run(options, generator, sides, bare)
    const beside = options.beside && { beside: commitOf(options.beside) }
    if (options.save) saveResults('speed', { ...beside, ...results })
    return problems
  } finally {
    await stop()
  }
}

async function openSide(name: string, system: System, { users, only }: Options): Promise<Side> {
  const userIds = await addHumans(system, users)
  const clients = await addClients(system, users)
  const families = only.some((workload) => ofPeople.includes(workload)) ? await addFamilies(system, userIds) : []
  const check = openCheck(system.servers)
  const acknowledged = { SetEmail: 0, AddMachineUser: 0, Token: 0 }
  return { name, system, check, subjects: { userIds, clients, families }, before: await check.stored(), acknowledged }
}

async function run(options: Options, generator: Generator, sides: Side[], bare: BareChain) {
  const [ours] = sides as [Side]
  let [number, bareAcknowledged] = [0, 0]
  const bareBefore = await bare.stored()

  async function take(side: Side, workload: Round['workload'], encoding: Round['encoding'], seconds: number) {
    const { system, check } = side
    const isBare = isChain(workload)
    const subjects = { ...side.subjects, round: number++ }
    const urls = isBare ? (encoding === 'grpc' ? [bare.grpcUrl] : bare.urls) : system.urls
    const { connections } = options
    const round = { workload, encoding, urls, token: system.token, subjects, connections, warmUp: 0.5, seconds }
    const pids = { ...system.pids, ...bare.pids, 'load generator': [generator.pid] }
    const measured = await measure(round, generator, pids, () => check.settled())
    if (measured.errors.length > 0) throw new Error(`${workload} ${encoding}${side.name}: ${measured.errors[0]}`)
    if (isBare) bareAcknowledged += workload === 'Echo' ? 0 : measured.acknowledged
    else for (let n = 0; n < measured.acknowledged; n++) count(side.acknowledged, kindOf(workload, n))
    return measured
  }

  const plan = options.only.flatMap((workload) =>
    options.encodings
      .filter((encoding) => isOffered(workload, encoding))
      .map((encoding) => [workload, encoding] as const),
  )
  console.log('Warming up ...')
  await take(ours, 'bare', 'json', warmUp)
  for (const side of sides) for (const [workload, encoding] of plan) await take(side, workload, encoding, warmUp)
  const runs: Run[] = []
  for (let round = 1; round <= options.rounds; round++) {
    for (const [workload, encoding] of plan) {
      const chain = await take(ours, 'bare', 'json', options.seconds)
      runs.push({ name: 'bare chain', measured: chain, ofBare: 1 })
      console.log(`  round ${round}: bare ${chain.rate.toFixed(0)}/s`)
      // The side that comes first changes with each round.
      const ordered = round % 2 === 1 ? sides : sides.toReversed()
      for (const side of isChain(workload) ? [ours] : ordered) {
        const measured = await take(side, workload, encoding, options.seconds)
        const name = nameOf(workload, encoding) + side.name
        runs.push({ name, measured, ofBare: measured.rate / chain.rate })
        console.log(
          `  round ${round}: ${name} ${measured.rate.toFixed(0)}/s, ${sum(Object.values(measured.cpu)).toFixed(0)} µs`,
        )
      }
    }
  }

  const rows = summarize(runs)
  const machine = facts(await ours.check.version())
  console.log(`\n${render(rows)}\n`)
  for (const [name, fact] of Object.entries(machine)) console.log(`${name.padEnd(9)} ${fact}`)
  console.log(`\n${(await ours.check.eventsPerTransaction()).toFixed(1)} events per transaction`)

  const problems = (await Promise.all(sides.map(findLost))).flat()
  const bareStored = (await bare.stored()) - bareBefore
  if (bareStored !== bareAcknowledged) problems.push(`bare: ${bareAcknowledged} acknowledged, ${bareStored} stored`)
  const writes = sides.flatMap(({ acknowledged }) => Object.values(acknowledged)).reduce((all, one) => all + one, 0)
  if (problems.length === 0) console.log(`\n${writes} writes acknowledged, as many stored and published.`)
  return { problems, results: { machine, rows } }
}

function count(acknowledged: Stored, kind: Round['workload']): void {
  if (kind in acknowledged) acknowledged[kind as keyof Stored]++
}

const isChain = (workload: Round['workload']) => workload in chains

// The bare chain over JSON comes before each round anyway. Pages and userinfo have one encoding.
function isOffered(workload: Round['workload'], encoding: Round['encoding']): boolean {
  if (encoding === 'json') return workload !== 'bare'
  return workloads[workload].grpc !== undefined && (encoding === 'grpc' || !isChain(workload))
}

function nameOf(workload: Round['workload'], encoding: Round['encoding']): string {
  const chain = chains[workload]
  if (!chain) return `${workload} ${encoding}`
  return encoding === 'json' ? chain : `${chain} ${encoding}`
}

async function findLost({ name, check, before, acknowledged }: Side): Promise<string[]> {
  const after = await check.stored()
  const lost = (['SetEmail', 'AddMachineUser', 'Token'] as const)
    .filter((kind) => after[kind] - before[kind] !== acknowledged[kind])
    .map((kind) => `${kind}${name}: ${acknowledged[kind]} acknowledged, ${after[kind] - before[kind]} stored`)
  return [...lost, ...(await check.problems())]
}
