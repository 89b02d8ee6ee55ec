import { expect, test } from 'vitest'
import { brief } from './lasting.ts'
import { findPrometheus } from './prometheus.ts'
import { runAlerts } from './suite.ts'
import { type Trouble, troubles } from './troubles.ts'

// The short form of `npm run test:alerts`, long enough for every critical alert. The last two bring one alert together.
const [paused, refused, blink] = [
  'pause grants',
  'an event that JetStream refused',
  'cut users↔postgres for a second',
].map((wanted) => troubles.find(({ name }) => name === wanted)!) as [Trouble, Trouble, Trouble]
const chosen = [paused, together(refused, blink)]

function together(one: Trouble, other: Trouble): Trouble {
  return {
    name: `${one.name}, and ${other.name}`,
    alerts: [...one.alerts, ...other.alerts],
    async make(...given) {
      const mends = [await one.make(...given), await other.make(...given)]
      return async () => {
        for (const mend of mends) await mend()
      }
    },
  }
}

const found = await findPrometheus().catch((error: Error) => error)
if (found instanceof Error) console.warn(`The test of alerts is skipped: ${found.message}`)

test.skipIf(found instanceof Error)(
  'the right alert fires and ends, and no other does',
  { timeout: 300_000 },
  async () => {
    const outcomes = await runAlerts(chosen, console.log, brief)
    expect(outcomes.length).toBe(chosen.length)
    expect(outcomes.flatMap(({ wrong }) => wrong)).toEqual([])
  },
)
