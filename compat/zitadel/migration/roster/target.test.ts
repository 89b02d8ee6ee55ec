import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTarget, Refusal, type Target } from './target.ts'

let answers: ((response: ServerResponse) => unknown)[]
let got: IncomingMessage[]
let said: string[]
let target: Target
const server = createServer((request, response) => {
  got.push(request)
  request.resume()
  answers.shift()!(response)
})

beforeEach(async () => {
  ;[answers, got, said] = [[], [], []]
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  target = openTarget({ url, token: 'secret-token', say: (line) => said.push(line) })
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
})

function answer(http: number, body: object, headers: Record<string, string> = {}) {
  return (response: ServerResponse) => response.writeHead(http, headers).end(JSON.stringify(body))
}

const error = (code: number, reason: string) => ({ code, message: `Because of ${reason}.`, details: [{ reason }] })
const done = answer(200, { id: '1' })
const busy = answer(429, error(8, 'RATE_LIMITED'), { 'retry-after': '1' })
const away = answer(503, error(14, 'SERVICE_UNAVAILABLE'))
const keys = () => got.map(({ headers }) => headers['idempotency-key'])

test('a request is asked again while Roster is busy or away, under one key, after the time that Roster says', async () => {
  answers = [busy, away, (response) => response.destroy(), answer(409, error(10, 'CONFLICT')), done]
  const begun = performance.now()
  expect(await target.ask('POST', '/path', { name: 'n' }, 'org')).toEqual({ id: '1' })
  expect(performance.now() - begun).toBeGreaterThan(999)
  expect(got).toHaveLength(5)
  expect(new Set(keys()).size).toBe(1)
  expect(got[0]!.headers).toMatchObject({ authorization: 'Bearer secret-token', 'x-service-orgid': 'org' })
  expect(said).toEqual(['Waiting 1 s: Because of RATE_LIMITED.'])
})

test('another request, another organization and another run have other keys', async () => {
  answers = [done, done, done, done]
  await target.ask('POST', '/path', { name: 'n' }, 'org')
  await target.ask('POST', '/path', { name: 'm' }, 'org')
  await target.ask('POST', '/path', { name: 'n' }, 'other')
  const again = openTarget({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 't', say() {} })
  await again.ask('POST', '/path', { name: 'n' }, 'org')
  expect(new Set(keys()).size).toBe(4)
})

test.each([
  [404, error(5, 'PROJECT_NOT_FOUND')],
  [429, error(8, 'LIMIT_REACHED')],
  [413, error(8, 'REQUEST_TOO_LARGE')],
])('%d %j is the answer, asked for once', async (http, body) => {
  answers = [answer(http, body)]
  const refusal: unknown = await target.ask('GET', '/path').catch((problem: unknown) => problem)
  expect(refusal).toBeInstanceOf(Refusal)
  expect((refusal as Refusal).reason).toBe(body.details[0]!.reason)
})

test('a token that Roster refuses ends the run', async () => {
  answers = [answer(401, error(16, 'TOKEN_INVALID'))]
  await expect(target.ask('GET', '/path')).rejects.toThrow('Roster refuses the token: Because of TOKEN_INVALID.')
  expect(got).toHaveLength(1)
})
