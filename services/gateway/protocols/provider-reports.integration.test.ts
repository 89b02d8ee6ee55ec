import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { RosterError } from '#lib/errors'
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts'

const password = 'a-password-for-the-provider'
let gateway: TestGateway
let off: TestGateway
let taken: string[] = []
let answer: () => object = () => ({})

const operations = {
  'roster.notifier.v1.InternalService.TakeProviderReport': ({ body }: { body?: unknown }) => {
    taken.push(Buffer.from(body as string, 'base64').toString())
    return answer() as Record<string, string>
  },
}

beforeAll(async () => {
  ;[gateway, off] = await Promise.all([
    startTestGateway(operations, { MAIL_BOUNCES_PASSWORD: password }),
    startTestGateway(operations),
  ])
})
afterAll(() => Promise.all([gateway?.stop(), off?.stop()]))
beforeEach(() => {
  taken = []
  answer = () => ({})
})

const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
const known = basic(`roster:${password}`)

async function post(body: string, headers: Record<string, string> = known, { url }: TestGateway = gateway) {
  const response = await fetch(`${url}/mails/bounces`, { method: 'POST', body, headers })
  return { status: response.status, text: await response.text(), challenge: response.headers.get('www-authenticate') }
}

test.each(['application/json', 'text/plain; charset=UTF-8'])(
  'what a mail provider posts as %s reaches the notifier as it is',
  async (type) => {
    const body = `[{"event":"bounce","reason":"é"}]`
    expect(await post(body, { ...known, 'content-type': type })).toMatchObject({ status: 200, text: '{}' })
    expect(taken).toEqual([body])
  },
)

test.each([
  ['nothing', {}],
  ['another password', basic(`roster:${password}x`)],
  ['another user', basic(`other:${password}`)],
  ['a bearer token', { authorization: 'Bearer admin' }],
  ['no base64', { authorization: 'Basic ===' }],
])('with %s, the gateway asks for the password, and takes nothing', async (_, headers) => {
  const answered = await post('{}', headers)
  expect(answered).toMatchObject({ status: 401, challenge: 'Basic realm="roster"' })
  expect(answered.text).toContain('MAIL_PROVIDER_UNKNOWN')
  expect(taken).toEqual([])
})

test('a body of more than a MiB is refused, and of a stranger none is waited for', async () => {
  expect(await post('x'.repeat(1024 * 1024 + 1))).toMatchObject({ status: 413 })
  expect(await post('x'.repeat(1024 * 1024))).toMatchObject({ status: 200 })
  expect(taken).toHaveLength(1)
  const never = new ReadableStream({ start: (stream) => stream.enqueue(Buffer.from('x')) })
  const request = { method: 'POST', body: never, duplex: 'half' }
  const response = await fetch(`${gateway.url}/mails/bounces`, request as RequestInit)
  expect(response.status).toBe(401)
})

test('where the notifier cannot store it, the provider is told to come again', async () => {
  answer = () => {
    throw new RosterError('UNAVAILABLE', 'DATABASE_UNAVAILABLE', 'The database cannot be reached.')
  }
  expect(await post('{}')).toMatchObject({ status: 503 })
})

test('without a password in the settings, there is no such path', async () => {
  expect(await post('{}', known, off)).toMatchObject({ status: 404 })
  expect(taken).toEqual([])
})

test('a page in a browser finds no way there', async () => {
  const ask = (method: string) => fetch(`${gateway.url}/mails/bounces`, { method, headers: known })
  expect((await ask('GET')).status).toBe(405)
  expect((await ask('GET')).headers.get('allow')).toBe('POST, OPTIONS')
})
