/** Whether this is a run of both tiers, which leaves nothing out. */
export const isSecondTier = process.env['ROSTER_TEST_TIER'] === 'all'

/** Whether each scenario runs in every encoding, in place of one by turns. */
export const isLong = process.env['ROSTER_TEST_LONG'] === '1'

/** In the default form only so many of the cases. Put those first that differ most from each other. */
export function fewerOf<T>(most: number, cases: T[]): T[] {
  return isLong ? cases : cases.slice(0, most)
}
