/**
 * SQL of a list `what` of things that hang on a table and are neither PostgreSQL's own nor of its extensions for searches.
 * PostgreSQL may run their code where the table is planned or read, as the one who reads. `table` is SQL of its oid.
 * Nothing here reads the table. Names of PostgreSQL alone must be found.
 */
export const strangeOn = (table: string) => `
  select 'statistics object ' || quote_ident(stxname) as what from pg_statistic_ext where stxrelid = ${table}
  union all
  select 'column ' || quote_ident(attname) || ' that is computed where it is read' from pg_attribute
  where attrelid = ${table} and attgenerated = 'v'
  union all
  select 'child ' || inhrelid::regclass from pg_inherits where inhparent = ${table}
  union all
  select 'no table of its own' from pg_class where oid = ${table} and relkind <> 'r'
  union all
  select distinct pg_describe_object(used.refclassid, used.refobjid, 0)
    || case when hanging.object = ${table} then '' else ' of ' || pg_describe_object(hanging.class, hanging.object, 0) end
  from (
    select 'pg_class'::regclass::oid as class, ${table} as object
    union all
    select 'pg_class'::regclass, indexrelid from pg_index where indrelid = ${table}
    union all
    select classid, objid from pg_depend where refclassid = 'pg_class'::regclass and refobjid = ${table}
  ) hanging
  -- 'offset 0' keeps this order: a few objects, and then what each of them uses.
  cross join lateral (
    select refclassid, refobjid from pg_depend where classid = hanging.class and objid = hanging.object offset 0
  ) used
  where hanging.class = any (array['pg_class', 'pg_attrdef', 'pg_constraint', 'pg_trigger', 'pg_rewrite', 'pg_policy']::regclass[])
    -- A rule of another relation, such as of a view, runs where that one is read.
    and not exists (
      select from pg_rewrite where hanging.class = 'pg_rewrite'::regclass and oid = hanging.object and ev_class <> ${table}
    )
    and used.refclassid <> all (array['pg_class', 'pg_namespace', 'pg_constraint', 'pg_trigger']::regclass[])
    -- What PostgreSQL was made with.
    and used.refobjid >= 16384
    and not exists (
      select from pg_depend part join pg_extension x on part.refclassid = 'pg_extension'::regclass and x.oid = part.refobjid
      where part.classid = used.refclassid and part.objid = used.refobjid and part.deptype = 'e'
        and extname in ('pg_trgm', 'btree_gin')
      offset 0
    )
`
