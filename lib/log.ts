import { type DestinationStream, pino, type Logger } from 'pino'
import { logLevels } from './config/common-settings.ts'
import { logLines } from './log-lines.ts'
import { telemetry } from './telemetry/telemetry.ts'

export type Log = Logger

// Fields of a PostgreSQL error beside its message. They show whole rows, statements and their values, for example "Key
// (email)=(…) already exists".
const ofPostgres = ['detail', 'where', 'hint', 'query', 'internal_query', 'parameters', 'args']

const noIds = {}

// Few lines have ids. The default would copy every other line, too.
function addIds(line: object, ids: object): object {
  return ids === noIds ? line : { ...ids, ...line }
}

/**
 * A log in JSON lines; the default destination is standard output. It never shows a secret, an address or a query
 * string. Where traces are wanted, a line that is written within a recorded span has its `trace_id` and `span_id`.
 */
export function createLog(
  service: string,
  level = 'info',
  destination: DestinationStream = logLines,
  isTraced = false,
): Log {
  const options = {
    // The configuration reports an unknown level, and it needs a log for that.
    level: logLevels.includes(level) ? level : 'info',
    base: { service },
    timestamp: pino.stdTimeFunctions.isoTime,
    ...(isTraced && { mixin: () => telemetry.tracing?.ids() ?? noIds, mixinMergeStrategy: addIds }),
    redact: [
      'authorization',
      '*.authorization',
      'password',
      '*.password',
      'token',
      '*.token',
      '*.email',
      // ioredis puts the password here when Redis refuses it.
      '*.command.args',
      ...ofPostgres.flatMap((name) => [`*.${name}`, `*.aggregateErrors[*].${name}`]),
    ],
  }
  return pino(options, destination)
}
