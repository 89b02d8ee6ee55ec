import type { Sql } from 'postgres'

/** Milliseconds that a lock may be waited for in silence, and milliseconds between two looks after that. */
const [patience, lookEvery] = [3000, 500]

export interface NameHolders {
  /** Looks over a connection of its own. */
  sql: Sql
  /** The processes of PostgreSQL that work, and may have to wait. */
  pids(): number[]
  /** The key of an advisory lock that the work asks for again and again, without waiting for it in PostgreSQL. */
  lock?: string
  /** Hears who holds the lock, in words, once. Not after the work. */
  say(holders: string): void
}

/** Works, for as long as it takes. Where the work waits for a lock, logs after some seconds who holds it. */
export async function nameHolders<T>({ sql, pids, lock, say }: NameHolders, work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  let isOver = false
  async function look() {
    const own = pids()
    if (own.length === 0 || performance.now() - began < patience) return
    const holders = await sql<{ pid: number; role: string | null; program: string | null }[]>`
      select holder as pid, usename as role, application_name as program
      from (
        select unnest(pg_blocking_pids(pid)) as holder from unnest(${own}::int[]) pid
        union
        select pid from pg_locks
        where locktype = 'advisory' and granted and objsubid = 1
          and database = (select oid from pg_database where datname = current_database())
          and (classid::bigint << 32 | objid::bigint) = ${lock ?? null}::bigint
      ) holders left join pg_stat_activity a on a.pid = holder
      where holder <> all (${own}::int[])
    `
    if (isOver || holders.length === 0) return
    clearInterval(timer)
    say(holders.map(({ pid, role, program }) => `${role} (process ${pid}${program && `, ${program}`})`).join(', '))
  }
  // The error of the work itself says what is wrong with the database.
  const timer = setInterval(() => void look().catch(() => {}), lookEvery)
  try {
    return await work()
  } finally {
    isOver = true
    clearInterval(timer)
  }
}
