import type { Sql } from '#lib/eventstore/database'
import { strangeOn } from '../../strange-on.ts'
import { settingsOfTables } from './read-settings.ts'

/** Something that a table has, such as a column. */
export interface Part {
  /** The table, or the function. */
  name: string
  part: string
}

/** The name of what belongs to no table: other functions, operators, types, casts, and settings of the role. */
export const wholeSchema = 'schema'

// All that `pg_proc` has of a function `p`, but for its name and its arguments.
const restOfFunction = `
  'returns', pg_get_function_result(p.oid), 'language ' || (select lanname from pg_language l where l.oid = prolang),
  'kind=' || prokind::text, 'volatile=' || provolatile::text, case when proisstrict then 'strict' end,
  case when prosecdef then 'as its owner' end, case when proleakproof then 'leakproof' end,
  'parallel=' || nullif(proparallel::text, 'u'), 'support=' || nullif(prosupport, 0)::regproc::text,
  'cost=' || nullif(procost, 100), 'rows=' || nullif(prorows, case when proretset then 1000 else 0 end),
  'transforms=' || protrftypes::regtype[]::text, 'library ' || probin,
  'owner=' || nullif(pg_get_userbyid(proowner)::text, pronamespace::regnamespace::text),
  proconfig::text, 'text ' || md5(coalesce(pg_get_function_sqlbody(p.oid), prosrc))
`

// A right of `aclexplode`. No role can have the name public.
const right = `(
  'right ' || privilege_type || case when is_grantable then ' with grant option' else '' end || ' of '
    || case when grantee = 0 then 'public' else pg_get_userbyid(grantee)::text end
)`

const mostParts = 10_000
const longestPart = 2000

/**
 * Reads what the tables of these names are made of in PostgreSQL's own catalogue, and the functions of these names that
 * take rows. The session finds the names of PostgreSQL alone, so every other name is told with its schema.
 * Without names it reads all of them. The last parts are those of the whole schema.
 */
export function readShape(sql: Sql, schema: string, names: string[] | undefined) {
  return sql<Part[]>`
    with tables as (
      select c.* from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = ${schema} and c.relkind in ('r', 'v', 'm', 'f', 'p')
        and (${names ?? null}::text[] is null or c.relname::text = any(${names ?? []}::text[]))
    )
    select name, left(part, ${longestPart}) as part from (
      select relname::text as name, concat_ws(' ', 'table', 'kind=' || relkind::text, 'persistence=' || relpersistence::text,
        'method=' || coalesce((select amname::text from pg_am a where a.oid = relam), 'none'),
        'owner=' || case when pg_get_userbyid(relowner) = ${schema} then 'service' else pg_get_userbyid(relowner)::text end,
        case when relrowsecurity or relforcerowsecurity then 'row security' end,
        case when relispartition then 'partition' end) as part
      from tables
      union all
      select relname, concat_ws(' ', 'column', quote_ident(attname), format_type(atttypid, atttypmod),
        case when attnotnull then 'not null' end,
        case when attidentity <> '' then 'identity=' || attidentity::text end,
        case when attgenerated <> '' then 'generated=' || attgenerated::text end,
        case when attcollation <> 0 then 'collate ' || (
          select concat_ws('.', nullif(quote_ident(nspname), 'pg_catalog'), quote_ident(collname))
          from pg_collation l join pg_namespace n on n.oid = l.collnamespace where l.oid = attcollation
        ) end,
        'default ' || (select pg_get_expr(adbin, adrelid) from pg_attrdef where adrelid = attrelid and adnum = attnum))
      from tables join pg_attribute on attrelid = tables.oid where attnum > 0 and not attisdropped
      union all
      select relname, 'constraint ' || quote_ident(conname) || ' ' || pg_get_constraintdef(k.oid)
        || case when convalidated then '' else ' not validated' end
      from tables join pg_constraint k on conrelid = tables.oid
      -- The column tells that it is not null.
      where contype <> 'n' or not convalidated or connoinherit
      union all
      select tables.relname, concat_ws(' ', 'index', replace(pg_get_indexdef(indexrelid), trigrams.schema || '.', ''),
        case when not (indisvalid and indisready and indislive) then 'unusable' end)
      from tables join pg_index on indrelid = tables.oid left join (
        select quote_ident(nspname) as schema from pg_extension join pg_namespace n on n.oid = extnamespace
        where extname = 'pg_trgm'
      ) trigrams on schema not in ('pg_catalog', ${schema})
      union all
      select relname, 'trigger ' || pg_get_triggerdef(g.oid) || ' enabled=' || tgenabled::text
      from tables join pg_trigger g on tgrelid = tables.oid where not tgisinternal
      union all
      select relname, 'rule ' || quote_ident(rulename) from tables join pg_rewrite on ev_class = tables.oid
      union all
      select relname, 'policy ' || quote_ident(polname) from tables join pg_policy on polrelid = tables.oid
      union all
      ${settingsOfTables(sql)}
      union all
      select relname, 'parent ' || inhparent::regclass from tables join pg_inherits on inhrelid = tables.oid
      union all
      select relname, 'child ' || inhrelid::regclass from tables join pg_inherits on inhparent = tables.oid
      union all
      select relname, 'strange ' || what from tables cross join lateral (${sql.unsafe(strangeOn('tables.oid'))}) strange
      union all
      select tables.relname, 'referenced by ' || conrelid::regclass || ' ' || quote_ident(conname)
      from tables join pg_constraint k on confrelid = tables.oid where conrelid not in (select oid from tables)
      union all
      select relname, ${sql.unsafe(right)} || coalesce(' on column ' || quote_ident(attname), '')
      from tables cross join lateral (
        select relacl as rights, null::name as attname
        union all select attacl, attname from pg_attribute where attrelid = tables.oid
      ) given cross join lateral aclexplode(rights) where grantee <> relowner
      union all
      select proname, concat_ws(' ', 'function', pg_get_function_arguments(p.oid), ${sql.unsafe(restOfFunction)})
      from pg_proc p join pg_namespace n on n.oid = pronamespace
      where nspname = ${schema} and pg_get_function_identity_arguments(p.oid) = 'rows json'
        and (${names ?? null}::text[] is null or proname::text = any(${names ?? []}::text[]))
      union all
      ${ofWholeSchema(sql, schema, names)}
    ) parts
    order by name collate "C", part collate "C" limit ${mostParts}
  `
}

