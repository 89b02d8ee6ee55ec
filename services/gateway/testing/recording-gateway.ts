import type { JsonObject } from '@bufbuild/protobuf'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { Call } from '#lib/rpc/headers'
import type { Method } from '#lib/rpc/methods'
import { type Answer, ask, type Request } from './raw-calls.ts'
import { startTestGateway, type TestGateway } from './test-gateway.ts'

/** The gateway of a file of tests. */
export interface RecordingGateway {
  gateway: TestGateway
  /** What the services got in this test. */
  received: { request: JsonObject; call: Call }[]
  /** What they answer in this test: nothing, unless it says otherwise. */
  answer: () => JsonObject
  ask(path: string, request: Request): Promise<Answer>
}

/** Starts a gateway for all tests of a file. Its services record what they get for these methods. */
export function recordingGateway(...methods: Method[]): RecordingGateway {
  const all = { ask: (path, request) => ask(all.gateway.url + path, request) } as RecordingGateway
  const take = async (request: JsonObject, call: Call) => {
    all.received.push({ request, call })
    return all.answer()
  }
  beforeAll(async () => {
    all.gateway = await startTestGateway(Object.fromEntries(methods.map(({ subject }) => [subject, take])))
  })
  afterAll(() => all.gateway?.stop())
  beforeEach(() => Object.assign(all, { received: [], answer: () => ({}) }))
  return all
}
