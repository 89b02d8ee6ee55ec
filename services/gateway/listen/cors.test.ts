import { expect, test } from 'vitest'
import { createCors } from './cors.ts'

const origin = 'https://app.example'
const preflight = { origin, 'access-control-request-method': 'PUT' }

test('without configuration a page of any origin may read answers, without credentials', () => {
  expect(createCors([]).headers(origin, 'configured')).toMatchObject({
    'access-control-allow-origin': '*',
    vary: 'Origin',
  })
  expect(createCors([]).headers(origin, 'configured')).not.toHaveProperty('access-control-allow-credentials')
})

test('with configured origins only their pages may', () => {
  const cors = createCors([origin])
  expect(cors.headers(origin, 'configured')['access-control-allow-origin']).toBe(origin)
  for (const other of ['https://evil.example', `${origin}.evil.example`, 'null', undefined])
    expect(cors.headers(other, 'configured')).toEqual({ vary: 'Origin' })
  expect(cors.preflight('OPTIONS', { ...preflight, origin: 'https://evil.example' }, 'configured')).not.toHaveProperty(
    'access-control-allow-origin',
  )
})

test('whatever is configured, some paths are for pages of any origin, and some for none', () => {
  const cors = createCors([origin])
  const other = 'https://other.example'
  expect(cors.headers(other, 'any')['access-control-allow-origin']).toBe('*')
  const asked = { ...preflight, origin: other }
  expect(cors.preflight('OPTIONS', asked, 'any')!['access-control-allow-origin']).toBe('*')
  expect(cors.headers(origin, 'none')).toEqual({})
  expect(createCors([]).preflight('OPTIONS', preflight, 'none')).toBeUndefined()
})

test('a page may read what gRPC-web and clients that retry need', () => {
  const exposed = createCors([]).headers(origin, 'configured')['access-control-expose-headers']!.split(', ')
  const needed = ['grpc-status', 'grpc-message', 'grpc-status-details-bin', 'x-request-id', 'etag', 'retry-after']
  expect(exposed).toEqual(expect.arrayContaining(needed))
})

test('a preflight allows every method and header that the gateway reads', () => {
  const answer = createCors([]).preflight('OPTIONS', preflight, 'configured')!
  expect(answer['access-control-allow-methods']).toContain('DELETE')
  for (const name of [
    'authorization',
    'content-type',
    'x-service-orgid',
    'x-zitadel-orgid',
    'x-grpc-web',
    'grpc-timeout',
    'grpc-encoding',
    'if-match',
    'if-none-match',
    'connect-protocol-version',
    'connect-timeout-ms',
    'content-encoding',
    'connect-content-encoding',
  ])
    expect(answer['access-control-allow-headers']!.split(', ')).toContain(name)
  expect(Number(answer['access-control-max-age'])).toBeGreaterThan(0)
})

test('a request that asks for no method is no preflight', () => {
  expect(createCors([]).preflight('OPTIONS', { origin }, 'configured')).toBeUndefined()
  expect(createCors([]).preflight('POST', preflight, 'configured')).toBeUndefined()
})
