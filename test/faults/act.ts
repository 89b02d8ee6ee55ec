import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '@bufbuild/protobuf'
import type { Operation } from '../examples/contract.ts'
import { factsOf } from '../e2e/clients/call.ts'
import { callJson } from '../e2e/clients/json.ts'
import { retriable, unlessItHangs } from './load.ts'
import type { Called } from './running.ts'

const giveUpAfter = 60_000

/** Calls an operation until it is done. Throws where it is refused for good. */
export async function act(
  { url, adminToken: token }: Called,
  operation: Operation,
  request: JsonObject,
  options: object = {},
) {
  for (const end = Date.now() + giveUpAfter; ; await sleep(200)) {
    const answer = await unlessItHangs(callJson(operation, request, { url, token, ...options })).catch(() => undefined)
    if (answer && !answer.error) return answer.ok
    if (answer && !retriable.includes(factsOf(answer).code))
      throw new Error(`${operation}: ${JSON.stringify(answer.error)}`)
    if (Date.now() > end) throw new Error(`${operation} was never answered`)
  }
}
