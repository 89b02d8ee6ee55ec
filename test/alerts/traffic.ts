import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '@bufbuild/protobuf'
import type { Operation } from '../examples/contract.ts'
import { callJson } from '../e2e/clients/json.ts'
import type { Running } from '../faults/running.ts'

/** Calls of clients that go on whatever they are answered. */
export interface Traffic {
  /** Also calls with unknown tokens, many at a time, until the function is called that it gives. */
  identify(): () => void
  stop(): void
}

const pause = 150
const strangers = 40

/** Changes users and an identity provider, and has mails sent. */
export async function startTraffic({ url, adminToken: token }: Running): Promise<Traffic> {
  const stopped = new AbortController()
  const act = async (operation: Operation, request: JsonObject) => {
    const answer = await callJson(operation, request, { url, token })
    if (answer.error) throw new Error(`${operation}: ${JSON.stringify(answer.error)}`)
    return answer.ok
  }
  const profile = { firstName: 'Ada', lastName: 'Lovelace' }
  const { userId } = await act('AddHumanUser', { userName: 'traffic', profile, email: { email: 'a@example.com' } })
  const provider = { clientId: 'c', clientSecret: 's', issuer: 'https://issuer.example.com', scopes: ['openid'] }
  const { idpId } = await act('AddOIDCIDP', { name: 'Provider', ...provider })

  let number = 0
  const again = async (work: () => Promise<unknown>, over: AbortSignal) => {
    while (!over.aborted) {
      await work().catch(() => {})
      await sleep(pause)
    }
  }
  // Each has an address of its own, because mails to one address are limited.
  const writes = [
    () => act('SetEmail', { userId, email: `mail-${number++}@example-${number % 50}.com` }),
    () => act('UpdateIDP', { idpId, name: `Provider ${number++}`, autoRegister: true }),
  ]
  for (const write of writes) void again(write, stopped.signal)
  return {
    identify() {
      const over = new AbortController()
      const call = () => callJson('GetUser', { userId }, { url, token: randomUUID() })
      for (let stranger = 0; stranger < strangers; stranger++) void again(call, over.signal)
      return () => over.abort()
    },
    stop: () => stopped.abort(),
  }
}
