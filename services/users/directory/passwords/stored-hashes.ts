import { createCache } from '#lib/cache'
import { parametersOf, standard } from '#lib/credentials/argon2-parameters'
import type { Sql } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import { isNew } from '#lib/health/release'
import { isBesideFormer } from '#lib/schema/releases'
import type { Config } from '../../config.ts'
import type { PasswordHashes } from '../../context.ts'
import { createEqualCost } from './equal-cost.ts'
import { type Cost, hashPassword, verifyPassword } from './password-hashing.ts'
import { noteSetting, readParameters } from './stored-parameters.ts'

/** Milliseconds. Shorter than the pause before other parameters are used: no check goes by an older answer. */
const maxAge = 5000

/** Opens the hashes of passwords, by the setting of the instance. */
export async function openPasswordHashes(
  sql: Sql,
  { PASSWORD_HASHING: setting }: Pick<Config, 'PASSWORD_HASHING'>,
): Promise<PasswordHashes> {
  await noteSetting(sql, setting)
  const costOf = createEqualCost()
  const cache = createCache<Known>({ capacity: 1, maxAge })

  const read = async () => {
    const { current, counted } = await readParameters(sql)
    // A replica of 0.3 takes the standard ones' time for names that are unknown.
    const isHeldBack = isNew('0.4') && current !== standard && (await isBesideFormer(sql))
    const used = isHeldBack ? standard : current
    const all = counted.includes(used) ? counted : [...counted, used]
    return { value: { current: used, all, cost: await costOf(all) } }
  }
  const known = async () => cache.get('') ?? (await cache.obtain('', read))

  // The first check waits for nothing.
  await known()
  return {
    async hash(password, place) {
      return hashPassword(password, place, (await known()).current)
    },
    async verify(password, hash, place) {
      const found = await known()
      let { cost } = found
      // It was imported since then.
      if (hash !== null && !found.all.includes(parametersOf(hash))) {
        cache.clear()
        ;({ cost } = await known())
      }
      return verifyPassword(password, hash ?? undefined, place, cost)
    },
    async renew(password, hash, place) {
      const { current } = await known()
      if (parametersOf(hash) === current) return undefined
      return hashPassword(password, place, current).catch(unlessThrottled)
    },
  }
}

interface Known {
  current: string
  all: string[]
  cost: Cost
}

// The person is signed in by the hash that is there. The next sign-in renews it.
function unlessThrottled(error: unknown): undefined {
  if (!(error instanceof RosterError)) throw error
}
