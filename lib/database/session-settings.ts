/** The search path of each session of a service: PostgreSQL's own names, and then the schema of the role. */
export const ownSchema = '"$user"'

/**
 * How a service's statements are planned, and how long they may take. `DATABASE_URL` may have other values of these.
 * Every statement must find its rows by an index. PostgreSQL keeps plans, and its statistics are a minute late. So a
 * plan from the time of a small table would still scan the whole table long after it has grown. What forbids other plans
 * is a cost beyond every threshold of JIT, which would then compile each statement for seconds.
 */
export const sessionSettings = {
  statement_timeout: 30_000,
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  jit: 'off',
} as const

/**
 * What decides how values are written and read as text, and what statements mean: PostgreSQL's own defaults, on which
 * the driver and our statements rely. A database or a role may have others. `default_transaction_read_only` is not here:
 * who sets it wants no writes, and services refuse such a server.
 */
const meanings = {
  client_encoding: 'UTF8',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: 1,
  array_nulls: 'on',
  standard_conforming_strings: 'on',
  backslash_quote: 'safe_encoding',
  quote_all_identifiers: 'off',
  transform_null_equals: 'off',
  row_security: 'on',
  gin_fuzzy_search_limit: 0,
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  exit_on_error: 'off',
  'plpgsql.extra_errors': 'none',
} as const

export type Settings = Record<string, string | number>

/** The setting that has the mark of a session: a random value that its connection knows. */
export const markSetting = 'roster.session'

/**
 * The statement that marks a session, and gives it these settings, beside those on which the driver and every statement rely. The
 * driver sends it before any other one of a connection, in the message that asks for the state of the server. A setting
 * of the first message would not need that, but poolers refuse it, or leave it out.
 */
export function beginSession(own: Settings, mark: string): string {
  const all = Object.entries<string | number>({ ...meanings, ...own, [markSetting]: mark })
  return `select ${[...all.map(([name, value]) => set(name, quoted(String(value)))), durable].join(', ')}`
}

// The names are PostgreSQL's own, whatever the search path has before them.
function set(name: string, value: string): string {
  return `pg_catalog.set_config(${quoted(name)}, ${value}, false)`
}

// What is acknowledged is on a disk. A value that waits for standbys is an operator's choice.
const durable = set(
  'synchronous_commit',
  `coalesce(nullif(pg_catalog.current_setting('synchronous_commit'), 'off'), 'on')`,
)

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
