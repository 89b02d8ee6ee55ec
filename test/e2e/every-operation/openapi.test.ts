import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { addEveryObject } from '../../examples/every-object.ts'
import { createChecker, type OpenApi, type OpenApiOperation, operationsOf, resolve } from '../../support/openapi.ts'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.ts'
import { callGrpc } from '../clients/grpc.ts'
import { startOwnHouse } from '../own-house.ts'

// It removes all that there is, so it has a Roster of its own.
const byUrl = inject('roster').house === undefined
const why = byUrl ? ' (skipped: it takes a Roster of its own)' : ''

let receiver: TestReceiver
let house: Awaited<ReturnType<typeof startOwnHouse>>
let document: OpenApi
let values: Record<string, string>
let headers: Record<string, string>

beforeAll(async () => {
  if (byUrl) return
  receiver = await startTestReceiver()
  house = await startOwnHouse({}, { WEBHOOK_ALLOW_PRIVATE: '127.0.0.1' })
  const world = await addEveryObject(callGrpc, house.machine, receiver.url)
  values = world.values
  headers = { authorization: `Bearer ${house.adminToken}`, 'x-service-orgid': world.callers[0]!.organization! }
  document = (await (await fetch(`${house.url}/openapi.json`)).json()) as OpenApi
}, 120_000)
afterAll(async () => {
  await house?.stop()
  await receiver?.stop()
})

describe.skipIf(byUrl)(`the OpenAPI document of a running Roster${why}`, () => {
  test('has examples that work as they are, sent one after the other, for what a newcomer tries', async () => {
    const operations = operationsOf(document)
    for (const id of firstSteps) {
      const { path, verb, operation } = operations.find((each) => each.operation.operationId === id)!
      const named = new Map(
        operation.parameters.map((each) => resolve(document, each)).map((each) => [each.name, each]),
      )
      const filled = path.replaceAll(/\{(.+?)\}/g, (_, name: string) => named.get(name)!.example)
      const example = operation.requestBody?.content['application/json']!.example
      const headers = { authorization: `Bearer ${house.adminToken}`, 'content-type': 'application/json' }
      const body = example && JSON.stringify(example)
      const answer = await fetch(house.url + filled, { method: verb, headers, ...(body && { body }) })
      expect(answer.status, `${id} ${filled} ${body}: ${await answer.clone().text()}`).toBe(200)
      // Those of a bulk are refused each.
      expect(await answer.text()).not.toContain('"error"')
    }
  })

  test('is enough to call every path: each answer has a status and a body that it describes', async () => {
    const check = createChecker(document)
    const faults: string[] = []
    const done = new Set<string>()
    const operations = inOrder(operationsOf(document))
    expect(operations.length).toBeGreaterThan(50)
    for (const { path, verb, operation } of operations)
      for (const request of requestsOf(path, verb, operation)) {
        const response = await fetch(house.url + request.path, request.init)
        const text = await response.text()
        const at = `${verb} ${request.path} ${request.init.body ?? ''}: ${response.status}`
        const { description, content } = described(operation, response.status)
        const schema = content?.[String(response.headers.get('content-type'))]?.schema
        if (!schema) faults.push(`${at} is not described (${description})`)
        else for (const fault of check(schema, JSON.parse(text))) faults.push(`${at} ${fault}`)
        // The example's provider is nowhere.
        const isFailure = response.status >= 500 && !text.includes('IDP_NOT_AVAILABLE')
        if (/PATH_NOT_FOUND/.test(text) || isFailure || [405, 413, 415].includes(response.status))
          faults.push(`${at} ${text}`)
        if (response.ok) done.add(operation.operationId)
      }
    console.log(`${done.size} of ${operations.length} operations of /openapi.json succeeded, all others were refused`)
    expect(faults).toEqual([])
    // The others need what no one can make up, such as a code from a mail.
    expect(done.size).toBeGreaterThan(operations.length * 0.6)
  }, 120_000)

  test('describes the server that it came from, and names only security schemes that it has', () => {
    for (const { operation } of operationsOf(document))
      for (const way of operation.security)
        for (const name of Object.keys(way)) expect(document.components['securitySchemes']).toHaveProperty(name)
  })
})

/** What a newcomer tries, in the order of the page /docs. */
const firstSteps = [
  'AddHumanUser',
  'AddMachineUser',
  'BulkAddUsers',
  'SearchUsers',
  'GetUser',
  'UpdateHumanProfile',
  'UpdateMachine',
  'CreateSession',
  'AddOrganization',
  'GetOrganization',
  'AddOrganizationMember',
  'AddProject',
  'GetProject',
  'UpdateProject',
  'AddProjectRole',
  'BulkAddProjectRoles',
  'UpdateProjectRole',
  'AddProjectGrant',
  'AddOIDCApplication',
  'AddAPIApplication',
  'AddUserGrant',
  'BulkAddUserGrants',
  'SearchUserGrants',
  'ListUserRoles',
  'AddPersonalAccessToken',
  'AddMachineKey',
  'AddMachineSecret',
  'ExplainPermission',
  'ExplainSignIn',
  'UpdateLoginPolicy',
  'SearchEvents',
  'AddOIDCIDP',
  'AddOAuthIDP',
  'AddJWTIDP',
  'AddLDAPIDP',
  'RequestPasswordReset',
]

