// `npm run bench -- --only Scale`: the latencies of a full Roster beside those of one that has just started.
import { openCheck } from '../check.ts'
import { median } from '../speed/measure.ts'
import { startSystem } from '../system.ts'
import { type Client, openClient } from '../load/client.ts'
import { fill, type Filled } from './fill.ts'
import { pagedSearches, type Question, questions } from './questions.ts'

// As many as fill a page of each search.
const few = 600
const rounds = 5
const requestsOfRound = 20
const farPage = 1000

/** Loads `number` users, with three grants each, and compares. Returns the questions whose ratio is above 2. */
export async function compareScales(number: number): Promise<string[]> {
  const systems = [await startSystem(), await startSystem()] as const
  const clients = systems.map((system) => openClient(system)) as [Client, Client]
  const checks = systems.map(({ servers }) => openCheck(servers))
  try {
    const small = await fill(clients[0], few, () => {})
    const single = await openSingle(systems[1])
    const alone = await single.measure()
    console.log(`Loading ${number} users and ${number * 3} grants ...`)
    const [large, beside] = await Promise.all([fill(clients[1], number, console.log), single.measure()])
    single.close()
    const { users, grants } = large.seconds
    console.log(`users  ${users.toFixed(1)} s, ${(number / users).toFixed(0)}/s`)
    console.log(`grants ${grants.toFixed(1)} s, ${((number * 3) / grants).toFixed(0)}/s`)
    say('SetEmail beside bulks: median', median(alone), median(beside))
    say('SetEmail beside bulks: p99', ninetyNinth(alone), ninetyNinth(beside))
    for (const check of checks) await check.settled()
    for (const check of checks) await check.analyzed()
    const slow: string[] = []
    for (const question of questions) slow.push(...(await compare(question, small, large)))
    for (const [name, path] of Object.entries(pagedSearches)) slow.push(...(await comparePages(name, path, large)))
    return slow
  } finally {
    for (const client of clients) client.close()
    for (const check of checks) await check.close()
    for (const system of systems) await system.stop()
  }
}

async function compare({ name, ask }: Question, small: Filled, large: Filled): Promise<string[]> {
  const times = new Map<Filled, number[]>([small, large].map((filled) => [filled, []]))
  for (let round = 0; round <= rounds; round++)
    for (const filled of round % 2 === 0 ? [small, large] : [large, small])
      for (let n = 0; n < requestsOfRound; n++) {
        const took = await timeOf(filled, ask(filled, round * requestsOfRound + n))
        // The first round warms up.
        if (round > 0) times.get(filled)!.push(took)
      }
  return say(name, median(times.get(small)!), median(times.get(large)!))
}

// Each page has fifty objects, so that page 1,000 begins after 49,950 of them.
async function comparePages(name: string, path: string, large: Filled): Promise<string[]> {
  let cursor = ''
  for (let page = 1; page < farPage; page++) {
    const { nextCursor } = await large.client.ask('POST', path, { cursor }, large.organization)
    if (!nextCursor) return []
    cursor = nextCursor
  }
  const times: [number[], number[]] = [[], []]
  for (let n = 0; n < rounds * requestsOfRound; n++)
    for (const [at, place] of ['', cursor].entries())
      times[at]!.push(await timeOf(large, ['POST', path, { cursor: place }]))
  return say(`${name}: page ${farPage} beside page 1`, median(times[0]), median(times[1]))
}

async function timeOf({ client, organization }: Filled, [verb, path, body]: ReturnType<Question['ask']>) {
  const sent = performance.now()
  await client.ask(verb, path, body, organization)
  return performance.now() - sent
}

function say(name: string, small: number, large: number): string[] {
  const ratio = large / small
  console.log(
    `${name.padEnd(45)} ${small.toFixed(2).padStart(8)} ms ${large.toFixed(2).padStart(8)} ms ${ratio.toFixed(2).padStart(6)}`,
  )
  return ratio < 2 ? [] : [`${name}: ${ratio.toFixed(2)} times as long`]
}

/** A client that sets an address again and again, and measures how long each time took. */
async function openSingle(system: { urls: string[]; token: string }) {
  const client = openClient(system)
  const { organizationId } = await client.ask('POST', '/management/v1/orgs', { name: 'Beside' })
  const profile = { firstName: 'B', lastName: 'B' }
  const human = { userName: 'beside', profile, email: { email: 'b@example.com', isVerified: true } }
  const { userId } = await client.ask('POST', '/v2/users/human', human, organizationId)
  let n = 0
  return {
    async measure() {
      const times: number[] = []
      while (times.length < 300) {
        const sent = performance.now()
        await client.ask('POST', `/v2/users/${userId}/email`, { email: `b${n++}@example.com`, returnCode: {} })
        times.push(performance.now() - sent)
      }
      return times
    },
    close: () => client.close(),
  }
}

function ninetyNinth(times: number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)]!
}
