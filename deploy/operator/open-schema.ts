import postgres from 'postgres'
import type { Sql } from '#lib/eventstore/database'
import type { StoringService } from '../provision.ts'
import { guard } from './guard.ts'
import { knownColumns } from './known-shape.ts'
import { models } from './models.ts'
import { strangeOn } from './strange-on.ts'

/** Tables of the event store that the command may read (lib/eventstore/operator.sql). */
export const storeTables = [
  'migrations',
  'events',
  'aggregates',
  'unique_keys',
  'followers',
  'parked_events',
  'parked_for_followers',
  'published',
  'subject_keys',
  'sealing',
  'audit_chain',
  'audit_pages',
  'audit_checkpoints',
  'audit_keys',
]

/** The code of the error where a table is not read, because code of the service might run. */
export const unreadable = 'RS009'

/** How a session is opened. */
export interface SessionOptions {
  /** Milliseconds until the server must answer. */
  patience: number
  /** Its transactions may write what the role may, unless they say otherwise. */
  mayWrite: boolean
}

/** A session. `begun` rejects with the reason where it cannot begin: then no statement finds a table. */
export interface Session {
  sql: Sql
  begun: Promise<unknown>
}

/**
 * Connects to the schema of a service, as the role that reads this service alone. The service is a suspect: whatever it
 * made in its schema must not run here. So functions and operators are PostgreSQL's own alone, and names of tables lead
 * to temporary views of this session. The one connection has them, and also the tables that `verify` compares with.
 */
export function openSchema(url: string, service: StoringService, { patience, mayWrite }: SessionOptions): Session {
  const asReader = new URL(url)
  asReader.username += `_${service}`
  const session = postgres(asReader.href, {
    max: 1,
    // A second connection would not have the views.
    max_lifetime: null,
    connect_timeout: patience / 1000,
    onnotice: () => {},
    // Whoever runs code in the session could give another meaning to a statement that was prepared under a name.
    prepare: false,
    types: {
      date: { to: timestamp, from: [timestamp], serialize: (time: Date) => time.toISOString(), parse: readTime },
    },
    connection: {
      application_name: 'roster-operator',
      search_path: 'pg_catalog, pg_temp',
      default_transaction_read_only: !mayWrite,
      // Rows that a policy hides are an error.
      row_security: 'off',
      statement_timeout: 30_000,
      enable_seqscan: 'off',
      enable_hashjoin: 'off',
      enable_mergejoin: 'off',
    },
  })
  // All other statements come after it on the same connection.
  const sql = guard(session as unknown as Sql)
  const begun = sql.unsafe(makeViews(service)).execute()
  begun.catch(() => {})
  return { sql, begun }
}

/** PostgreSQL's type `timestamp with time zone`. */
const timestamp = 1184

// In other styles, a time could be written as if it were another one.
function readTime(text: string): Date {
  return new Date(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?[+-]\d\d(:\d\d)?$/.test(text) ? text : Number.NaN)
}

// A value of another type could be of any size where the command expects a number.
function typesOf(service: StoringService): string {
  const rows = knownColumns(service).map(({ table, name, type }) => `('${table}', '${name}', '${type}')`)
  return rows.join(', ')
}

// Of the columns that the role may read. To make a view runs nothing of what its table has. To read a table may, so a view
// of one that something strange hangs on only tells that. PostgreSQL calls the immutable function while it plans, so a
// statement that finds no rows is refused, too.
function makeViews(service: StoringService): string {
  const { views = [], watched = [] } = models[service]
  const names = [...storeTables, ...[...views, ...watched].map(({ table }) => table)]
  return `
    set transaction read write;
    create function pg_temp.refuse(why text) returns boolean immutable language plpgsql as $$
    begin
      raise exception using errcode = '${unreadable}', message = why;
    end $$;
    do $$
    declare
      of_table record;
    begin
      for of_table in
        select c.relname as name, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns,
          string_agg(
            format('null::%s as %I', case when a.atttypid < 16384 then format_type(a.atttypid, null) else 'text' end, a.attname),
            ', ' order by a.attnum
          ) as nulls,
          (
            select left(string_agg(what, '; '), 500) from (
              ${strangeOn('c.oid')}
              union all
              select concat_ws(' ', 'column', known.name, 'of the type', format_type(atttypid, null), 'and not', known.type)
              from (values ${typesOf(service)}) known (of_table, name, type)
              join pg_attribute on attrelid = c.oid and quote_ident(attname) = known.name
              where known.of_table = c.relname and format_type(atttypid, null) <> known.type
                and atttypid < 16384
            ) strange
          ) as strange
        from pg_class c join pg_attribute a on a.attrelid = c.oid
        where c.relnamespace = (select oid from pg_namespace where nspname = 'roster_${service}')
          and c.relname = any ('{${names.join()}}') and a.attnum > 0 and not a.attisdropped
          and has_column_privilege(c.oid, a.attnum, 'select')
        group by c.oid, c.relname
      loop
        if of_table.strange is null then
          execute format(
            'create temp view %I as select %s from roster_${service}.%I', of_table.name, of_table.columns, of_table.name
          );
        else
          execute format(
            'create temp view %I as select %s from pg_temp.refuse(%L)', of_table.name, of_table.nulls,
            format('the table roster_${service}.%s is not read, because this hangs on it: %s', of_table.name, of_table.strange)
          );
        end if;
      end loop;
    end $$
  `
}
