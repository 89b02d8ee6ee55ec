import { afterAll, beforeAll, expect, test } from 'vitest'
import { method } from '#lib/rpc/methods'
import { frameOf, send } from '../testing/test-client.ts'
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts'

const setEmail = 'roster.users.v1.UserService.SetEmail'
const updateIdp = 'roster.idp.v1.IdentityProviderService.UpdateIDP'
const admin = { authorization: 'Bearer admin' }
const json = { ...admin, 'content-type': 'application/json' }
let gateway: TestGateway
let bodies: unknown[]

beforeAll(async () => {
  gateway = await startTestGateway(
    {
      [setEmail]: (request) => {
        bodies.push(request)
        return {}
      },
      [updateIdp]: () => ({}),
      'roster.users.v1.UserService.GetUser': () => ({ user: { userId: 'u1' } }),
    },
    { HEADERS_TIMEOUT_MS: '400', REQUEST_TIMEOUT_MS: '900' },
  )
  bodies = []
})
afterAll(() => gateway.stop())

const post = (body: string | Uint8Array, headers: Record<string, string> = json, path = '/v2/users/u1/email') =>
  send(gateway.url, { method: 'POST', path, headers, body })
const reasonOf = ({ body }: { body: string }) =>
  (JSON.parse(body) as { details: { reason: string }[] }).details[0]!.reason
const email = '{"email":"a@example.com"}'

test('answers to calls are JSON, and no browser keeps, sniffs or runs them', async () => {
  for (const answer of [await post(email), await post('{')])
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-request-id': expect.any(String),
      vary: 'Origin',
    })
})

