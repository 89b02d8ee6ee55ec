// `npm run bench`: measures Roster. `usage` explains how.
import { measureBacklog } from './backlog/run.ts'
import { measureBytes } from './bytes/run.ts'
import { measureConsole } from './console/run.ts'
import { measureFlows } from './flows/run.ts'
import { measureFloods } from './floods/run.ts'
import { measureMails } from './mails/run.ts'
import { measureMemory } from './memory/run.ts'
import { type Measurement, type Options, readOptions, usage } from './options.ts'
import { compareReplicas } from './replicas/run.ts'
import { compareScales } from './scale/run.ts'
import { measureSets } from './sets/run.ts'
import { measureSpeed } from './speed/run.ts'
import { measureTelemetry } from './telemetry/run.ts'
import { measureWebhooks } from './webhooks/run.ts'
import { stopSystems } from './system.ts'

const measure: Record<Measurement, (options: Options) => Promise<string[]>> = {
  Scale: ({ objects }) => compareScales(objects),
  Replicas: compareReplicas,
  Mails: measureMails,
  Memory: measureMemory,
  Telemetry: measureTelemetry,
  Sets: measureSets,
  Bytes: measureBytes,
  Backlog: measureBacklog,
  Floods: measureFloods,
  Flows: measureFlows,
  Console: measureConsole,
  Webhooks: measureWebhooks,
}

if (process.argv.includes('--help')) {
  console.log(usage)
  process.exit()
}

let options: Options
try {
  options = readOptions(process.argv.slice(2))
} catch (error) {
  console.error(`${(error as Error).message}\n\n${usage}`)
  process.exit(2)
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => void stopSystems().then(() => process.exit(130)))

console.log('Starting servers and services ...')
const problems = await run(options).catch((error: Error) => [error.stack ?? error.message])
for (const problem of problems) console.error(problem)
process.exit(problems.length > 0 ? 1 : 0)

function run(options: Options): Promise<string[]> {
  return options.measurement ? measure[options.measurement](options) : measureSpeed(options)
}
