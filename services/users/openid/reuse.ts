import { overlap, type RefreshToken, type RefreshTokens } from './events/refresh-tokens.ts'

/** Token reuse detection (RFC 9700, section 4.14.2): what the use of a refresh token means. */
export type RefreshUse =
  /** The newest: the next one is born. */
  | 'first'
  /** It was used, and gives the same successor. */
  | { successor: RefreshToken }
  /** There were too many. In so many seconds there may be one again. */
  | { retryAfter: number }
  /** A thief has it, or its owner kept it for too long. */
  | 'stolen'

/** Uses of one authorization within the overlap. Each is kept for that long. As many repetitions. */
export const mostUses = 60
/** Milliseconds within which a client whose answer was lost may ask again, if what it never got was not used. */
const lostAnswer = 86_400_000

/** Pure. The order of uses is that of the events, so two clients that race find the same successor. */
export function useOf({ newest, used }: RefreshTokens, presented: RefreshToken, now: Date): RefreshUse {
  const since = (use: { at: string }) => now.getTime() - Date.parse(use.at)
  if (isSame(newest, presented)) {
    const recent = used.filter((use) => since(use) <= overlap)
    const oldest = recent.at(-mostUses)
    return oldest ? { retryAfter: Math.max(1, Math.ceil((overlap - since(oldest)) / 1000)) } : 'first'
  }
  const index = used.findIndex((use) => isSame(use, presented))
  const use = used[index]
  const isLast = index === used.length - 1
  if (!use || since(use) > (isLast ? lostAnswer : overlap)) return 'stolen'
  const { number, step } = isLast ? newest : used[index + 1]!
  return { successor: { number, step } }
}

function isSame(one: RefreshToken, other: RefreshToken): boolean {
  return one.number === other.number && one.step === other.step
}
