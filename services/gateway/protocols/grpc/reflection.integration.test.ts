import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { connect } from 'node:http2'
import { promisify } from 'node:util'
import { createFileRegistry, equals, fromBinary, fromJson, type JsonObject, toBinary, toJson } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { Client, credentials, status, type StatusObject } from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { method } from '#lib/rpc/methods'
import { registry } from '#lib/registry'
import { whyRefused } from '../../../../compat/zitadel/translation/refused-methods.ts'
import { frameOf } from '../../testing/test-client.ts'
import { startTestGateway, type TestGateway } from '../../testing/test-gateway.ts'

const setEmail = method('roster.users.v1.UserService.SetEmail')
let gateway: TestGateway
let client: Client

beforeAll(async () => {
  gateway = await startTestGateway({ [setEmail.subject]: () => ({}) })
  client = new Client(`127.0.0.1:${gateway.port}`, credentials.createInsecure())
})
afterAll(async () => {
  client.close()
  await gateway.stop()
})

const versions = ['v1', 'v1alpha'].map((version) => `grpc.reflection.${version}.ServerReflection`)
const own = ['grpc.health.v1.Health', ...versions]
/** What only services call, and only browsers. */
const hidden = [
  ...['users', 'grants', 'idp', 'notifier'].map((service) => `roster.${service}.v1.InternalService`),
  'roster.users.v1.SignInService',
  'roster.users.v1.AccountService',
]

test('reflection shows every service that the gateway answers, and none that is internal or for pages', async () => {
  const listed = (await buf('--list-services', gateway.url)).trim().split('\n')
  const ofContract = [...registry].filter(({ kind, typeName }) => kind === 'service' && !hidden.includes(typeName))
  expect(listed.toSorted()).toEqual([...ofContract.map(({ typeName }) => typeName), ...own].toSorted())
  for (const service of listed.filter((name) => !own.includes(name)))
    for (const { name } of registry.getService(service)!.methods)
      expect((await statusOf(`/${service}/${name}`)) === 12, `${service}.${name}`).toBe(
        whyRefused(`/${service}/${name}`) !== undefined,
      )
  for (const name of hidden)
    await expect(buf('-d', '{}', `${gateway.url}/${name}/Anything`)).rejects.toThrow('failed to find service')
})

test.each([
  [setEmail.path, '{"userId":"u1","email":"a@example.com","returnCode":{}}', '{}'],
  ['/grpc.health.v1.Health/Check', '{}', '{"status":"SERVING"}'],
])('a client can call %s with nothing but reflection', async (path, data, answer) => {
  const said = await buf('-H', 'authorization: Bearer admin', '-d', data, gateway.url + path)
  expect(JSON.parse(said)).toEqual(JSON.parse(answer))
})

describe.each(versions)('%s', (service) => {
  test('gives files as they were compiled, with options and imports, and only once to a stream', async () => {
    const ask = reflect(service)
    const first = await filesOf(ask({ fileContainingSymbol: setEmail.subject }))
    expect(first).toEqual(expect.arrayContaining(['buf/validate/validate.proto', 'google/protobuf/descriptor.proto']))
    expect(await filesOf(ask({ fileContainingSymbol: 'roster.users.v1.PasswordService' }))).toEqual([
      'roster/users/v1/password_service.proto',
    ])
    expect(await filesOf(ask({ fileByFilename: first[0]! }))).toEqual([first[0]])
  })

  test('finds extensions, and no internal file', async () => {
    const ask = reflect(service)
    const { extendee, number, file } = registry.getExtension('roster.options.v1.access')!
    const containing = { containingType: extendee.typeName, extensionNumber: number }
    expect((await filesOf(ask({ fileContainingExtension: containing })))[0]).toBe(file.proto.name)
    expect(await ask({ allExtensionNumbersOfType: extendee.typeName })).toMatchObject({
      allExtensionNumbersResponse: { extensionNumber: expect.arrayContaining([number]) },
    })
    for (const asked of [
      { fileByFilename: 'roster/users/v1/internal_service.proto' },
      { fileContainingSymbol: 'roster.users.v1.InternalService' },
      { fileContainingSymbol: '' },
      {},
    ])
      expect(await ask(asked)).toMatchObject({ errorResponse: { errorCode: 5 } })
  })
})

