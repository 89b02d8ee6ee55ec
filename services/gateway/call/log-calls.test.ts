import { expect, test } from 'vitest'
import { RosterError } from '#lib/errors'
import { keepingLog } from '#test/support/rpc'
import type { ArrivedCall } from './arrived-call.ts'
import { endCall } from './end-call.ts'
import { loggedCalls } from './log-calls.ts'

/** Lines in the log of a thousand calls. */
function linesOf(share: string, error?: RosterError) {
  const { log, lines } = keepingLog()
  const config = { LOG_CALLS: loggedCalls.read(share) }
  const arrival = { encoding: 'json', requestId: 'r', method: { access: { rule: 'public' } } }
  const call = { gateway: { log, config }, arrival, started: 0, userId: '', home: '', subject: 'roster.users.v1.X' }
  for (let n = 0; n < 1000; n++) endCall(call as unknown as ArrivedCall, error)
  return lines.length
}

test('the log has all calls, those that fail alone, or a share of them', () => {
  expect([linesOf('all'), linesOf('errors'), linesOf('100%'), linesOf('0%')]).toEqual([1000, 0, 1000, 0])
  expect(linesOf('10%')).toBeGreaterThan(30)
  expect(linesOf('10%')).toBeLessThan(300)
})

test.each(['all', 'errors', '1%'])('with LOG_CALLS=%s, the log has every call that fails', (share) =>
  expect(linesOf(share, new RosterError('NOT_FOUND', 'USER_NOT_FOUND', 'There is no such user.'))).toBe(1000),
)

test.each(['none', '101%', '-1%', '5', '%'])('%s is no share', (text) =>
  expect(() => loggedCalls.read(text)).toThrow('is none of all, errors'),
)
