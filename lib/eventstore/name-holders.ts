import type { Sql } from 'postgres'

/** Milliseconds that a lock may be waited for in silence. */
const patience = 3000

export interface NameHolders {
  /** Looks over a connection of its own. */
  sql: Sql
  /** The process of PostgreSQL that works, and may have to wait. */
  pid: number
  /** Hears who holds the lock, in words, once. Not after the work. */
  say(holders: string): void
}

/** Works, for as long as it takes. Where the work waits for a lock, tells after some seconds who holds it. */
export async function nameHolders<T>({ sql, pid, say }: NameHolders, work: () => Promise<T>): Promise<T> {
  let isOver = false
  async function look() {
    const holders = await sql<{ pid: number; role: string | null; program: string | null }[]>`
      select holder as pid, usename as role, application_name as program
      from unnest(pg_blocking_pids(${pid})) as holder left join pg_stat_activity a on a.pid = holder
    `
    if (isOver || holders.length === 0) return
    clearInterval(timer)
    say(holders.map(({ pid, role, program }) => `${role} (process ${pid}${program && `, ${program}`})`).join(', '))
  }
  // The work itself tells what is wrong with the database.
  const timer = setInterval(() => void look().catch(() => {}), patience)
  try {
    return await work()
  } finally {
    isOver = true
    clearInterval(timer)
  }
}
