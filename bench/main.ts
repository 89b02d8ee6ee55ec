// `npm run bench`: puts Roster and the bare chain under the same load, on the same servers, in turn.
import { writeFileSync } from 'node:fs'
import { type Check, openCheck } from './check.ts'
import { type Generator, startGenerator } from './generator.ts'
import type { Round } from './load.ts'
import { measure, type Measured } from './measure.ts'
import { type Options, readOptions, usage } from './options.ts'
import { compareScales } from './scale/run.ts'
import { compareToSigning, facts, render, summarize } from './report.ts'
import { measureSigning } from './signing.ts'
import { startSystem, type System } from './system.ts'
import { addClients, issuerOf } from './tokens.ts'
import { addHumans } from './users.ts'

let options: Options
try {
  options = readOptions(process.argv.slice(2))
} catch (error) {
  console.error(`${(error as Error).message}\n\n${usage}`)
  process.exit(2)
}

console.log('Starting servers and services ...')
if (options.scale) {
  const slow = await compareScales(options.scale)
  for (const text of slow) console.error(text)
  process.exit(slow.length > 0 ? 1 : 0)
}
const system = await startSystem(options.profiles)
const generator = startGenerator()
const check = openCheck(system.servers)
const stop = async () => {
  generator.stop()
  await check.close()
  await system.stop()
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stop().then(() => process.exit(130)))
const problems = await bench(options, system, generator, check).catch((error: Error) => [error.message])
await stop()
for (const problem of problems) console.error(problem)
process.exit(problems.length > 0 ? 1 : 0)

async function bench(options: Options, system: System, generator: Generator, check: Check): Promise<string[]> {
  const userIds = await addHumans(system, options.users)
  const [clients, issuer] = [await addClients(system, options.users), await issuerOf(system)]
  const before = await check.stored()
  const rounds: Measured[] = []
  const acknowledged = { bare: 0, SetEmail: 0, AddMachineUser: 0, GetUser: 0, Token: 0 }
  const kindOf = (workload: Round['workload']) => workload.split('+')[0] as keyof typeof acknowledged
  const pids = { ...system.pids, 'load generator': generator.pid }
  let number = 0

  async function run(workload: Round['workload'], encoding: Round['encoding'], warmUp: number, seconds: number) {
    const { token, bare } = system
    const url = workload === 'bare' ? bare.url : system.url
    const subjects = { userIds, clients, issuer, round: number++ }
    const round = { workload, encoding, url, token, subjects, connections: options.connections, warmUp, seconds }
    const measured = await measure(round, generator, pids, check)
    acknowledged[kindOf(workload)] += measured.acknowledged
    if (measured.errors.length > 0) throw new Error(`${workload} ${encoding}: ${measured.errors[0]}`)
    return measured
  }

  const plan = options.only.flatMap((workload) => options.encodings.map((encoding) => [workload, encoding] as const))
  console.log('Warming up ...')
  for (const [workload, encoding] of [['bare', 'json'] as const, ...plan]) await run(workload, encoding, 0, 3)
  for (let round = 1; round <= options.rounds; round++) {
    for (const [workload, encoding] of plan) {
      rounds.push(await run('bare', 'json', 0.5, options.seconds), await run(workload, encoding, 0.5, options.seconds))
      const [bare, ours] = rounds.slice(-2) as [Measured, Measured]
      console.log(`  round ${round}: bare ${bare.rate.toFixed(0)}/s, ${workload} ${encoding} ${ours.rate.toFixed(0)}/s`)
    }
  }

  const rows = summarize(rounds)
  const machine = facts(await check.version())
  console.log(`\n${render(rows)}\n`)
  const comparison = compareToSigning(rows, await measureSigning(options.seconds))
  if (comparison) console.log(`${comparison}\n`)
  for (const [name, fact] of Object.entries(machine)) console.log(`${name.padEnd(9)} ${fact}`)
  if (options.json) writeFileSync(options.json, JSON.stringify({ options, machine, rows, rounds }, null, 2))
  console.log(`\n${(await check.eventsPerTransaction()).toFixed(1)} events per transaction`)
  const after = await check.stored()
  const lost = (['bare', 'SetEmail', 'AddMachineUser', 'Token'] as const)
    .filter((name) => after[name] - before[name] !== acknowledged[name])
    .map((name) => `${name}: ${acknowledged[name]} acknowledged, ${after[name] - before[name]} stored`)
  const problems = [...lost, ...(await check.problems())]
  const writes = acknowledged.SetEmail + acknowledged.AddMachineUser + acknowledged.Token
  if (problems.length === 0) console.log(`\n${writes} writes acknowledged, as many stored and published.`)
  return problems
}
