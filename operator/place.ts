import { readServerUrls } from '#lib/config/server-urls'
import type { System } from './system.ts'

const standardPort = 5432

/** The hosts and the database that a URL of PostgreSQL leads to, as people write them. */
export function placeOf(url: string): string | undefined {
  const read = readServerUrls(url)
  if (!read) return undefined
  const hosts = read.hosts.map((host) => (/:\d+$/.test(host) ? host : `${host}:${standardPort}`))
  return `${hosts.join(', ')}, database ${decodeURIComponent(read.first.pathname.slice(1)) || 'roster'}`
}

/**
 * Says which database a command works on: a restored one and the one of before differ in their hosts, their names, their
 * newest history, or the time of their last event. Those of `users` stand for all.
 */
export async function describePlace(system: Pick<System, 'sql'>, url: string): Promise<string> {
  const place = `PostgreSQL at ${placeOf(url)}`
  try {
    const [history] = await system.sql('users')<{ number: number; began: Date; last: Date | null }[]>`
      select number, began_at as began, (
        select created_at from events order by events.transaction_id desc, events.position desc limit 1
      ) as last
      from histories order by number desc limit 1
    `
    if (!history) return place
    const { number, began, last } = history
    const events = last ? `last event ${last.toISOString()}` : 'no event'
    return `${place}, history ${number} since ${began.toISOString()}, ${events}`
  } catch (error) {
    return `${place}, whose history cannot be read: ${(error as Error).message}`
  }
}
