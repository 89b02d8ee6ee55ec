/** Whether this is a run of both tiers, which leaves nothing out. */
export const isSecondTier = process.env['ROSTER_TEST_TIER'] === 'all'

/** Whether tests run in their long form, which takes minutes more. */
export const isLong = process.env['ROSTER_TEST_LONG'] === '1'

/** In the default form only so many of the cases. Put those first that differ most from each other. */
export function fewerOf<T>(most: number, cases: T[]): T[] {
  return isLong ? cases : cases.slice(0, most)
}