test('a browser that is led to no page is told so by one; programs have JSON', async () => {
  const ask = (path: string, accept: string) => send(gateway.url, { method: 'GET', path, headers: { accept } })
  const page = await ask('/ui/acount', 'text/html,application/xhtml+xml,*/*;q=0.8')
  expect([page.status, page.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
  expect(page.body).toContain('There is no such page')
  expect(page.body).toContain('href="/ui/account"')
  for (const [path, accept] of [
    ['/ui/acount', '*/*'],
    ['/v2/usrs', 'text/html'],
  ])
    expect(reasonOf(await ask(path!, accept!))).toBe('PATH_NOT_FOUND')
})

const refusals: [string, string, string, Record<string, string>, string | undefined, number, string][] = [
  ['an unknown path', 'GET', '/nope', {}, undefined, 404, 'PATH_NOT_FOUND'],
  ['a malformed path', 'GET', '/%', {}, undefined, 404, 'PATH_NOT_FOUND'],
  ['an internal method', 'POST', '/roster.users.v1.InternalService/LookupUser', json, '{}', 404, 'PATH_NOT_FOUND'],
  ['a wrong verb', 'GET', '/v2/users/u1/email', admin, undefined, 405, 'METHOD_NOT_ALLOWED'],
  [
    'a wrong verb for a gRPC path',
    'GET',
    '/roster.users.v1.UserService/SetEmail',
    admin,
    undefined,
    405,
    'METHOD_NOT_ALLOWED',
  ],
  [
    'text at a gRPC path',
    'POST',
    '/roster.users.v1.UserService/SetEmail',
    { ...admin, 'content-type': 'text/plain' },
    '{}',
    415,
    'CONTENT_TYPE_UNSUPPORTED',
  ],
  ['no content type', 'POST', '/v2/users/u1/email', admin, '{}', 415, 'CONTENT_TYPE_UNSUPPORTED'],
  [
    'a form',
    'POST',
    '/v2/users/u1/email',
    { ...admin, 'content-type': 'text/plain' },
    '{}',
    415,
    'CONTENT_TYPE_UNSUPPORTED',
  ],
  [
    'another charset',
    'POST',
    '/v2/users/u1/email',
    { ...admin, 'content-type': 'application/json; charset=latin1' },
    '{}',
    415,
    'CONTENT_TYPE_UNSUPPORTED',
  ],
  ['a body over 1 MiB', 'POST', '/v2/users/u1/email', json, ' '.repeat(1024 * 1024 + 1), 413, 'REQUEST_TOO_LARGE'],
  [
    'a body over 1 MiB in pieces',
    'POST',
    '/v2/users/u1/email',
    { ...json, 'transfer-encoding': 'chunked' },
    ' '.repeat(1024 * 1024 + 1),
    413,
    'REQUEST_TOO_LARGE',
  ],
  [
    'a body where none belongs',
    'GET',
    '/v2/users/u1',
    { ...json, 'content-length': '2' },
    '{}',
    400,
    'BODY_NOT_ALLOWED',
  ],
  ['no token', 'POST', '/v2/users/u1/email', { 'content-type': 'application/json' }, '{', 401, 'TOKEN_MISSING'],
  ['a broken body', 'POST', '/v2/users/u1/email', json, '{', 400, 'REQUEST_MALFORMED'],
  ['a violated rule', 'POST', '/v2/users/u1/email', json, '{}', 400, 'VALIDATION_FAILED'],
  [
    'a permission that is missing',
    'PUT',
    '/admin/v1/idps/x',
    { ...json, authorization: 'Bearer member' },
    '{}',
    403,
    'PERMISSION_DENIED',
  ],
  ['a header that is too long', 'GET', '/healthz', { x: 'x'.repeat(20_000) }, undefined, 431, 'HEADERS_TOO_LARGE'],
  ['one that is longer by far', 'GET', '/healthz', { x: 'x'.repeat(40_000) }, undefined, 431, 'HEADERS_TOO_LARGE'],
  ['an address that is too long', 'GET', `/${'x'.repeat(20_000)}`, {}, undefined, 431, 'HEADERS_TOO_LARGE'],
  ['one of a method', 'GET', `/v2/users/${'x'.repeat(17_000)}`, {}, undefined, 431, 'HEADERS_TOO_LARGE'],
]

test.each(refusals)('%s: %s %s', async (_name, verb, path, headers, body, status, reason) => {
  const answer = await send(gateway.url, { method: verb, path, headers, ...(body !== undefined && { body }) })
  expect([answer.status, reasonOf(answer)]).toEqual([status, reason])
  expect(answer.headers).toMatchObject({ 'content-type': 'application/json', 'x-request-id': expect.any(String) })
  expect(JSON.parse(answer.body)).toMatchObject({ code: expect.any(Number), message: expect.any(String) })
})

test('a body of exactly 1 MiB is accepted', async () => {
  const body = `{"email":"a@example.com"${' '.repeat(1024 * 1024 - 25)}}`
  expect(body.length).toBe(1024 * 1024)
  expect((await post(body)).status).toBe(200)
})

test('a body with a charset, an empty body, and no body without a type are accepted', async () => {
  const answers = [
    await post(email, { ...admin, 'content-type': 'Application/JSON; charset="UTF-8"' }),
    await post(email, { ...admin, 'content-type': 'application/json;' }),
    await post(email, { ...admin, 'content-type': 'application/json ; ; charset=utf-8 ;' }),
    await send(gateway.url, { path: '/v2/users/u1', headers: json }),
    await send(gateway.url, { path: '/v2/users/u1', headers: admin }),
    await send(gateway.url, { method: 'PUT', path: '/admin/v1/idps/x', headers: admin }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 400])
  expect(reasonOf(answers[5]!)).toBe('VALIDATION_FAILED')
})

test('the answer to a wrong verb names the right ones', async () => {
  const allow = async (verb: string, path: string) => (await send(gateway.url, { method: verb, path })).headers['allow']
  expect(await allow('PATCH', '/v2/users/u1/email')).toBe('POST, OPTIONS')
  expect(await allow('POST', '/admin/v1/idps/x')).toBe('PUT, DELETE, GET, HEAD, OPTIONS')
  expect(await allow('OPTIONS', '/admin/v1/idps/_search')).toBe('POST, OPTIONS')
  expect(await allow('OPTIONS', '/healthz')).toBe('GET, HEAD, OPTIONS')
})

test('HEAD is GET without a body', async () => {
  const [get, head] = [
    await send(gateway.url, { path: '/v2/users/u1', headers: admin }),
    await send(gateway.url, { method: 'HEAD', path: '/v2/users/u1', headers: admin }),
  ]
  expect([head.status, head.body, head.headers['content-length']]).toEqual([200, '', get.headers['content-length']])
})

test('a challenge comes with every 401', async () => {
  expect((await post(email, { 'content-type': 'application/json' })).headers['www-authenticate']).toMatch(
    /^Bearer realm="roster", DPoP /,
  )
  const bad = await post(email, { ...json, authorization: 'Bearer bad' })
  expect(bad.headers['www-authenticate']).toMatch(/^Bearer realm="roster", error="invalid_token", DPoP /)
})

test('every HTTP answer of a deprecated method says so, errors included, and no other does', async () => {
  const since = `@${method(updateIdp).deprecatedSince}`
  for (const authorization of ['Bearer admin', 'Bearer bad'])
    for (const body of ['{"name":"x"}', '{'])
      expect(
        (
          await send(gateway.url, {
            method: 'PUT',
            path: '/admin/v1/idps/x',
            headers: { ...json, authorization },
            body,
          })
        ).headers['deprecation'],
      ).toBe(since)
  expect((await post(email)).headers['deprecation']).toBeUndefined()
})

test('Retry-After comes wherever RetryInfo does', async () => {
  const answer = await send(gateway.url, { method: 'POST', path: '/v2/sessions', headers: json, body: '{}' })
  expect([answer.status, answer.headers['retry-after']]).toEqual([503, '1'])
})

test('a page of another origin may call and read the answer, also of a failed call', async () => {
  const origin = 'https://app.example'
  const preflight = await send(gateway.url, {
    method: 'OPTIONS',
    path: '/v2/users/u1/email',
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
  })
  expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, '*'])
  for (const headers of [{ ...json, origin }, { origin }])
    expect((await post(email, headers)).headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': expect.stringContaining('grpc-status-details-bin'),
    })
})

