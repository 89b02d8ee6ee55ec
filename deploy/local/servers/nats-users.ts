/**
 * The users of `deploy/nats/nats.conf`: one per service; `keeper`, the one that looks after the stream; `operator`, for
 * the operator's command; and `admin`, for people and tests.
 */
export const natsUsers = ['users', 'grants', 'idp', 'notifier', 'gateway', 'keeper', 'operator', 'admin'] as const

export type NatsUser = (typeof natsUsers)[number]

/** The environment variable that nats.conf reads that user's password from. */
export function passwordVariable(user: NatsUser): string {
  return `ROSTER_NATS_PASSWORD_${user.toUpperCase()}`
}

/** One URL per user of a server that runs with `deploy/nats/nats.conf`. */
export function natsUrls(address: string, passwordOf: (user: NatsUser) => string): Record<NatsUser, string> {
  const urlOf = (user: NatsUser) => address.replace('://', `://${user}:${passwordOf(user)}@`)
  return Object.fromEntries(natsUsers.map((user) => [user, urlOf(user)])) as Record<NatsUser, string>
}

/**
 * The URLs at a server that somebody else runs: with ROSTER_NATS_PASSWORD_<USER> where those are set,
 * else the URL as it is for everyone.
 */
export function givenNatsUrls(url: string, env: Record<string, string | undefined>): Record<NatsUser, string> {
  const named = env[passwordVariable('users')] !== undefined && !url.includes('@')
  if (named) return natsUrls(url, (user) => env[passwordVariable(user)] ?? '')
  return Object.fromEntries(natsUsers.map((user) => [user, url])) as Record<NatsUser, string>
}
