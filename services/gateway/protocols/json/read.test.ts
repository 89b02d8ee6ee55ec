import { toJson } from '@bufbuild/protobuf'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RosterError } from '#lib/errors'
import { findRoutes } from '../../call/routes.ts'
import { readRequest } from './read.ts'

function read(verb: string, path: string, body?: string | Uint8Array, query = '') {
  const match = findRoutes(path).get(verb)!
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  return toJson(match.method.desc.input, readRequest(match, query, bytes))
}

function refusal(work: () => unknown): RosterError {
  try {
    work()
  } catch (error) {
    if (error instanceof RosterError) return error
    throw error
  }
  throw new Error('it was accepted')
}

const setEmail = (body: string | Uint8Array, path = '/v2/users/u1/email') => read('POST', path, body)
const addGrant = (body: string) => read('POST', '/management/v1/users/u1/grants', body)
const profile = (body: string) => read('PUT', '/auth/v1/users/me/profile', body)
const fields = (work: () => unknown) => refusal(work).violations.map(({ field }) => field)

describe('the reader accepts', () => {
  test('both spellings of a name', () => {
    expect(setEmail('{"email":"a@b.c","send_code":{"url_template":"x"}}')).toEqual(
      setEmail('{"email":"a@b.c","sendCode":{"urlTemplate":"x"}}'),
    )
  })
  test('enum values by name and by number, also unknown numbers, which the service refuses', () => {
    expect(profile('{"gender":"GENDER_FEMALE"}')).toEqual({ gender: 'GENDER_FEMALE' })
    expect(profile('{"gender":2}')).toEqual({ gender: 'GENDER_MALE' })
    expect(profile('{"gender":77}')).toEqual({ gender: 77 })
  })
  test('no body, an empty one and one of blanks count as {}', () => {
    for (const body of [undefined, '', ' \r\n\t', '{}'])
      expect(read('PUT', '/auth/v1/users/me/profile', body)).toEqual({})
  })
  test('null as "not given"', () => expect(profile('{"firstName":null,"nickName":null}')).toEqual({}))
  test('null as "not given" beside another member of a oneof, in whatever order', () => {
    const given = { userId: 'u1', email: 'a@b.c', returnCode: {} }
    expect(setEmail('{"email":"a@b.c","sendCode":null,"returnCode":{}}')).toEqual(given)
    expect(setEmail('{"email":"a@b.c","returnCode":{},"isVerified":null,"send_code":null}')).toEqual(given)
    expect(setEmail('{"email":"a@b.c","sendCode":null,"returnCode":null}')).toEqual({ userId: 'u1', email: 'a@b.c' })
    expect(fields(() => setEmail('{"sendCode":null,"send_code":{}}'))).toEqual(['sendCode'])
    expect(fields(() => setEmail('{"sendCode":null,"returnCode":{},"email":5}'))).toEqual(['email'])
  })
  test('an explicit empty text of an optional field stays given', () =>
    expect(profile('{"nickName":""}')).toEqual({ nickName: '' }))
})

