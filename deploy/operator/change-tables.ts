import type { Sql, Transaction } from '#lib/eventstore/database'
import type { StoringService } from '../provision.ts'
import { unreadable } from './open-schema.ts'
import { strangeOn } from './strange-on.ts'

/** Tables that the command changes. */
export type ChangedTable = 'parked_events' | 'parked_for_followers' | 'published'

// Of some tables the role may change a single column, and then it may not lock. To prepare a change runs nothing of what
// hangs on the table, and nobody makes a trigger, a rule or a policy until the transaction ends.
const holds: Record<ChangedTable, (name: string) => string> = {
  parked_events: locked,
  parked_for_followers: locked,
  published: (name) => `prepare held as update ${name} set stream_created = ''; deallocate held`,
}

function locked(name: string): string {
  return `lock table ${name} in share row exclusive mode`
}

/**
 * Changes tables of a service in one transaction. Since the session began, the service may have hung something on them,
 * such as a trigger, while the user was asked. So they are held first, and looked at once more. `work` names them by
 * their schema: a name that was held leads to the same table.
 */
export async function changeTables<T>(
  sql: Sql,
  service: StoringService,
  tables: readonly ChangedTable[],
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  return (await sql.begin(async (transaction) => {
    for (const table of tables) {
      const name = `roster_${service}.${table}`
      await transaction.unsafe(holds[table](name))
      const [row] = await transaction.unsafe<[{ strange: string | null }]>(
        `select left(string_agg(what, '; '), 500) as strange from (${hangingOn(`'${name}'::regclass`)}) hanging`,
      )
      if (row.strange === null) continue
      const message = `the table ${name} is not changed, because this hangs on it: ${row.strange}`
      throw Object.assign(new Error(message), { code: unreadable })
    }
    return work(transaction)
  })) as T
}

// Where a table is only read, its triggers, its rules and what references it do not run.
const hangingOn = (table: string) => `
  ${strangeOn(table)}
  union
  select pg_describe_object('pg_trigger'::regclass, oid, 0) from pg_trigger where tgrelid = ${table} and not tgisinternal
  union
  select pg_describe_object('pg_rewrite'::regclass, oid, 0) from pg_rewrite where ev_class = ${table}
  union
  select pg_describe_object('pg_constraint'::regclass, oid, 0) from pg_constraint where confrelid = ${table}
`
