// Fails where something asks for a time that no test can shift. Time comes from PostgreSQL: SQL calls `roster_now()`, or
// `roster_moment()` behind a lock, and services get the time with what they read. Tests and their scaffolding do not count.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

const ofSql =
  /(?<![\w.$])now\(\)|\b(clock|statement|transaction)_timestamp\b|\btimeofday\b|\b(current_(date|time|timestamp)|localtime(stamp)?)\b|'now'::/i
// Durations, deadlines and caches go by `Date.now()`: they are no facts.
const ofHosts = /new Date\(\s*\)/

const mayAsk = {
  'lib/schema/functions.sql': ['select now()', 'select clock_timestamp() + (roster_now() - now())'],
  // It measures the clock itself.
  'lib/database/watch-database.ts': ['select clock_timestamp() as now,'],
  // The functions come after these.
  'lib/schema/migrations/0002-histories.sql': ['transaction_timestamp()'],
  'lib/schema/migrate.ts': [
    'await transaction`create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`',
  ],
}
// Released, so they stay. Whatever inserts gives the time itself.
const released = ['lib/schema/migrations/0001-event-store.sql', 'services/users/migrations/0001-tables.sql']

const isTest = (file) => /\.test\.ts$|\/testing\/|test-users\.ts$/.test(file)
const stores =
  /^(lib\/(database|schema|eventstore|outbox|subscriptions|audit-log|encryption)|services\/(users|grants|idp|notifier))\//

const listed = execFileSync('git', [
  'ls-files',
  '--cached',
  '--others',
  '--exclude-standard',
  'lib',
  'services',
  'operator',
  'compat',
  'deploy',
])
const files = listed
  .toString()
  .split('\n')
  .filter((file) => /\.(ts|sql)$/.test(file) && !isTest(file) && !released.includes(file) && existsSync(file))

const found = files.flatMap((file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .map((line, index) => ({ line: withoutComment(file, line).trim(), place: `${file}:${index + 1}` }))
    .filter(({ line }) => ofSql.test(line) || (stores.test(file) && ofHosts.test(line)))
    .filter(({ line }) => !mayAsk[file]?.includes(line)),
)
for (const { line, place } of found) process.stderr.write(`a time that no test can shift: ${place}: ${line}\n`)
process.exitCode = found.length > 0 ? 1 : 0

function withoutComment(file, line) {
  return file.endsWith('.sql') ? line.replace(/--.*/, '') : line.replace(/^\s*(\/\/|\/?\*).*/, '')
}
