import type { Sql } from '#lib/eventstore/database'

/**
 * SQL of parts: whatever the catalogue has of `tables`, their columns, indexes and sequences that no other part tells.
 * It takes whole rows, so that nothing is left out. What PostgreSQL chooses by itself is no part. By none of these does
 * a reader see anything else.
 */
export function settingsOfTables(sql: Sql) {
  return sql`
    select name, concat_ws(' ', 'setting', 'of ' || whose, key || '=' || value)
    from (
      select tables.relname as name, related.whose, to_jsonb(c) - ${toldOfRelation}::text[]
        || jsonb_build_object('reltablespace', (select spcname from pg_tablespace p where p.oid = c.reltablespace))
        -- Alone a table has a choice.
        || case when c.oid = tables.oid then '{}' else '{"relreplident": null}' end::jsonb as settings
      from tables cross join lateral (
        select tables.oid, null as whose
        union all select tables.reltoastrelid, 'toast'
        union all
        select indexrelid, 'index ' || quote_ident(i.relname) from pg_index join pg_class i on i.oid = indexrelid
        where indrelid = tables.oid
      ) related join pg_class c on c.oid = related.oid
      union all
      select tables.relname, 'index ' || quote_ident(c.relname), to_jsonb(i) - ${toldOfIndex}::text[]
      from tables join pg_index i on indrelid = tables.oid join pg_class c on c.oid = indexrelid
      union all
      select tables.relname,
        case when c.relkind in ('i', 'I') then 'index ' || quote_ident(c.relname) || ' ' else '' end || 'column '
          || case when c.relkind in ('i', 'I') then attnum::text else quote_ident(attname) end,
        to_jsonb(a) - ${toldOfColumn}::text[] || jsonb_build_object('attstorage', nullif(attstorage, typstorage))
      from tables join pg_class c on c.oid = tables.oid
        or c.oid in (select indexrelid from pg_index where indrelid = tables.oid)
      join pg_attribute a on attrelid = c.oid join pg_type t on t.oid = atttypid
      where attnum > 0 and not attisdropped
    ) settings cross join lateral jsonb_each_text(settings)
    where value not in ('', 'false') and key || '=' || value <> all(${defaults}::text[])
    union all
    select tables.relname, concat_ws(' ', 'sequence', quote_ident(c.relname), 'of column', quote_ident(attname),
      'persistence=' || c.relpersistence::text, (
        select string_agg(key || '=' || value, ' ' order by key collate "C")
        from jsonb_each_text(to_jsonb(s) - 'seqrelid' || jsonb_build_object('seqtypid', seqtypid::regtype))
      ))
    from tables
    join pg_depend on classid = 'pg_class'::regclass and refclassid = classid and refobjid = tables.oid
    join pg_sequence s on seqrelid = objid join pg_class c on c.oid = objid
    join pg_attribute on attrelid = tables.oid and attnum = refobjsubid
  `
}

// Told by other parts, or of one database alone: numbers, sizes, ages, and what a backup does not bring back.
const toldOfRelation = words(`
  oid relname relnamespace reltype relowner relam relfilenode reltoastrelid relrewrite relpages reltuples
  relallvisible relallfrozen relfrozenxid relminmxid relnatts relacl relhasindex relhasrules relhastriggers
  relhassubclass relchecks relkind relpersistence relrowsecurity relforcerowsecurity relispartition relpartbound
`)
const toldOfIndex = words(`
  indexrelid indrelid indnatts indnkeyatts indisunique indnullsnotdistinct indisprimary indisexclusion
  indimmediate indisvalid indcheckxmin indisready indislive indkey indcollation indclass indoption indexprs
  indpred
`)
const toldOfColumn = words(`
  attrelid attname atttypid attlen attnum attcacheoff atttypmod attndims attbyval attalign attnotnull atthasdef
  atthasmissing attmissingval attidentity attgenerated attisdropped attislocal attinhcount attcollation attacl
`)
// The last one is of releases of PostgreSQL that have no null there.
const defaults = ['relispopulated=true', 'reloftype=0', 'relreplident=d', 'attstattarget=-1']

function words(text: string): string[] {
  return text.trim().split(/\s+/)
}
