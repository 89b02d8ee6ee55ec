/** The refresh tokens of an authorization. The first use of the newest gives birth to the next. */
export interface RefreshTokens {
  newest: RefreshToken
  /** RFC 3339. The newest is good until then. */
  expiresAt: string
  /** Since when there are any, RFC 3339. */
  since: string
  /** The first uses of the others, the last one at the end: those of the last 30 seconds, and the last one always. */
  used: Used[]
}

/** What one is derived from. */
export interface RefreshToken {
  /** From 1 on. */
  number: number
  /** A random id. After the restore of a backup, the same number is another token. */
  step: string
}

export interface Used extends RefreshToken {
  /** RFC 3339. */
  at: string
}

interface Lifetime {
  expiresAt: string
}

/** Milliseconds within which a token that was used gives the same successor, even if that was used. */
export const overlap = 30_000

export function firstToken({ step, expiresAt }: Omit<RefreshToken, 'number'> & Lifetime, at: Date): RefreshTokens {
  return { newest: { number: 1, step }, expiresAt, since: at.toISOString(), used: [] }
}

export function nextToken(
  { newest, since, used }: RefreshTokens,
  { number, step, expiresAt }: RefreshToken & Lifetime,
  at: Date,
): RefreshTokens {
  const recent = used.filter((use) => at.getTime() - Date.parse(use.at) <= overlap)
  return { newest: { number, step }, expiresAt, since, used: [...recent, { ...newest, at: at.toISOString() }] }
}

/** The end of one that is born now, RFC 3339. The settings are in seconds. `since`: when the first was. */
export function endOfNext(
  { REFRESH_IDLE_LIFETIME, REFRESH_LIFETIME }: { REFRESH_IDLE_LIFETIME: number; REFRESH_LIFETIME: number },
  since: Date,
  now: Date,
): string {
  const end = Math.min(now.getTime() + REFRESH_IDLE_LIFETIME * 1000, since.getTime() + REFRESH_LIFETIME * 1000)
  return new Date(end).toISOString()
}
