import { ErrorCode, NatsError } from 'nats'
import { pino } from 'pino'
import { afterEach, expect, test, vi } from 'vitest'
import { RosterError } from './errors.ts'
import { throttled } from './throttled.ts'

afterEach(() => void vi.restoreAllMocks())

function warnings() {
  const lines: { silent: number }[] = []
  const log = pino({ level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line) as { silent: number }) })
  return { lines, warn: throttled(log, 'a look failed') }
}

const unavailable = new RosterError('UNAVAILABLE', 'SERVICE_UNAVAILABLE', 'The service is not available.')

test('one warning stands for all errors of half a minute', () => {
  vi.spyOn(Date, 'now').mockReturnValue(0)
  const { lines, warn } = warnings()
  for (let n = 0; n < 3; n++) warn(new Error('away'))
  vi.spyOn(Date, 'now').mockReturnValue(30_000)
  warn(new Error('away'))
  expect(lines.map(({ silent }) => silent)).toEqual([0, 2])
})

test.each([unavailable, NatsError.errorForCode(ErrorCode.Timeout)])(
  'another service that is away is worth a warning only once this process has started: %s',
  (away) => {
    const { lines, warn } = warnings()
    const uptime = vi.spyOn(process, 'uptime').mockReturnValue(3)
    warn(away)
    expect(lines).toEqual([])
    uptime.mockReturnValue(11)
    warn(away)
    expect(lines).toHaveLength(1)
  },
)
