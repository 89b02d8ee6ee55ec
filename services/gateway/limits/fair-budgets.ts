import { type Bucket, burstSeconds, createBucket, wait, wear } from './bucket.ts'
import { rateLimited } from './rate-limited.ts'
import { createRecent } from './recent.ts'

/** Budgets of callers who share those of their organizations. */
export interface FairBudgets {
  /**
   * Takes one of the caller's budget, which is `rate` a second, and one of the organization's; both allow ten seconds' worth at
   * once, and 0 is without limit. A caller has at most as much of the organization's in use as is left for the others, so one
   * that takes less than its share always finds some. RESOURCE_EXHAUSTED RATE_LIMITED, and nothing was taken.
   */
  take(userId: string, rate: number, organizationId: string, now: number): void
}

interface Own extends Bucket {
  /** What of the organization's budget is this caller's use. */
  share: number
}

export function createFairBudgets(organizationRate: number): FairBudgets {
  const callers = createRecent<Own>(() => ({ ...createBucket(), share: 0 }), burstSeconds * 1000)
  const organizations = createRecent(createBucket, burstSeconds * 1000)

  // What an organization used wears off of all who used it, in proportion.
  function wearShare(own: Own, all: Bucket, now: number) {
    const worn = ((now - own.at) * organizationRate) / 1000
    own.share = worn < all.used ? own.share * (1 - worn / all.used) : 0
  }

  function waitForShare({ share }: Own, all: Bucket): number {
    const missing = share + 1 - (organizationRate * burstSeconds - all.used)
    if (missing <= 0) return 0
    // The others may keep what they use, so only its own is sure to wear off.
    return (missing / organizationRate) * (share > 1 ? all.used / share : 1)
  }

  return {
    take(userId, rate, organizationId, now) {
      const own = callers(userId, now)
      const all = organizationRate > 0 ? organizations(organizationId, now) : undefined
      if (all) {
        wearShare(own, all, now)
        wear(all, organizationRate, now)
      }
      wear(own, rate, now)
      const ownWait = rate > 0 ? wait(own, rate) : 0
      const sharedWait = all ? waitForShare(own, all) : 0
      if (ownWait > 0 || sharedWait > 0)
        throw rateLimited(ownWait >= sharedWait ? 'caller' : 'organization', Math.max(ownWait, sharedWait))
      own.used++
      own.share++
      if (all) all.used++
    },
  }
}
