import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Status } from '#gen/google/rpc/status'
import { type CodeName, codes, RosterError } from './errors.ts'
import { decodeStatus, encodeStatus, statusToJson } from './status.ts'

const error = fc
  .record({
    code: fc.constantFrom(...(Object.keys(codes) as CodeName[])),
    reason: fc.stringMatching(/^[A-Z][A-Z_]{0,30}$/),
    message: fc.string({ unit: 'grapheme' }),
    metadata: fc.dictionary(fc.stringMatching(/^[a-z]{1,9}$/), fc.string({ unit: 'grapheme' })),
    violations: fc.array(fc.record({ field: fc.string(), description: fc.string({ unit: 'grapheme' }) })),
    retryAfter: fc.option(fc.integer({ min: 0, max: 86_400 }), { nil: undefined }),
  })
  .map(({ code, reason, message, ...details }) => new RosterError(code, reason, message, details))

const facts = ({ code, reason, message, metadata, violations, retryAfter }: RosterError) => ({
  code,
  reason,
  message,
  violations,
  retryAfter,
  metadata: Object.entries(metadata),
})

test('every error crosses NATS unchanged', () => {
  fc.assert(
    fc.property(error, (sent) => {
      expect(facts(decodeStatus(encodeStatus(sent)))).toEqual(facts(sent))
    }),
  )
})

test('a service’s oversized error is cut, and costs no reader much time', () => {
  const many = 60_000
  const sent = new RosterError('INTERNAL', 'x'.repeat(5000), 'm'.repeat(1_000_000), {
    violations: Array.from({ length: many }, () => ({ field: 'f', description: 'd' })),
    metadata: Object.fromEntries(Array.from({ length: many }, (_, index) => [`n${index}`, 'v'.repeat(20)])),
    retryAfter: -5,
  })
  const read = decodeStatus(encodeStatus(sent))
  expect(read).toMatchObject({ reason: 'UNKNOWN', retryAfter: 0 })
  expect([read.message.length, read.violations.length, Object.keys(read.metadata).length]).toEqual([20_000, 100, 100])
})

test('the cause of an error does not cross', () => {
  const sent = new RosterError('INTERNAL', 'INTERNAL', 'An internal error occurred.', { cause: new Error('hunter2') })
  expect(Buffer.from(encodeStatus(sent)).includes('hunter2')).toBe(false)
  expect(JSON.stringify(statusToJson(sent))).not.toContain('hunter2')
})

test.each([0.5, 1.25, 59.999, 0.0005])('a wait of %s seconds crosses', (retryAfter) => {
  const sent = new RosterError('UNAVAILABLE', 'X', '', { retryAfter })
  expect(decodeStatus(encodeStatus(sent)).retryAfter).toBeCloseTo(retryAfter, 9)
})

test('bytes without details give an error without a reason, and an unknown code becomes UNKNOWN', () => {
  const bytes = Status.encode({ code: 99, message: 'odd', details: [] }).finish()
  expect(decodeStatus(bytes)).toMatchObject({ code: codes.UNKNOWN, reason: 'UNKNOWN', message: 'odd' })
})

describe('in JSON, an error', () => {
  test('has the shape of the contract', () => {
    const violations = [{ field: 'roleKeys[1]', description: 'is empty' }]
    const sent = new RosterError('RESOURCE_EXHAUSTED', 'R', 'M', { metadata: { a: 'b' }, violations, retryAfter: 30 })
    expect(statusToJson(sent)).toEqual({
      code: 8,
      message: 'M',
      details: [
        { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'R', domain: 'roster', metadata: { a: 'b' } },
        { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: violations },
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '30s' },
      ],
    })
  })

  test('has only an ErrorInfo where nothing else is known', () => {
    const { details } = statusToJson(new RosterError('NOT_FOUND', 'R', 'M')) as { details: object[] }
    expect(details).toEqual([expect.objectContaining({ reason: 'R', domain: 'roster' })])
  })

  test.each([
    [1, '1s'],
    [0.5, '0.500s'],
    [1.25, '1.250s'],
  ])('writes a wait of %s seconds as %s', (retryAfter, text) => {
    const status = statusToJson(new RosterError('UNAVAILABLE', 'R', 'M', { retryAfter })) as { details: object[] }
    expect(status.details[1]).toMatchObject({ retryDelay: text })
  })
})
