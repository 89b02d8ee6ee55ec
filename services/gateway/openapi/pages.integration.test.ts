import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { send } from '../testing/test-client.ts'
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts'

let gateway: TestGateway
beforeAll(async () => void (gateway = await startTestGateway()))
afterAll(() => gateway?.stop())

describe('the OpenAPI document', () => {
  const path = '/openapi.json'

  test('may be read by everybody, and is not sent again to a client that has it', async () => {
    const document = await send(gateway.url, { path, headers: { origin: 'https://elsewhere.example' } })
    expect([document.status, document.headers['content-type']]).toEqual([200, 'application/json'])
    expect(document.headers).toMatchObject({ 'cache-control': 'no-cache', 'access-control-allow-origin': '*' })
    expect(JSON.parse(document.body)).toMatchObject({ openapi: '3.1.1', servers: [{ url: 'http://localhost:8080' }] })
    const again = await send(gateway.url, { path, headers: { 'if-none-match': document.headers['etag'] as string } })
    expect([again.status, again.body]).toEqual([304, ''])
    expect((await send(gateway.url, { method: 'POST', path })).headers['allow']).toBe('GET, HEAD, OPTIONS')
  })

  test.each([
    ['gzip', true],
    ['br, gzip;q=0.5', true],
    ['gzip;q=0', false],
    ['br', false],
  ])('for accept-encoding %s is compressed: %j', async (encoding, isCompressed) => {
    const headers = { 'accept-encoding': encoding }
    const answer = await send(gateway.url, { path, headers })
    expect(answer.headers['content-encoding']).toBe(isCompressed ? 'gzip' : undefined)
    expect(answer.headers['vary']).toBe('Origin, Accept-Encoding')
    const plain = await send(gateway.url, { path })
    expect(answer.headers['etag'] === plain.headers['etag']).toBe(!isCompressed)
    const tag = { 'if-none-match': answer.headers['etag'] as string }
    expect((await send(gateway.url, { path, headers: { ...headers, ...tag } })).status).toBe(304)
    const decoded = await (await fetch(gateway.url + path, { headers })).text()
    expect(decoded).toBe(plain.body)
  })
})

test('the page of the API allows no script but its own, and no page to frame it or to keep hold of its window', async () => {
  for (const path of ['/docs', '/docs/']) {
    const { headers } = await send(gateway.url, { path })
    expect(headers['cross-origin-opener-policy']).toBe('same-origin')
    const policy = String(headers['content-security-policy'])
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self';.* frame-ancestors 'none'$/)
  }
  for (const path of ['/docs/swagger-ui-bundle.js.map', '/docs/docs.html', '/docs/../pages.ts', '/docs/index.html'])
    expect((await send(gateway.url, { path })).status).toBe(404)
})

test('the bare address shows a page, and each of its links leads somewhere', async () => {
  const page = await send(gateway.url, { path: '/' })
  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
  const links = [...page.body.matchAll(/href="([^"]+)"/g)].map(([, path]) => path!)
  expect(links).toContain('/docs')
  // Pages with a cookie are shown under PUBLIC_URL alone.
  for (const path of links) expect((await send(gateway.url, { path })).status).toBe(path === '/ui/account' ? 302 : 200)
})
