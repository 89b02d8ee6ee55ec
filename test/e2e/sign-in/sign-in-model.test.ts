import * as fc from 'fast-check'
import postgres from 'postgres'
import { afterAll, beforeAll, inject, test } from 'vitest'
import { freePort } from '../../../deploy/local/ports.ts'
import { counts } from '../../model/sign-in/command.ts'
import { commands } from '../../model/sign-in/commands.ts'
import { setPlace } from '../../model/sign-in/place.ts'
import { expectUse } from '../../model/sign-in/tokens.ts'
import { isLong, isSecondTier } from '../../support/long.ts'
import { type PeopleUpstream, startPeopleUpstream } from '../../support/upstreams/people-upstream.ts'
import { shiftClock } from '../../support/shift-clock.ts'
import { startOwnHouse } from '../own-house.ts'

// Time passes in a Roster of its own alone.
const isOwn = isSecondTier && inject('roster').house !== undefined
const seed = Number(process.env['ROSTER_MODEL_SEED'] ?? 5)

const clientSecret = 'a secret of both'
let upstream: PeopleUpstream | undefined
let house: Awaited<ReturnType<typeof startOwnHouse>> | undefined
let sql: postgres.Sql | undefined
let url = ''
beforeAll(async () => {
  // The provider that people come by is of this process.
  upstream = await startPeopleUpstream(clientSecret)
  if (!isOwn) return
  const PORT = String(await freePort(0))
  url = `http://localhost:${PORT}`
  house = await startOwnHouse({}, { PORT, PUBLIC_URL: url, IDP_ALLOW_PRIVATE: '127.0.0.1' })
  sql = postgres(house.servers.databaseUrl, { max: 1, onnotice: () => {} })
}, 120_000)
afterAll(async () => {
  await upstream?.stop()
  await sql?.end()
  await house?.stop()
})

/** Of all cases of a run: no time is taken back. */
let passed = 0
/** A slow machine still takes one case to its end. */
let done = 0

test(
  `pages, codes and tokens are as the contract says, in any order of what people, applications and administrators do (seed ${seed})`,
  { timeout: 180_000 },
  async () => {
    const end = Date.now() + (!isOwn ? 7000 : isLong ? 60_000 : 15_000)
    await fc.assert(
      fc.asyncProperty(commands, async (chosen) => {
        if (done > 0 && Date.now() > end) return
        const before = passed
        const wait = async (seconds: number) => {
          passed = before + seconds
          await shiftClock(sql as never, `${passed} seconds`, 'roster_users')
        }
        const began = await setPlace(house && { ...house.machine, url, mailbox: house.servers.mailboxUrl }, {
          upstream: upstream!,
          clientSecret,
          wait: sql && wait,
          before,
        })
        await fc.asyncModelRun(() => began, chosen)
        const { model, real } = began
        for (const each of model.authorizations) if (each.redeemed !== undefined) await expectUse(model, real, each)
        done++
      }),
      { seed, numRuns: isOwn ? 40 : 4, endOnFailure: true },
    )
    if (process.env['ROSTER_MODEL_COUNTS']) console.log(counts)
  },
)