test('a client that does not read its answers gets no more of them', async () => {
  const [asking, answered] = [20_000, 'roster.users.v1.UserService']
  const session = connect(gateway.url, { settings: { initialWindowSize: 0 } })
  onTestFinished(() => session.destroy())
  const stream = session.request({
    ':method': 'POST',
    ':path': `/${versions[0]}/ServerReflectionInfo`,
    'content-type': 'application/grpc',
  })
  const before = process.memoryUsage.rss()
  const message = frameOf(encodeRequest(versions[0]!, { fileContainingSymbol: answered }))
  stream.write(Buffer.concat(Array.from({ length: asking }, () => message)))
  // Another call is answered meanwhile, after all that the gateway does by then.
  for (let i = 0; i < 20; i++) expect(await statusOf('/a.B/C')).toBe(12)
  expect(process.memoryUsage.rss() - before).toBeLessThan(100 * 1024 * 1024)
})

async function buf(...args: string[]) {
  const program = new URL('../../../../node_modules/.bin/buf', import.meta.url).pathname
  return (await promisify(execFile)(program, ['curl', '--protocol', 'grpc', '--http2-prior-knowledge', ...args])).stdout
}

function statusOf(path: string): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  client.makeUnaryRequest(path, same, same, Buffer.alloc(0), (error) => resolve(error?.code))
  return promise
}

const same = (bytes: Buffer) => bytes
const reflection = createFileRegistry(
  fromBinary(FileDescriptorSetSchema, readFileSync(new URL('../../../../gen/grpc-reflection.binpb', import.meta.url))),
)

function encodeRequest(service: string, request: JsonObject): Buffer {
  const { input } = reflection.getService(service)!.methods[0]!
  return Buffer.from(toBinary(input, fromJson(input, request)))
}

/** Opens a stream of reflection: each request gets the next answer. */
function reflect(service: string): (request: JsonObject) => Promise<JsonObject> {
  const { output } = reflection.getService(service)!.methods[0]!
  const stream = client.makeBidiStreamRequest(`/${service}/ServerReflectionInfo`, same, same)
  stream.on('error', () => {})
  onTestFinished(() => stream.cancel())
  return async (request) => {
    const { promise, resolve } = Promise.withResolvers<Buffer>()
    stream.once('data', resolve)
    stream.write(encodeRequest(service, request))
    return toJson(output, fromBinary(output, await promise)) as JsonObject
  }
}

// The names of the files; each must be the compiled one.
async function filesOf(answer: Promise<JsonObject>): Promise<string[]> {
  const { fileDescriptorProto } = (await answer)['fileDescriptorResponse'] as { fileDescriptorProto: string[] }
  return fileDescriptorProto.map((text) => {
    const file = fromBinary(FileDescriptorProtoSchema, Buffer.from(text, 'base64'))
    expect(equals(FileDescriptorProtoSchema, file, registry.getFile(file.name)!.proto), file.name).toBe(true)
    return file.name
  })
}

test('a stream of reflection answers a thousand requests and no more', async () => {
  const call = client.makeBidiStreamRequest(
    `/${versions[0]}/ServerReflectionInfo`,
    (bytes: Buffer) => bytes,
    (bytes: Buffer) => bytes,
  )
  let answers = 0
  call.on('data', () => answers++)
  const ended = new Promise<StatusObject>((resolve) => call.on('status', resolve))
  call.on('error', () => {})
  for (let n = 0; n < 1100; n++) call.write(Buffer.alloc(0))
  call.end()
  expect(await ended).toMatchObject({ code: status.RESOURCE_EXHAUSTED })
  expect(answers).toBe(1000)
})
