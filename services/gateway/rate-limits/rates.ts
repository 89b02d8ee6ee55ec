import type { Caller } from '#lib/rpc/caller'
import type { Method } from '#lib/rpc/methods'
import { createFairBudgets } from './fair-budgets.ts'
import { type AddressRates, costOfRead, createAddressRates } from './address-rates.ts'

/** Limits the calls a second that this gateway takes. */
export interface Rates {
  /**
   * Counts a call against its caller and the organization that the caller belongs to, whichever it acts for. A call of
   * a public method counts against its address. An owner of the instance has no limit. `calls`: the number of calls to
   * count, all or none. RESOURCE_EXHAUSTED RATE_LIMITED.
   */
  admit(caller: Caller, method: Method, address: string, calls?: number): void
  /**
   * Counts a call with an Idempotency-Key. A service keeps its answer for a day, so an address has fewer of these calls
   * of public methods. RESOURCE_EXHAUSTED RATE_LIMITED.
   */
  admitKey(method: Method, address: string): void
  byAddress: AddressRates
}

const readsPerWrite = 10
/** An address may have a key for each hundredth call. A thousand seconds' worth may come at once. */
const callsPerKey = 100
const keysAtOnce = 1000

export interface RateSettings {
  WRITES_PER_CALLER: number
  WRITES_PER_MEMBER: number
  WRITES_PER_ORGANIZATION: number
  CALLS_PER_ADDRESS: number
}

/** Counts from zero. `clock` gives milliseconds and never goes back. */
export function createRates(config: RateSettings, clock: () => number): Rates {
  const writes = createFairBudgets(config.WRITES_PER_ORGANIZATION)
  const reads = createFairBudgets(config.WRITES_PER_ORGANIZATION * readsPerWrite)
  const byAddress = createAddressRates(config.CALLS_PER_ADDRESS, clock)
  const keys = createAddressRates(config.CALLS_PER_ADDRESS / callsPerKey, clock, keysAtOnce)
  return {
    byAddress,
    admitKey(method, address) {
      if (method.access.rule === 'public') keys.admit(address, 1)
    },
    admit(caller, method, address, calls = 1) {
      if (method.access.rule === 'public') return byAddress.admit(address, calls * costOf(method))
      if (caller.instanceRoles.includes('IAM_OWNER')) return
      const rate = caller.hasRole ? config.WRITES_PER_MEMBER : config.WRITES_PER_CALLER
      const { userId, organizationId } = caller
      if (method.reads) reads.take(userId, rate * readsPerWrite, organizationId, clock(), calls)
      else writes.take(userId, rate, organizationId, clock(), calls)
    },
  }
}

// Many programs at one address may ask for tokens, and their proofs cost little to check.
function costOf({ reads, oauth }: Method): number {
  return reads || oauth ? costOfRead : 1
}
