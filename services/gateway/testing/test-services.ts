import {
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonObject,
  type JsonValue,
  toBinary,
  toJson,
} from '@bufbuild/protobuf'
import { BinaryWriter } from '@bufbuild/protobuf/wire'
import { pino } from 'pino'
import type { Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import type { Call } from '#lib/rpc/headers'
import { method } from '#lib/rpc/methods'
import { registry } from '#lib/registry'
import { serve, type Served } from '#lib/rpc/serve'
import { testReader } from '#test/support/caller-keys'

/** Operations by full method name. They take and give canonical JSON. */
export type Operations = Record<string, (request: JsonObject, call: Call) => JsonValue | Promise<JsonValue>>

export const serviceNames = ['users', 'grants', 'idp', 'notifier'] as const

/** A connection of each service. */
export type TestNats = Record<(typeof serviceNames)[number], Nats>

/**
 * Answers the operations over NATS as real services, one per package. The user `member-id` of `home` owns every object.
 */
export async function serveJsonOperations(nats: TestNats, operations: Operations): Promise<Map<string, Service>> {
  const services = new Map<string, Map<string, Served<object>>>()
  for (const [subject, operation] of Object.entries(operations)) {
    const { desc } = method(subject)
    const fullName = desc.parent.typeName
    const name = fullName.split('.')[1]!
    const ofService = services.get(name) ?? services.set(name, new Map()).get(name)!
    const served = ofService.get(fullName) ?? { definition: { fullName, methods: {} }, operations: {} }
    served.definition.methods[desc.name] = {
      name: desc.name,
      requestType: codec(desc.input),
      responseType: codec(desc.output),
    }
    served.operations[desc.name] = async (_context, request: JsonObject, call) => operation(request, call)
    ofService.set(fullName, served)
  }
  const owner = async () => ({ userId: 'member-id', organizationId: 'home' })
  const log = pino({ level: 'silent' })
  const started = [...services].map(async ([name, served]) => {
    const owners = { user_id: owner, session_id: owner }
    const readCaller = testReader(name)
    const options = {
      name,
      nats: nats[name as keyof TestNats],
      log,
      context: {},
      services: [...served.values()],
      owners,
      readCaller,
    }
    return [name, await serve(options)] as const
  })
  return new Map(await Promise.all(started))
}

function codec(desc: DescMessage) {
  return {
    encode: (json: JsonValue) => new BinaryWriter().raw(toBinary(desc, fromJson(desc, json, { registry }))),
    decode: (bytes: Uint8Array) => toJson(desc, fromBinary(desc, bytes), { registry }),
  }
}
