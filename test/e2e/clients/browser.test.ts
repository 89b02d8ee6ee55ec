import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type Errand, fiveOperations } from '../../examples/five-operations.ts'
import { getUser, newHuman, newOrganization, unique, uniqueEmail } from '../../examples/people.ts'
import { decode, decodeStatus, describeOperation, encode, grpcPath } from './messages.ts'
import { httpRoute } from './route.ts'
import { hasMailbox, mailTo } from '../mailbox.ts'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const missing = !existsSync(executablePath)
const why = missing ? ` (skipped: there is no ${executablePath})` : ''
const { url } = inject('roster')

let browser: Browser
let elsewhere: Server
let page: Page

// The official client is a CommonJS file.
const grpcWeb = readFileSync(fileURLToPath(import.meta.resolve('grpc-web/index.js')), 'utf8')
const script = `(function () { const exports = {}; ${grpcWeb}\n; globalThis.grpcWeb = exports })()`

beforeAll(async () => {
  if (missing) return
  elsewhere = createServer((request, response) => {
    const isScript = request.url === '/grpc-web.js'
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' })
    response.end(isScript ? script : '<!doctype html><title>Elsewhere</title><script src="/grpc-web.js"></script>')
  }).listen(0, '127.0.0.1')
  const quiet = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']
  browser = await chromium.launch({
    executablePath,
    args: [...quiet, '--disable-component-update', '--disable-sync'],
  })
  page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`)
})
afterAll(async () => {
  await browser?.close()
  elsewhere?.close()
})

async function perform(call: (errand: Errand) => Promise<unknown>) {
  for (const errand of await fiveOperations()) await errand.check(await call(errand))
}

describe.skipIf(missing)(`a page of another origin, in Chromium${why}`, () => {
  test('performs all five in JSON with fetch, and reads x-request-id', async () => {
    await perform(async ({ operation, request, token, organization }) => {
      const { verb, path, body } = httpRoute(operation, request)
      const answer = await page.evaluate(
        async ([method, target, authorization, acting, text]) => {
          const headers = {
            authorization: authorization!,
            'x-service-orgid': acting!,
            'content-type': 'application/json',
          }
          const response = await fetch(target!, { method: method!, headers, body: text! })
          return { json: await response.json(), id: response.headers.get('x-request-id') }
        },
        [verb, url + path, `Bearer ${token}`, organization, body!],
      )
      expect(answer.id).toMatch(/\S/)
      return answer.json
    })
  })

  test.each(['text', 'binary'])("performs all five with the official grpc-web client, format '%s'", async (format) => {
    await perform(async (errand) => {
      const answer = await callFromPage(errand, format)
      return decode(describeOperation(errand.operation).output, Uint8Array.from(answer.bytes!))
    })
  })

  test.each(['text', 'binary'])(
    "the official grpc-web client reads the Status of an error, format '%s'",
    async (format) => {
      const [errand] = await fiveOperations()
      const { error } = await callFromPage({ ...errand!, token: 'wrong' }, format)
      expect(error).toMatchObject({ code: 16, message: expect.stringMatching(/token/) })
      expect(decodeStatus(Buffer.from(error!.details!, 'base64'))).toMatchObject({
        details: [{ reason: 'TOKEN_INVALID' }],
      })
    },
  )

  test('reads the reason of a refusal, and the time to retry', async () => {
    const answer = await page.evaluate(async (target) => {
      const response = await fetch(target, { headers: { authorization: 'Bearer wrong' } })
      const { details } = (await response.json()) as { details: { reason: string }[] }
      return [response.status, details[0]!.reason, response.headers.get('www-authenticate')]
    }, `${url}/v2/users/unknown`)
    expect(answer).toEqual([401, 'TOKEN_INVALID', expect.stringMatching(/^Bearer/)])
  })

  test('never gets access with the credentials of the browser', async () => {
    const refused = await page.evaluate(
      (target) =>
        fetch(target, { credentials: 'include' }).then(
          () => false,
          () => true,
        ),
      `${url}/v2/users/unknown`,
    )
    expect(refused).toBe(true)
  })
})

interface PageAnswer {
  bytes?: number[]
  error?: { code: number; message: string; details: string | undefined }
}

function callFromPage({ operation, request, token, organization }: Errand, format: string): Promise<PageAnswer> {
  return page.evaluate(
    ({ target, bytes, metadata, wire }) => {
      const { GrpcWebClientBase, MethodDescriptor } = (globalThis as any).grpcWeb
      const descriptor = new MethodDescriptor(
        target,
        'unary',
        Object,
        Object,
        () => Uint8Array.from(bytes),
        (response: Uint8Array) => Array.from(response),
      )
      return new Promise<PageAnswer>((resolve) => {
        new GrpcWebClientBase({ format: wire }).rpcCall(
          target,
          {},
          metadata,
          descriptor,
          (error: any, response: number[]) => {
            if (!error) return resolve({ bytes: response })
            const { code, message } = error
            resolve({ error: { code, message, details: error.metadata['grpc-status-details-bin'] } })
          },
        )
      })
    },
    {
      target: url + grpcPath(operation),
      bytes: Array.from(encode(describeOperation(operation).input, request)),
      metadata: { authorization: `Bearer ${token}`, 'x-service-orgid': organization },
      wire: format,
    },
  )
}

const cannot = missing || !hasMailbox()
const whyNot = why || (hasMailbox() ? '' : ' (skipped: ROSTER_E2E_MAILBOX_URL is not set)')

describe.skipIf(cannot)(`the whole way to a verified address${whyNot}`, () => {
  test('a new human gets a mail, opens its link and presses the button: the address is verified', async () => {
    const email = uniqueEmail()
    const password = unique('Password')
    const { userId } = await newHuman(await newOrganization(), { email, password, verification: {} })
    const { link } = await mailTo(email)
    const visit = await browser.newPage({ locale: 'en-GB' })
    const complaints: string[] = []
    visit.on('console', (message) => {
      if (message.type() === 'error') complaints.push(`${message.text()} ${message.location().url}`)
    })
    visit.on('pageerror', (error) => complaints.push(error.message))
    await visit.goto(link)
    expect((await getUser(userId)).human.email, 'a link that is looked at verifies nothing').toEqual({ email })
    await visit.getByRole('button').click()
    await visit.getByRole('heading', { name: /verified/ }).waitFor()
    expect((await getUser(userId)).human.email).toEqual({ email, isVerified: true })
    expect(complaints.filter((text) => !text.endsWith('/favicon.ico'))).toEqual([])
    await visit.close()
  })
})
