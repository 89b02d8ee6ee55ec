import { execFile, execFileSync, spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, inject, test } from 'vitest'
import { type Errand, fiveOperations } from '../../examples/five-operations.ts'
import { decodeStatus, describeOperation, grpcPath } from './messages.ts'
import { httpRoute } from './route.ts'

const run = promisify(execFile)
const { url } = inject('roster')
const root = fileURLToPath(new URL('../../../', import.meta.url))
const descriptors = `${root}gen/descriptors.binpb`
const operations = ['UpdateMyProfile', 'UpdateIDP', 'AddMachineUser', 'SetEmail', 'AddUserGrant']

/** Calls each of the five operations with the client and checks the effect. */
async function perform(call: (errand: Errand) => Promise<unknown>) {
  const errands = await fiveOperations()
  expect(errands.map(({ operation }) => operation)).toEqual(operations)
  for (const errand of errands) await errand.check(await call(errand))
}

function headers({ token, organization }: Errand): string[] {
  return ['-H', `authorization: Bearer ${token}`, '-H', `x-service-orgid: ${organization}`]
}

const noCurl = unless(() => execFileSync('curl', ['--version']), 'there is no curl')

describe(`curl${noCurl}`, () => {
  // --http2 asks for an upgrade, which a server may ignore.
  test.skipIf(noCurl).each(['--http1.1', '--http1.0', '--http2', '--http2-prior-knowledge'])(
    'performs all five in JSON, %s',
    async (version) => {
      await perform(async (errand) => {
        const { verb, path, body } = httpRoute(errand.operation, errand.request)
        const sent = ['-X', verb, '-H', 'content-type: application/json', ...headers(errand), '-d', body!]
        return JSON.parse((await run('curl', ['-sS', '--fail-with-body', version, ...sent, url + path])).stdout)
      })
    },
  )
})

const buf = `${root}node_modules/.bin/buf`
const noBuf = unless(() => execFileSync(buf, ['--version']), 'there is no buf')

describe(`buf curl${noBuf}`, () => {
  const schema = ['--schema', descriptors]

  test.skipIf(noBuf).each([
    ['grpc, by reflection', ['--protocol', 'grpc', '--http2-prior-knowledge']],
    ['grpc, by schema', ['--protocol', 'grpc', '--http2-prior-knowledge', ...schema]],
    ['grpcweb, by schema', ['--protocol', 'grpcweb', ...schema]],
    ['connect, by schema', ['--protocol', 'connect', ...schema]],
    ['connect, over HTTP/2', ['--protocol', 'connect', '--http2-prior-knowledge', ...schema]],
  ])('performs all five: %s', async (_, options) => {
    await perform(async (errand) => {
      const sent = [...headers(errand), '-d', JSON.stringify(errand.request), url + grpcPath(errand.operation)]
      return JSON.parse((await run(buf, ['curl', ...options, ...sent])).stdout)
    })
  })
})

const noGrpcio = unless(
  () => execFileSync('/usr/bin/python3', ['-c', 'import grpc, google.protobuf'], { stdio: 'ignore' }),
  'there is no python3-grpcio',
)

describe(`Debian's python3-grpcio${noGrpcio}`, () => {
  test.skipIf(noGrpcio)('performs all five in gRPC', async () => {
    await perform(async (errand) => {
      const [answer] = await grpcio([errand])
      expect(answer).toHaveProperty('ok')
      return answer!.ok
    })
  })

  test.skipIf(noGrpcio)('reads the Status of an error out of grpc-status-details-bin', async () => {
    const [errand] = await fiveOperations()
    const [answer] = await grpcio([{ ...errand!, token: 'wrong' }])
    expect(answer).toMatchObject({ code: 16, message: expect.any(String) })
    expect(decodeStatus(Buffer.from(answer!.details!, 'base64'))).toMatchObject({
      code: 16,
      details: [{ reason: 'TOKEN_INVALID', domain: 'roster' }],
    })
  })
})

async function grpcio(errands: Errand[]): Promise<{ ok?: unknown; code?: number; details?: string }[]> {
  const calls = errands.map(({ operation, request, token, organization }) => ({
    path: grpcPath(operation),
    input: describeOperation(operation).input.typeName,
    output: describeOperation(operation).output.typeName,
    request,
    metadata: { authorization: `Bearer ${token}`, 'x-service-orgid': organization },
  }))
  const script = fileURLToPath(new URL('grpcio.py', import.meta.url))
  const python = spawn('/usr/bin/python3', [script], { stdio: ['pipe', 'pipe', 'inherit'] })
  python.stdin.end(JSON.stringify({ address: new URL(url).host, descriptors, calls }))
  return JSON.parse(await text(python.stdout))
}

/** Empty where the program exists. Otherwise the reason for which its tests are skipped. */
function unless(attempt: () => unknown, reason: string): string {
  try {
    attempt()
    return ''
  } catch {
    return ` (skipped: ${reason})`
  }
}