describe('numbers and times', () => {
  const explain = (body: object) => read('POST', '/management/v1/permissions/_explain', JSON.stringify(body))
  const checkpoints = (query: string) => read('GET', '/admin/v1/audit/users/checkpoints', undefined, query)

  test.each(['0', '16', '18446744073709551615', 16])('%j is a whole number', (asOfPosition) =>
    expect(explain({ asOfPosition })).toEqual({ asOfPosition: String(asOfPosition) }),
  )
  test.each([
    ['"1e3"', '1000'],
    ['"1.0"', '1'],
    ['"120e-1"', '12'],
    ['1.5E+1', '15'],
    ['0.0e999999999', '0'],
    ['-0.0', '0'],
    ['9007199254740993', '9007199254740993'],
    ['18446744073709551615', '18446744073709551615'],
    ['1844674407370955161.50e1', '18446744073709551615'],
  ])('%s is the whole number %s', (text, asOfPosition) => {
    const body = `{"userId":"9007199254740993","asOfPosition":${text}}`
    const message = read('POST', '/management/v1/permissions/_explain', body)
    expect(message).toEqual({ userId: '9007199254740993', ...(asOfPosition !== '' && { asOfPosition }) })
  })
  test.each([
    ['"1e1"', 10],
    ['"1.0"', 1],
    ['"-1"', -1],
    ['1e1', 10],
  ])('%s is one of 32 bits', (limit, number) =>
    expect(read('POST', '/v2/users/_search', `{"limit":${limit}}`)).toMatchObject({ limit: number }),
  )
  test.each(['1e-1', '"1.5"', '2147483648', '"1e10"', '"1e999999999"', '1e400', '"0x1"', '".5"', '"1e"', '"01e1"'])(
    '%s is none of 32 bits',
    (limit) => expect(fields(() => read('POST', '/v2/users/_search', `{"limit":${limit}}`))).toEqual(['limit']),
  )
  test('a large number is no text', () =>
    expect(fields(() => setEmail('{"email":9007199254740993}'))).toEqual(['email']))
  test.each(['0x10', '0b11', ' 5', '5 ', '+5', ' ', '', '007', '1e-3', '1.5', '-1', '18446744073709551616', 2 ** 64])(
    '%j is none',
    (asOfPosition) => {
      const error = refusal(() => explain({ asOfPosition }))
      expect(error.violations).toEqual([
        { field: 'asOfPosition', description: 'must be a whole number of 64 bits, not negative' },
      ])
    },
  )
  test('also in a query', () => {
    expect(checkpoints('after=16')).toMatchObject({ after: 16 })
    expect(fields(() => checkpoints('after=0x10'))).toEqual(['after'])
  })
  test.each(['2026-02-28T23:59:59.5Z', '2024-02-29T00:00:00+01:00'])('%j is a time', (asOfTime) =>
    expect(explain({ asOfTime })).toHaveProperty('asOfTime'),
  )
  test.each(['2026-02-30T00:00:00Z', '2026-02-29T00:00:00Z', '2026-04-31T12:00:00Z', '2026-01-01T24:00:00Z'])(
    '%j is none',
    (asOfTime) => {
      const error = refusal(() => explain({ asOfTime }))
      expect(error.violations).toEqual([{ field: 'asOfTime', description: 'must be an RFC 3339 time' }])
    },
  )
})

test.each([60, '60', '1m'])('%j is no duration, and the error shows one', (clockSkew) => {
  const body = JSON.stringify({ clockSkew })
  const error = refusal(() => read('POST', '/management/v1/projects/p1/apps/oidc', body))
  expect(error.violations).toEqual([
    { field: 'clockSkew', description: 'must be a duration in seconds, such as "60s"' },
  ])
})

describe('path variables', () => {
  test('are percent-decoded as UTF-8', () => {
    expect(setEmail('{}', '/v2/users/a%2Fb%20%C3%A9/email')).toEqual({ userId: 'a/b é' })
  })
  test.each(['%', '%zz', '%C3', '%ff'])('%s is refused, naming the field', (text) => {
    expect(fields(() => setEmail('{}', `/v2/users/${text}/email`))).toEqual(['userId'])
  })
  test('may be repeated by the body, but not contradicted', () => {
    expect(setEmail('{"userId":"u1","email":"x"}')).toEqual({ userId: 'u1', email: 'x' })
    expect(fields(() => setEmail('{"userId":"u2"}'))).toEqual(['userId'])
    expect(fields(() => setEmail('{"user_id":"u2"}'))).toEqual(['userId'])
  })
})

describe('the query string', () => {
  test.each(['x=1', 'userId=u2', 'user_id=u1', 'x', '=', '__proto__=1'])('?%s is refused, naming it', (query) => {
    const error = refusal(() => read('GET', '/v2/users/u1', undefined, query))
    expect(error.violations.map(({ field }) => field)).toEqual([query.split('=')[0]])
  })
  test('binds no field of a request whose body has all others', () => {
    expect(fields(() => read('POST', '/v2/users/u1/email', '{}', 'email=x'))).toEqual(['email'])
  })
  test('that is no percent-encoded UTF-8 is refused', () => {
    expect(refusal(() => read('GET', '/v2/users/u1', undefined, 'a=%ff')).reason).toBe('REQUEST_MALFORMED')
  })
})

