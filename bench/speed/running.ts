// `npm run bench -- --url URL`: loads a Roster that runs already. It knows neither its processes nor its servers.
import { readFileSync } from 'node:fs'
import { startGenerator } from '../load/generator.ts'
import { addClients, issuerOf } from '../load/tokens.ts'
import { addHumans } from '../load/users.ts'
import { type Options } from '../options.ts'
import { chains } from '../load/workloads.ts'
import { renderSpeed, summarize } from './report.ts'

/** Runs the rounds against the gateway at `url` and prints the table. Gives the faults that it found. */
export async function measureRunning(url: string, options: Options): Promise<string[]> {
  const system = { urls: [url], token: readFileSync(options.tokenFile, 'utf8').trim() }
  const userIds = await addHumans(system, options.users)
  const clients = options.only.some((name) => name.startsWith('Token')) ? await addClients(system, options.users) : []
  const subjects = { userIds, clients, issuer: await issuerOf(system) }
  const generator = startGenerator()
  const { connections, seconds } = options
  // Names must be new in each run.
  let number = Date.now()
  try {
    const runs = []
    for (let round = 1; round <= options.rounds; round++)
      for (const workload of options.only.filter((name) => !(name in chains)))
        for (const encoding of options.encodings) {
          const load = { ...system, subjects: { ...subjects, round: number++ }, connections, warmUp: 1, seconds }
          const result = await generator.run({ workload, encoding, ...load })
          if (result.errors.length > 0) return [`${workload} ${encoding}: ${result.errors[0]}`]
          const measured = { ...result, rate: result.timed / result.seconds, cpu: {} }
          runs.push({ name: `${workload} ${encoding}`, measured, ofBare: NaN })
        }
    console.log(`\n${renderSpeed(summarize(runs))}`)
    return []
  } finally {
    generator.stop()
  }
}