/** Additions come first and removals last: the objects are there for the others. */
function inOrder<T extends { path: string; verb: string; operation: OpenApiOperation }>(operations: T[]): T[] {
  const late = [
    /^(Deactivate|Lock)/,
    /^(Reactivate|Unlock)/,
    /^Revoke/,
    /^Remove/,
    // It ends the secret that RemoveMachineSecret removes, and makes the one for RemoveMachineSecrets.
    /^GenerateMachineSecret/,
    /^RemoveMachineSecrets/,
    /^Delete/,
    /^(Remove|Delete).*Org/,
  ]
  const place = ({ operation }: T) => late.findLastIndex((names) => names.test(operation.operationId))
  return operations.toSorted((left, right) => place(left) - place(right))
}

function described(operation: OpenApiOperation, status: number) {
  return resolve(document, operation.responses[status] ?? operation.responses['default'])
}

/** Requests made of the document alone: with an unknown id of each object, with known ones, and with every field. */
function requestsOf(path: string, verb: string, operation: OpenApiOperation) {
  return [
    requestOf(path, verb, operation, { values: {}, isFull: false }),
    requestOf(path, verb, operation, { values, isFull: true }),
    requestOf(path, verb, operation, { values, isFull: false }),
  ]
}

interface Wish {
  /** Texts by the names of the properties that have them. */
  values: Record<string, string>
  /** Whether to send what need not be sent. */
  isFull: boolean
}

function requestOf(path: string, verb: string, { parameters, requestBody }: OpenApiOperation, wish: Wish) {
  const query = new URLSearchParams()
  let filled = path
  for (const parameter of parameters.map((each) => resolve(document, each))) {
    const value = () => String(valueOf(parameter.schema, wish, parameter.name))
    if (parameter.in === 'path') filled = filled.replace(`{${parameter.name}}`, encodeURIComponent(value()))
    if (parameter.in === 'query' && (parameter.required || wish.isFull)) query.append(parameter.name, value())
  }
  const [[type, { schema }] = ['', { schema: undefined }]] = Object.entries(requestBody?.content ?? {})
  const body = schema && valueOf(schema, wish)
  const isForm = type === 'application/x-www-form-urlencoded'
  return {
    path: query.size > 0 ? `${filled}?${query.toString()}` : filled,
    init: {
      method: verb,
      headers: { ...headers, ...(type && { 'content-type': type }) },
      ...(body && {
        body: isForm ? new URLSearchParams(body as Record<string, string>).toString() : JSON.stringify(body),
      }),
    },
  }
}

/** A value that fits the schema. */
function valueOf(reference: any, wish: Wish, name = '', depth = 0): unknown {
  const schema = { ...resolve(document, reference), ...reference }
  if (schema.enum) return schema.enum.at(-1)
  if (schema.type === 'object') return objectOf(schema, wish, depth)
  if (schema.type === 'array') return [valueOf(schema.items, wish, name, depth)]
  if (schema.type === 'boolean') return true
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1
  const text = wish.values[name] ?? wish.values[name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())]
  return text || textOf(schema)
}

function objectOf({ properties = {}, required = [], description = '' }: any, wish: Wish, depth: number): unknown {
  const choices = [...(description as string).matchAll(/(Exactly|At most) one of (.*?) (?:may|must) be given/g)]
  const members = choices.map(([, , names]) => [...names!.matchAll(/`(.*?)`/g)].map(([, name]) => name!))
  const others = members.flatMap((names) => names.slice(1))
  const needed = [...required, ...members.flatMap(([first], at) => (choices[at]![1] === 'Exactly' ? [first] : []))]
  const names = Object.keys(properties).filter(
    (name) => needed.includes(name) || (wish.isFull && depth < 4 && !others.includes(name)),
  )
  return Object.fromEntries(names.map((name) => [name, valueOf(properties[name], wish, name, depth + 1)]))
}

function textOf({ format, pattern, minLength = 1 }: any): string {
  const formats: Record<string, string> = {
    'date-time': new Date(Date.now() + 30 * 24 * 3600_000).toISOString(),
    uri: 'https://example.com/',
  }
  const candidates = [
    formats[format] ?? 'x'.repeat(minLength),
    '7',
    '7s',
    'text',
    'Text',
    'TEXT',
    'someone@example.com',
    '',
  ]
  return candidates.find((text) => !pattern || new RegExp(pattern, 'u').test(text)) ?? candidates[0]!
}
