import {
  create,
  type DescField,
  type DescMessage,
  fromJson,
  type Message,
  ScalarType,
  toJson,
} from '@bufbuild/protobuf'
import { reflect } from '@bufbuild/protobuf/reflect'
import { anyPack } from '@bufbuild/protobuf/wkt'
import { describe, expect, test } from 'vitest'
import { methods, offered } from '#lib/rpc/methods'
import { registry } from '#lib/registry'
import { createChecker, type OpenApi, operationsOf, resolve } from '#test/support/openapi'
import { faults, valid } from '#test/support/requests'
import { openApiDocument } from './document.ts'
import { exampleBodies } from './example-bodies.ts'
import { serviceOrder } from './service-order.ts'

const document = openApiDocument('https://id.example.com/') as unknown as OpenApi
const operations = operationsOf(document)
const check = createChecker(document)
const routed = offered.filter(({ http }) => http)
const byId = new Map(operations.map((found) => [found.operation.operationId, found]))

test('the document has each route of each offered method, and no other', () => {
  const routes = routed.flatMap(({ http, moreHttp }) => [http!, ...moreHttp])
  const declared = routes.map(({ verb, template }) => `${verb} ${template.replaceAll(/\{.+?\}/g, '{}')}`)
  const described = operations.map(({ verb, path }) => `${verb} ${path.replaceAll(/\{.+?\}/g, '{}')}`)
  expect(described.toSorted()).toEqual(declared.toSorted())
})

test('it says nothing of internal methods, of pages and of their messages', () => {
  const internal = [...methods.values()].filter((method) => !offered.includes(method))
  const outside = new Set(offered.flatMap(({ desc }) => [desc.input.typeName, desc.output.typeName]))
  const names = internal.flatMap(({ desc }) => [desc.input.typeName, desc.output.typeName])
  const text = JSON.stringify(document)
  for (const name of names.filter((name) => !outside.has(name))) expect(text).not.toContain(`"${name}"`)
  expect(text).not.toMatch(/InternalService|SignInService|AccountService/)
})

test('each operation has an id of its own, and the first route of a method its name', () => {
  expect(byId.size).toBe(operations.length)
  for (const { desc } of routed) expect(byId.get(desc.name)?.operation.tags).toEqual([desc.parent.name])
})

test('services come in the order in which one needs them, and each has its place there', () => {
  const names = document.tags.map(({ name }) => name)
  expect(names).toEqual(serviceOrder)
  expect(names.slice(0, 3)).toEqual(['UserService', 'PasswordService', 'SessionService'])
})

test('it names the server, once and without a slash at its end', () => {
  expect(document.servers).toEqual([{ url: 'https://id.example.com' }])
})

test('it says who may call: with a token unless the method is public, and with which permission', () => {
  for (const { desc, access } of routed) {
    const { security, description } = byId.get(desc.name)!.operation
    expect(security.some((way) => 'bearer' in way)).toBe(access.rule !== 'public')
    if (access.permission) expect(description).toContain(`\`${access.permission}\``)
  }
})

test('it has the comment of a method, without marks for tools, and names fields as JSON does', () => {
  expect(byId.get('SetEmail')!.operation.description).toContain('returned if returnCode asks for it')
  expect(document.tags.find(({ name }) => name === 'SessionService')?.description).toBe('Sign-in of humans.')
  expect(JSON.stringify(document)).not.toContain('buf:lint')
})

test('it says where streams are: not over HTTP', () => {
  for (const { desc } of offered.filter(({ streams }) => streams)) {
    expect(byId.has(desc.name)).toBe(false)
    expect(document.tags.find(({ name }) => name === desc.parent.name)!.description).toContain(`\`${desc.name}\``)
  }
})

test('deprecated operations are marked', () => {
  for (const { desc } of routed) expect(byId.get(desc.name)!.operation.deprecated ?? false).toBe(desc.deprecated)
})

test('a write takes an Idempotency-Key, If-Match and If-None-Match, and a read does not', () => {
  for (const { desc, reads, oauth } of routed) {
    const { operation } = byId.get(desc.name)!
    const names = operation.parameters.map((each) => resolve(document, each).name as string)
    for (const name of ['Idempotency-Key', 'If-Match', 'If-None-Match'])
      expect(names.includes(name)).toBe(!reads && !oauth)
  }
})

