import { expect, test } from 'vitest'
import { findPrometheus } from './prometheus.ts'
import { runAlerts } from './suite.ts'
import { troubles } from './troubles.ts'

// The short form of `npm run test:alerts`.
const chosen = ['pause grants', 'an event that JetStream refused', 'cut users↔postgres for a second']

const found = await findPrometheus().catch((error: Error) => error)
if (found instanceof Error) console.warn(`The test of alerts is skipped: ${found.message}`)

test.skipIf(found instanceof Error)(
  'the right alert fires and ends, and no other does',
  { timeout: 300_000 },
  async () => {
    const outcomes = await runAlerts(
      troubles.filter(({ name }) => chosen.includes(name)),
      console.log,
    )
    expect(outcomes.length).toBe(chosen.length)
    expect(outcomes.flatMap(({ wrong }) => wrong)).toEqual([])
  },
)
