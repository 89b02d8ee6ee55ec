import type { InternalServiceDefinition } from '#gen/roster/users/v1/internal_service'
import { createCache } from '#lib/cache'
import type { Client } from '#lib/rpc/call'

/** The logo with this hash. Undefined where no brand has it any more, or users does not give it: no mail waits for it. */
export type Logos = (hash: string) => Promise<Buffer | undefined>

// Bytes, and milliseconds. A logo never changes.
const capacity = 8 * 1024 * 1024
const [maxAge, answerWithin] = [3_600_000, 5000]

export function openLogos(users: Client<typeof InternalServiceDefinition, 'findLogo'>): Logos {
  const logos = createCache<Buffer>({ capacity, maxAge, sizeOf: ({ length }) => length })

  async function ask(hash: string) {
    const { content } = await users.findLogo({ hash }, { requestId: '', deadline: Date.now() + answerWithin })
    // That of a policy that was set this moment may come.
    return { value: content, ...(content.length === 0 && { until: 0 }) }
  }

  return async (hash) => {
    const logo = logos.get(hash) ?? (await logos.obtain(hash, () => ask(hash)).catch(() => undefined))
    return logo?.length ? logo : undefined
  }
}