describe('a request:', () => {
  const schemaOf = (name: string) => byId.get(name)?.operation.requestBody?.content['application/json']?.schema
  const named = Object.entries(valid).map(([name, request]) => [name.split('.').at(-1)!, name, request] as const)
  const withoutPath = (name: string, request: object) => {
    const inPath = [...byId.get(name)!.path.matchAll(/\{(.+?)\}/g)].map(([, each]) => each!)
    return Object.fromEntries(Object.entries(request).filter(([key]) => !inPath.includes(key)))
  }

  test.each(named)('the shortest %s fits its schema, and no field of it can go', (name, full, request) => {
    const body = withoutPath(name, request)
    expect(check(schemaOf(name), body)).toEqual([])
    for (const key of Object.keys(body)) {
      const { [key]: _, ...less } = body
      if (faults(full, { ...request, [key]: null }).length > 0) expect(check(schemaOf(name), less)).not.toEqual([])
    }
  })

  test('the rules of fields are in the schema', () => {
    const at = (more: object) =>
      check(schemaOf('AddHumanUser'), { ...valid['users.v1.UserService.AddHumanUser'], ...more })
    expect(at({ userId: 'a-b_c' })).toEqual([])
    expect(at({ userId: 'a b' })).not.toEqual([])
    expect(at({ userName: 'x'.repeat(201) })).not.toEqual([])
    expect(at({ userName: '🦊'.repeat(200) })).toEqual([])
    expect(at({ email: { email: 'no address' } })).not.toEqual([])
    expect(at({ profile: { firstName: 'A', lastName: 'B', gender: 'GENDER_UNKNOWN_TO_ALL' } })).not.toEqual([])
    expect(at({ unknown: 1 })).not.toEqual([])
  })
})

