import { expect } from 'vitest'
import type { ClientKind, Clients } from './clients.ts'

/** The objects of the calls. A call finds here the ids that the calls before it left. */
export interface World {
  kind: ClientKind
  /** As the machine administrator, in `organization`. */
  admin: Clients
  /** As a human of it. */
  human: Clients
  humanId: string
  organization: string
  /** An organization that takes a grant of the project. */
  guest: string
  idpId: string
  organizationIdpId: string
  ids: Record<string, string>
}

/** A call that a client makes, and a check of its answer. */
export interface Call {
  service: keyof Clients
  method: string
  run(world: World): Promise<void>
}

const text = expect.stringMatching(/./)
/** The answer to a change. The client of ts-proto has dates and numbers, that of protobuf-es messages and bigints. */
export const done = { details: expect.objectContaining({ resourceOwner: text, changeDate: expect.anything() }) }
/** Asks a list for all that it has. */
export const query = { query: { limit: 1000, asc: true } }

/** A call that checks its answer by itself. */
export function call(service: keyof Clients, method: string, run: Call['run']): Call {
  return { service, method, run }
}

/** A call of the administrator. */
export function step(
  service: 'management' | 'admin' | 'auth' | 'user',
  method: string,
  request: (world: World) => object,
  check: (answer: any, world: World) => void = (answer) => expect(answer).toMatchObject(done),
): Call {
  return call(service, method, async (world) => {
    check(await world.admin[service][method]!(request(world)), world)
  })
}

/** Keeps an id of the answer for later calls. */
export const keep = (name: string, field: string) => (answer: any, world: World) => {
  expect(answer).toMatchObject({ [field]: text })
  world.ids[name] = answer[field]
}

/** Expects an object in the answer. */
export const has = (field: string, expected: (world: World) => object) => (answer: any, world: World) =>
  expect(answer[field]).toMatchObject(expected(world))

/** Expects an object among those of the answer. */
export const lists = (expected: (world: World) => object) => (answer: any, world: World) => {
  expect(answer.result).toContainEqual(expect.objectContaining(expected(world)))
  expect(Number(answer.details.totalResult)).toBeGreaterThanOrEqual(answer.result.length)
}

/** The id of an object that an earlier call made. */
export const id =
  (name: string) =>
  ({ ids }: World) => ({ id: ids[name] })

/** The project of these calls. */
export const project = ({ ids }: World) => ({ projectId: ids['project'] })
