import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type Errand, fiveOperations } from '../../examples/five-operations.ts'
import { describeOperation } from './messages.ts'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const missing = !existsSync(executablePath)
const why = missing ? ` (skipped: there is no ${executablePath})` : ''
const { url } = inject('roster')
const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Where a page finds the packages, as they are published. */
const packages = {
  '@connectrpc/connect': '/node_modules/@connectrpc/connect/dist/esm/index.js',
  '@connectrpc/connect/protocol': '/node_modules/@connectrpc/connect/dist/esm/protocol/index.js',
  '@connectrpc/connect/protocol-connect': '/node_modules/@connectrpc/connect/dist/esm/protocol-connect/index.js',
  '@connectrpc/connect/protocol-grpc-web': '/node_modules/@connectrpc/connect/dist/esm/protocol-grpc-web/index.js',
  '@connectrpc/connect-web': '/node_modules/@connectrpc/connect-web/dist/esm/index.js',
  '@bufbuild/protobuf': '/node_modules/@bufbuild/protobuf/dist/esm/index.js',
  '@bufbuild/protobuf/codegenv2': '/node_modules/@bufbuild/protobuf/dist/esm/codegenv2/index.js',
  '@bufbuild/protobuf/reflect': '/node_modules/@bufbuild/protobuf/dist/esm/reflect/index.js',
  '@bufbuild/protobuf/wire': '/node_modules/@bufbuild/protobuf/dist/esm/wire/index.js',
  '@bufbuild/protobuf/wkt': '/node_modules/@bufbuild/protobuf/dist/esm/wkt/index.js',
}
const html = `<!doctype html><title>Elsewhere</title>
<script type="importmap">${JSON.stringify({ imports: packages })}</script>
<script type="module">
  import { createConnectTransport } from '@connectrpc/connect-web'
  import { createFileRegistry, fromBinary, fromJson, toJson } from '@bufbuild/protobuf'
  import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
  const bytes = new Uint8Array(await (await fetch('/gen/descriptors.binpb')).arrayBuffer())
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes))
  globalThis.call = async (options, service, name, request, header) => {
    const method = registry.getService(service).methods.find((each) => each.name === name)
    const message = fromJson(method.input, request, { registry })
    try {
      const answer = await createConnectTransport(options).unary(method, undefined, undefined, header, message)
      return { ok: toJson(method.output, answer.message, { registry }), id: answer.header.get('x-request-id') }
    } catch (error) {
      const [info] = error.findDetails(registry.getMessage('google.rpc.ErrorInfo'))
      return { code: error.code, reason: info?.reason, challenge: error.metadata.get('www-authenticate') }
    }
  }
</script>`

let browser: Browser
let elsewhere: Server
let page: Page

beforeAll(async () => {
  if (missing) return
  elsewhere = createServer(({ url: path = '' }, response) => {
    const isFile = path.endsWith('.js') || path === '/gen/descriptors.binpb'
    response.writeHead(200, { 'content-type': path.endsWith('.js') ? 'text/javascript' : 'text/html' })
    response.end(isFile ? readFileSync(root + path) : html)
  }).listen(0, '127.0.0.1')
  const quiet = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking']
  browser = await chromium.launch({ executablePath, args: quiet })
  page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`)
  await page.waitForFunction(() => 'call' in globalThis)
})
afterAll(async () => {
  await browser?.close()
  elsewhere?.close()
})

describe.skipIf(missing)(`connect-web in a page of another origin, in Chromium${why}`, () => {
  const options = { baseUrl: url, useHttpGet: true }

  test.each([true, false])('performs all five in Connect, in protobuf: %s', async (useBinaryFormat) => {
    for (const errand of await fiveOperations()) {
      const answer = await callFromPage({ ...options, useBinaryFormat }, errand)
      expect(answer.id).toMatch(/\S/)
      await errand.check(answer.ok)
    }
  })

  test('reads by GET', async () => {
    const [errand] = await fiveOperations()
    const asked = page.waitForRequest((request) => request.url().includes('connect=v1'))
    const answer = await callFromPage(options, { ...errand!, operation: 'SearchUsers', request: { limit: 1 } })
    expect((await asked).method()).toBe('GET')
    expect(answer).toMatchObject({ code: 7, reason: 'PERMISSION_DENIED' })
  })

  test('reads the reason of a refusal, and its challenge', async () => {
    const [errand] = await fiveOperations()
    const answer = await callFromPage(options, { ...errand!, token: 'wrong' })
    expect(answer).toEqual({ code: 16, reason: 'TOKEN_INVALID', challenge: expect.stringMatching(/^Bearer/) })
  })
})

interface PageAnswer {
  ok?: unknown
  id?: string
  code?: number
  reason?: string
  challenge?: string
}

function callFromPage(options: object, { operation, request, token, organization }: Errand): Promise<PageAnswer> {
  const header = { authorization: `Bearer ${token}`, 'x-service-orgid': organization }
  const service = describeOperation(operation).parent.typeName
  const call: unknown[] = [options, service, operation, request, header]
  return page.evaluate((given: any) => (globalThis as any).call(...given), call as any)
}
