import { type Cache, createCache } from '#lib/cache'
import type { Sql } from '#lib/database/database'
import type { KnownApplication } from './find-application.ts'

/** Milliseconds: the requests of one sign-in that follow each other at once, and those of others beside it. */
const freshFor = 100

const caches = new WeakMap<Sql, Cache<KnownApplication | undefined>>()

/** Applications that were read a moment ago. */
export function recentApplications(sql: Sql): Cache<KnownApplication | undefined> {
  let cache = caches.get(sql)
  if (!cache) caches.set(sql, (cache = createCache({ capacity: 200, maxAge: freshFor })))
  return cache
}