test('a gRPC-web call is answered with HTTP 200, whether it failed or not', async () => {
  const type = { 'content-type': 'application/grpc-web+proto' }
  const path = '/roster.users.v1.UserService/SetEmail'
  for (const [headers, at] of [
    [{ ...type, ...admin }, path],
    [type, path],
    [type, '/no.Service/Method'],
  ] as const) {
    const answer = await post(frameOf(Buffer.from('nonsense')), headers, at)
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/grpc-web+proto'])
    expect(answer.body).toMatch(/grpc-status:(3|16|12)\r\n/)
  }
})

test('pages come with a strict policy, and a page that the browser has is not sent again', async () => {
  const path = '/ui/verify-email'
  const page = await send(gateway.url, { path })
  expect([page.status, page.headers['content-type'], page.headers['cache-control']]).toEqual([
    200,
    'text/html; charset=utf-8',
    'no-cache',
  ])
  expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';/)
  expect(page.headers).toMatchObject({ 'referrer-policy': 'same-origin', 'x-content-type-options': 'nosniff' })
  const again = await send(gateway.url, {
    path,
    headers: { 'if-none-match': `"other", W/${page.headers['etag'] as string}` },
  })
  expect([again.status, again.body]).toEqual([304, ''])
  for (const other of ['/ui/../main.ts', '/ui/%2e%2e/main.ts', '/ui/forms.browser.test.ts', '/ui'])
    expect((await send(gateway.url, { path: other })).status).toBe(404)
  expect((await send(gateway.url, { method: 'POST', path })).headers['allow']).toBe('GET, HEAD, OPTIONS')
})

test('a request with a whole address is served by the path in it', async () => {
  expect((await send(gateway.url, { path: `${gateway.url}/v2/users/u1`, headers: admin })).status).toBe(200)
})

test.each([
  '/v2/x/../users/u1',
  '/v2/./users/u1',
  '/v2//users/u1',
  '/v2/%75sers/u1',
  '/v2%2Fusers/u1',
  '/v2/x/%2e%2e/users/u1',
  '/v2/x/.%2E/users/u1',
  '/v2;x/users/u1',
  '/v2/users;x/u1',
  '/v2/users/u1;/email/..',
  '/V2/users/u1',
  '\\v2\\users\\u1',
  '/v2\\users\\u1',
  '/v2/users/u1/',
])('a path is what it is, alone or in a whole address: %s is no /v2/users/u1', async (path) => {
  for (const target of [path, `http://other.example${path}`])
    expect((await send(gateway.url, { path: target, headers: admin })).body, target).not.toContain('"u1"')
})