// What its tables have is told with them. Everybody may execute a function of a schema that he may use.
function rightsInSchema(sql: Sql, schema: string) {
  return sql`
    select ${wholeSchema}, ${sql.unsafe(right)} || ' on ' || what
    from (select oid, nspowner, nspacl from pg_namespace where nspname = ${schema}) n cross join lateral (
      select 'the schema' as what, nspowner as owner, nspacl as rights
      union all
      select 'function ' || p.oid::regprocedure, proowner, proacl from pg_proc p where pronamespace = n.oid
      union all
      select 'sequence ' || c.oid::regclass, relowner, relacl from pg_class c where relnamespace = n.oid and relkind = 'S'
      union all
      select 'what comes, of kind ' || defaclobjtype::text, defaclrole, defaclacl from pg_default_acl
      where defaclnamespace = n.oid or defaclrole = n.nspowner
    ) given cross join lateral aclexplode(rights)
    where grantee <> owner and not (what like 'function %' and grantee = 0)
  `
}

function ofWholeSchema(sql: Sql, schema: string, names: string[] | undefined) {
  return sql`
    select ${wholeSchema}, concat_ws(' ', 'function', quote_ident(proname) || '(' || pg_get_function_arguments(p.oid) || ')',
      ${sql.unsafe(restOfFunction)})
    from pg_proc p
    where pronamespace = (select oid from pg_namespace where nspname = ${schema})
      and not (
        pg_get_function_identity_arguments(p.oid) = 'rows json'
        and (${names ?? null}::text[] is null or proname::text = any(${names ?? []}::text[]))
      )
    union all
    select ${wholeSchema}, pg_describe_object(classid, objid, 0) from pg_depend
    where refclassid = 'pg_namespace'::regclass
      and refobjid = (select oid from pg_namespace where nspname = ${schema})
      -- Statistics are told with their table.
      and classid <> all(array['pg_class', 'pg_proc', 'pg_statistic_ext']::regclass[])
    union all
    select ${wholeSchema}, pg_describe_object('pg_class'::regclass, c.oid, 0) from pg_class c
    where relnamespace = (select oid from pg_namespace where nspname = ${schema})
      and relkind in ('r', 'v', 'm', 'f', 'p', 'S')
      and not (relkind <> 'S' and (${names ?? null}::text[] is null or relname::text = any(${names ?? []}::text[])))
      -- The sequence of a column that counts by itself belongs to it.
      and not (relkind = 'S' and exists (
        select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'i'
      ))
    union all
    ${rightsInSchema(sql, schema)}
    union all
    select ${wholeSchema}, pg_describe_object('pg_cast'::regclass, k.oid, 0)
    from pg_cast k join pg_type t on t.oid in (castsource, casttarget)
    where typnamespace = (select oid from pg_namespace where nspname = ${schema})
    union all
    -- Limits of time decide nothing. The others change what the service's own statements say.
    select ${wholeSchema}, 'setting ' || setting from pg_db_role_setting cross join unnest(setconfig) setting
    where setrole = (select oid from pg_roles where rolname = ${schema})
      and setdatabase in (0, (select oid from pg_database where datname = current_database()))
      and split_part(setting, '=', 1) not like '%\\_timeout'
      and not (
        setting like 'search\\_path=%'
        and (string_to_array(substr(setting, 13), ', '))[1] = quote_ident(${schema})
        and (string_to_array(substr(setting, 13), ', '))[2:] <@ array(
          select quote_ident(nspname) from pg_extension join pg_namespace n on n.oid = extnamespace
          where extname in ('pg_trgm', 'btree_gin')
        )
      )
    union all
    select ${wholeSchema}, 'event trigger ' || quote_ident(evtname) from pg_event_trigger where evtenabled <> 'D'
  `
}
