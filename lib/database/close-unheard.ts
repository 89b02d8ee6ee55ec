import type postgres from 'postgres'

/** Closes the connections of a pool that have said nothing since then, by `performance.now()`. */
export function closeUnheard(sql: postgres.Sql, since: number): void {
  // The patched driver does it: see docs/decisions/7-patched-driver.md.
  ;(sql as postgres.Sql & { closeUnheard(since: number): void }).closeUnheard(since)
}

/** Asks by connections that nobody else uses, and closes them where no answer comes within so many milliseconds. */
export async function askOrClose<T>(sql: postgres.Sql, within: number, ask: () => PromiseLike<T>): Promise<T> {
  const asked = performance.now()
  const timer = setTimeout(() => closeUnheard(sql, asked), within)
  try {
    return await ask()
  } finally {
    clearTimeout(timer)
  }
}
