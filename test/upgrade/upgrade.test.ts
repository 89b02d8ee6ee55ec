import { expect, test } from 'vitest'
import { roster } from '../../lib/health/release.ts'
import { isRenewing } from '../support/expect-part.ts'
import { formerRelease, whyNoFormerRelease } from './former-release.ts'
import { rollOverAndBack } from './roll.ts'
import { tableOf, writeNumbers } from './numbers.ts'

const missing = whyNoFormerRelease()

test.skipIf(missing !== undefined)(
  `each service of ${formerRelease.version} is replaced under load, and back, and no write is lost or doubled${missing ? ` (skipped: ${missing})` : ''}`,
  { timeout: 480_000 },
  async () => {
    const outcome = await rollOverAndBack(1, console.log)
    console.log(tableOf(outcome))
    expect(outcome.violations).toEqual([])
    expect(outcome.stretches.length).toBe(13)
    // Services of both versions were seen side by side, by today's gateway.
    expect(outcome.mixed['users']).toContain(formerRelease.version)
    expect(outcome.mixed['gateway']).toEqual([roster.version])
    if (isRenewing()) writeNumbers(outcome)
  },
)