describe('an example of a request', () => {
  const bodies = operations.flatMap(({ path, operation }) =>
    Object.values(operation.requestBody?.content ?? {}).map((media) => ({ path, id: operation.operationId, ...media })),
  )

  test.each(bodies)('fits the schema and the rules: $id', ({ path, id, schema, example }) => {
    expect(check(schema, example)).toEqual([])
    const method = routed.find(({ desc }) => desc.name === id.replace(/\d$/, ''))!
    if (method.oauth) return
    const found = faults(method.subject.replace('roster.', ''), example)
    expect(found.filter((field) => !path.includes(`{${field}}`))).toEqual([])
  })

  test('has values that mean something for the five operations', () => {
    const of = (id: string) => bodies.find((body) => body.id === id)!.example
    expect(of('UpdateMyProfile')).toEqual({ firstName: 'Ada', lastName: 'Lovelace', displayName: 'Ada Lovelace' })
    expect(of('UpdateIDP')).toEqual({ name: 'Example Inc.' })
    expect(of('AddMachineUser')).toMatchObject({ userName: 'deploy-robot', name: 'Deployment robot' })
    expect(of('SetEmail')).toEqual({ email: 'ada@example.com' })
    expect(of('AddUserGrant')).toEqual({ projectId: 'shop', roleKeys: ['reader'] })
  })

  test('has no value that is the name of its field', () => {
    const named = (value: unknown): string[] =>
      typeof value !== 'object' || value === null
        ? []
        : Object.entries(value).flatMap(([name, each]) => [
            ...([each].flat().includes(name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`))
              ? [name]
              : []),
            ...named(each),
          ])
    expect(bodies.flatMap(({ id, example }) => named(example).map((name) => `${id}: ${name}`))).toEqual([])
    const inPaths = operations.flatMap(({ operation }) => operation.parameters.map((each) => resolve(document, each)))
    expect(inPaths.filter((each) => each.in === 'path' && each['example'] === undefined)).toEqual([])
  })

  test('is of an operation that there is', () => {
    expect(Object.keys(exampleBodies).filter((id) => !byId.has(id))).toEqual([])
  })
})

describe('generators of clients can read it:', () => {
  const components = Object.entries(document.components['schemas']!)

  test('no schema has alternatives, and none is a boolean', () => {
    const schemas = schemasIn(document)
    expect(schemas.length).toBeGreaterThan(1000)
    for (const schema of schemas) {
      expect(schema).toBeTypeOf('object')
      for (const keyword of ['oneOf', 'anyOf', 'allOf', 'not']) expect(schema).not.toHaveProperty(keyword)
    }
  })

  test('of a choice each member is an optional property, and the text says how many of them may be given', () => {
    const text = 'At most one of `sendCode`, `returnCode` and `isVerified` may be given.'
    for (const name of ['SetEmailBody', 'SetHumanEmail']) {
      const { description, properties, required } = document.components['schemas']![name]!
      expect(description).toContain(text)
      expect(required).toEqual(['email'])
      for (const member of ['sendCode', 'returnCode', 'isVerified'])
        expect(properties[member].description).toContain(text)
    }
    const { UserToAdd, BulkResult } = document.components['schemas']!
    expect(UserToAdd!.description).toContain('Exactly one of `human` and `machine` must be given.')
    expect(BulkResult!.description).toContain('At most one of `done` and `error` is there.')
  })

  test('each variable of a path is a parameter under its name, and no other parameter is of the path', () => {
    for (const { path, operation } of operations) {
      const declared = operation.parameters.map((each) => resolve(document, each)).filter((each) => each.in === 'path')
      const names = [...path.matchAll(/\{(.*?)\}/g)].map(([, name]) => name)
      expect(declared.map(({ name }) => name)).toEqual(names)
    }
  })

  test('each body is a named schema', () => {
    const bodies = operations.flatMap(({ operation: { requestBody } }) => Object.values(requestBody?.content ?? {}))
    expect(bodies.length).toBeGreaterThan(50)
    for (const { schema } of bodies)
      expect(schema).toEqual({ $ref: expect.stringMatching(/^#\/components\/schemas\/\w+$/) })
  })

  test('names of schemas are those of classes, in one file each, and none is one that Go makes of another', () => {
    const names = components.map(([name]) => name)
    for (const name of names) expect(name).toMatch(/^[A-Z][A-Za-z0-9]*$/)
    const files = [...names, ...operations.map(({ operation }) => `${operation.operationId}Response`)]
    expect(new Set(files.map((name) => name.toLowerCase())).size).toBe(files.length)
    for (const name of names) expect(names).not.toContain(`New${name}`)
  })
})

describe('an answer with every field, as canonical JSON writes it, fits its schema:', () => {
  test.each(routed.map((method) => [method.desc.name, method] as const))('%s', (name, { desc, oauth }) => {
    const { schema } = byId.get(name)!.operation.responses['200'].content['application/json']
    for (const choice of [0, 1, 2]) {
      const json = toJson(desc.output, sample(desc.output, choice), {
        registry,
        useProtoFieldName: oauth !== undefined,
      })
      expect(check(schema, json)).toEqual([])
    }
  })
})

/** Every schema of a document, with those inside of it. */
function schemasIn(part: any, isSchema = false): unknown[] {
  if (typeof part !== 'object' || part === null) return isSchema ? [part] : []
  const inner = Object.entries<any>(part).flatMap(([key, value]) => {
    if (['properties', 'schemas'].includes(key))
      return Object.values<any>(value).flatMap((each) => schemasIn(each, true))
    // No property but those that are named: generators know this boolean.
    if (key === 'additionalProperties' && value === false) return []
    return schemasIn(value, ['schema', 'items', 'additionalProperties', 'propertyNames'].includes(key))
  })
  return isSchema ? [part, ...inner] : inner
}

/** A message in which every field is set; of a oneof, the member of this number. */
function sample(desc: DescMessage, choice: number, depth = 0): Message {
  const message = reflect(desc, create(desc))
  for (const field of desc.fields) {
    const chosen = field.oneof?.fields[choice % field.oneof.fields.length]
    if ((field.oneof && field !== chosen) || depth > 4) continue
    if (field.fieldKind === 'list') message.get(field).add(single(field, choice, depth))
    else if (field.fieldKind === 'map') message.get(field).set('key', single(field, choice, depth))
    else message.set(field, single(field, choice, depth))
  }
  return message.message
}

// The details of an error, as a result of a bulk has them.
const errorInfo = registry.getMessage('google.rpc.ErrorInfo')!

function single(field: DescField, choice: number, depth: number): unknown {
  if (field.message?.typeName === 'google.protobuf.Struct')
    return reflect(field.message, fromJson(field.message, { a: [1, 'b', null] }))
  if (field.message?.typeName === 'google.protobuf.Any')
    return reflect(field.message, anyPack(errorInfo, sample(errorInfo, choice)))
  if (field.message) return reflect(field.message, sample(field.message, choice, depth + 1))
  if (field.enum) return field.enum.values.at(-1)!.number
  switch (field.scalar) {
    case ScalarType.STRING:
      return 'text'
    case ScalarType.BOOL:
      return true
    case ScalarType.BYTES:
      return Uint8Array.from([1, 2, 3])
    case ScalarType.INT64:
    case ScalarType.UINT64:
      return 7n
    default:
      return 7
  }
}
