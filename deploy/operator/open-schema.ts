import postgres from 'postgres'
import type { Sql } from '#lib/eventstore/database'
import type { StoringService } from '../provision.ts'
import { models } from './models.ts'

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

/**
 * Connects to the schema of a service, as the role that reads this service alone. The service is a suspect: whatever it
 * made in its schema must not run here. So functions and operators are PostgreSQL's own alone, and names of tables lead
 * to temporary views of this session. The one connection has them, and also the tables that `verify` compares with.
 */
export function openSchema(url: string, service: StoringService, patience: number, failed: () => void): Sql {
  const asReader = new URL(url)
  asReader.username += `_${service}`
  const sql = postgres(asReader.href, {
    max: 1,
    // A second connection would not have the views.
    max_lifetime: null,
    connect_timeout: patience / 1000,
    onnotice: () => {},
    connection: {
      application_name: 'roster-operator',
      search_path: 'pg_catalog, pg_temp',
      // Rows that a policy hides are an error.
      row_security: 'off',
      statement_timeout: 30_000,
      enable_seqscan: 'off',
      enable_hashjoin: 'off',
      enable_mergejoin: 'off',
    },
  })
  // All other statements come after it on the same connection.
  sql.unsafe(makeViews(service)).catch(failed)
  return sql
}

// Of the columns that the role may read. To make a view runs nothing of what its table has.
function makeViews(service: StoringService): string {
  const { views = [], watched = [] } = models[service]
  const names = [...storeTables, ...[...views, ...watched].map(({ table }) => table)]
  return `
    do $$
    declare
      of_table record;
    begin
      for of_table in
        select c.relname as name, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
        from pg_class c join pg_attribute a on a.attrelid = c.oid
        where c.relnamespace = (select oid from pg_namespace where nspname = 'roster_${service}')
          and c.relname = any ('{${names.join()}}') and a.attnum > 0 and not a.attisdropped
          and has_column_privilege(c.oid, a.attnum, 'select')
        group by c.relname
      loop
        execute format(
          'create temp view %I as select %s from roster_${service}.%I', of_table.name, of_table.columns, of_table.name
        );
      end loop;
    end $$
  `
}
