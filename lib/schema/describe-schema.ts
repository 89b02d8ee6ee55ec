import type { Sql, Transaction } from '../database/database.ts'

/**
 * What the catalogue says of the tables of the own schema, line by line and in an order of its own: tables, columns in
 * their order with types and defaults, constraints, indexes, triggers and sequences. Functions are left out, since each
 * start brings its own, nor is the table `migrations`, which is the runner's.
 */
export async function describeSchema(sql: Sql | Transaction): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    with own as (
      select c.oid, relname, relkind, relpersistence, reloptions
      from pg_class c join pg_namespace n on n.oid = relnamespace
      where nspname = current_schema() and relname <> 'migrations' and relkind in ('r', 'p', 'v', 'm', 'f', 'S')
    ), lines as (
      select format('%s %s %s%s', relname, relkind, relpersistence, ' ' || array_to_string(reloptions, ' ')) as line
      from own
      union all
      select concat_ws(' ', relname, 'column', row_number() over (partition by c.oid order by attnum), attname,
        format_type(atttypid, atttypmod), nullif(collname, 'default'), case when attnotnull then 'not null' end,
        nullif(attidentity::text, ''), nullif(attgenerated::text, ''), pg_get_expr(adbin, adrelid),
        'storage ' || attstorage::text, 'statistics ' || nullif(attstattarget, -1))
      from own c join pg_attribute on attrelid = c.oid
      left join pg_attrdef on adrelid = attrelid and adnum = attnum
      left join pg_collation l on l.oid = attcollation
      where attnum > 0 and not attisdropped and relkind <> 'S'
      union all
      -- Newer servers keep what is not null here too.
      select concat_ws(' ', relname, 'constraint', conname, pg_get_constraintdef(o.oid))
      from own c join pg_constraint o on conrelid = c.oid where contype <> 'n'
      union all
      select concat_ws(' ', relname, 'index', pg_get_indexdef(indexrelid), case when not indisvalid then 'invalid' end)
      from own c join pg_index on indrelid = c.oid
      union all
      select concat_ws(' ', relname, 'trigger', pg_get_triggerdef(t.oid))
      from own c join pg_trigger t on tgrelid = c.oid where not tgisinternal
    )
    -- Names of the own schema and of those of extensions depend on the installation.
    select regexp_replace(replace(line, quote_ident(current_schema()) || '.', ''), '[^ (]+\\.(gin_trgm_ops)', '\\1', 'g') as line
    from lines order by line collate "C"
  `
  return rows.map(({ line }) => line)
}