describe('the field at fault is named with its whole path in JSON spelling', () => {
  test.each([
    ['a wrong type', () => setEmail('{"email":5}'), ['email']],
    ['a wrong type deep inside', () => setEmail('{"send_code":{"url_template":[]}}'), ['sendCode.urlTemplate']],
    ['a string for a message', () => setEmail('{"sendCode":"x"}'), ['sendCode']],
    ['a wrong element', () => addGrant('{"roleKeys":["a",5,"b",null]}'), ['roleKeys[1]', 'roleKeys[3]']],
    ['a string for a list', () => addGrant('{"roleKeys":"a"}'), ['roleKeys']],
    ['an unknown field', () => setEmail('{"emial":"x"}'), ['emial']],
    ['an unknown field deep inside', () => setEmail('{"sendCode":{"x":1}}'), ['sendCode.x']],
    ['a name from another world', () => setEmail('{"__proto__":{"email":"x"}}'), ['__proto__']],
    ['another one', () => setEmail('{"constructor":{}}'), ['constructor']],
    ['an unknown enum value', () => profile('{"gender":"FEMALE"}'), ['gender']],
    ['an enum value of a wrong type', () => profile('{"gender":true}'), ['gender']],
    ['an enum number out of range', () => profile('{"gender":1e10}'), ['gender']],
    ['a half surrogate', () => profile('{"firstName":"\\ud800"}'), ['firstName']],
    ['a boolean as text', () => setEmail('{"isVerified":"true"}'), ['isVerified']],
    ['two members of a oneof', () => setEmail('{"sendCode":{},"isVerified":true}'), ['isVerified']],
    ['a field in both spellings', () => profile('{"firstName":"a","first_name":"b"}'), ['firstName']],
    ['a name twice', () => profile('{"firstName":"a","firstName":"b"}'), ['firstName']],
    [
      'a name twice deep inside',
      () => setEmail('{"sendCode":{"url_template":"a","url_template":"b"}}'),
      ['sendCode.urlTemplate'],
    ],
    ['all at once', () => setEmail('{"email":5,"x":1,"sendCode":{"y":2}}'), ['email', 'x', 'sendCode.y']],
  ] as const)('%s', (_name, work, expected) => {
    const error = refusal(work)
    expect(error).toMatchObject({ code: 3, reason: 'REQUEST_MALFORMED' })
    expect(error.violations.map(({ field }) => field)).toEqual(expected)
    for (const { description } of error.violations) expect(description).toMatch(/^(must|is) /)
  })
  test('the fault of an unknown enum value names the known ones', () => {
    expect(refusal(() => profile('{"gender":"X"}')).violations[0]!.description).toContain('GENDER_DIVERSE')
  })
  test('a thousand faults make an answer of a bounded size', () => {
    const body = JSON.stringify(
      Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`${at}${'x'.repeat(900)}`, 1])),
    )
    const error = refusal(() => profile(body))
    expect(error.violations).toHaveLength(100)
    expect(error.message.length).toBeLessThan(50_000)
  })
})

describe('where the text itself is broken, the place is named', () => {
  test('malformed JSON: line and column', () => {
    const error = refusal(() => profile('{\n  "firstName": "a",\n  oops\n}'))
    expect(error).toMatchObject({ reason: 'REQUEST_MALFORMED', metadata: { line: '3', column: '3' } })
    expect(error.message).toContain('line 3, column 3')
  })
  test('malformed UTF-8: the byte', () => {
    const body = Buffer.concat([Buffer.from('{"firstName":"é'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')])
    expect(refusal(() => setEmail(body))).toMatchObject({ reason: 'REQUEST_MALFORMED', metadata: { offset: '16' } })
  })
  test.each(['{"firstName":"A"}', `{"firstName":[${'1,'.repeat(5000)}1]}`, ''])(
    'a byte order mark is refused, as other readers do (text %#)',
    (text) => {
      const error = refusal(() => profile(`\ufeff${text}`))
      expect(error).toMatchObject({ reason: 'REQUEST_MALFORMED', metadata: { line: '1', column: '1' } })
      expect(error.message).toContain('a byte order mark is no part of JSON')
    },
  )
  test.each(['[]', '"x"', '5', 'null', 'true'])('a body that is %s and no object is refused', (body) => {
    expect(refusal(() => profile(body)).message).toContain('must be a JSON object')
  })
  test('bodies nested without end are refused', () => {
    for (const body of [
      '['.repeat(500_000),
      '{"a":'.repeat(100_000),
      `{"firstName":${'['.repeat(50_000)}${']'.repeat(50_000)}}`,
    ])
      expect(refusal(() => profile(body)).code).toBe(3)
  })
})

test('any body is read or refused with INVALID_ARGUMENT', () => {
  const names = fc.constantFrom(
    'email',
    'sendCode',
    'send_code',
    'urlTemplate',
    'isVerified',
    'returnCode',
    'x',
    '__proto__',
  )
  const leaf = fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constant(null), fc.array(fc.integer()))
  const json = fc.dictionary(names, fc.oneof(leaf, fc.dictionary(names, leaf)))
  const bodies = fc.oneof(
    json.map((value) => Buffer.from(JSON.stringify(value))),
    fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    fc.string({ unit: 'binary' }).map((text) => Buffer.from(text)),
  )
  fc.assert(
    fc.property(bodies, (body) => {
      try {
        setEmail(body)
      } catch (error) {
        expect(error).toBeInstanceOf(RosterError)
        expect(error).toMatchObject({ code: 3, reason: 'REQUEST_MALFORMED' })
      }
    }),
    { numRuns: 2000 },
  )
})
