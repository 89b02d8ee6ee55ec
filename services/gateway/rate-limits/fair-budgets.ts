import { type Bucket, burstSeconds, createBucket, createRecent, wait, wear } from '#lib/token-bucket'
import { rateLimited } from './rate-limited.ts'

/** Rate limits of callers, whose budgets share those of their organizations. */
export interface FairBudgets {
  /**
   * Takes so many calls from the caller's budget of `rate` a second, and as many from the organization's. Ten seconds'
   * worth may be taken at once, and a rate of 0 is no limit. No caller may use more of the organization's budget than
   * it leaves to the others. So a caller that takes less than its share always finds some. More calls than a quarter of
   * a budget take a quarter of it, so that they may come at all. RESOURCE_EXHAUSTED RATE_LIMITED takes nothing.
   */
  take(userId: string, rate: number, organizationId: string, now: number, calls?: number): void
}

interface Own extends Bucket {
  /** The part of the organization's used budget that this caller used. */
  share: number
}

export function createFairBudgets(organizationRate: number): FairBudgets {
  const callers = createRecent<Own>(() => ({ ...createBucket(), share: 0 }), burstSeconds * 1000)
  const organizations = createRecent(createBucket, burstSeconds * 1000)

  // As the use of an organization wears off, the share of each of its callers shrinks in proportion.
  function wearShare(own: Own, all: Bucket, now: number) {
    const worn = ((now - own.at) * organizationRate) / 1000
    own.share = worn < all.used ? own.share * (1 - worn / all.used) : 0
  }

  function waitForShare({ share }: Own, all: Bucket, calls: number): number {
    const missing = share + calls - (organizationRate * burstSeconds - all.used)
    if (missing <= 0) return 0
    // The other callers may keep using theirs, so only this caller's own share is sure to wear off.
    return (missing / organizationRate) * (share > 1 ? all.used / share : 1)
  }

  return {
    take(userId, rate, organizationId, now, calls = 1) {
      const own = callers(userId, now)
      const all = organizationRate > 0 ? organizations(organizationId, now) : undefined
      if (all) {
        wearShare(own, all, now)
        wear(all, organizationRate, now)
      }
      wear(own, rate, now)
      const quarter = burstSeconds / 4
      const cost = Math.min(calls, (rate || Infinity) * quarter, (organizationRate || Infinity) * quarter)
      const ownWait = rate > 0 ? wait(own, rate, cost) : 0
      const sharedWait = all ? waitForShare(own, all, cost) : 0
      if (ownWait > 0 || sharedWait > 0)
        throw rateLimited(ownWait >= sharedWait ? 'caller' : 'organization', Math.max(ownWait, sharedWait))
      own.used += cost
      own.share += cost
      if (all) all.used += cost
    },
  }
}
