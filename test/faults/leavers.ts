import { isDeepStrictEqual } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import { verifyReceipt } from '../../operator/erasure/receipt.ts'
import { act } from './act.ts'
import type { Inspection } from './inspect.ts'
import type { Random } from './random.ts'
import type { Running } from './running.ts'

/** What a removal takes in its own transaction, and what follows it (docs/erasure.md). */
const erased = ['key', 'searches', 'tokens', 'passwords', 'knownAddresses', 'waitingMails', 'userName']
const follows = ['stream', 'deliveries', 'statistics']

/** Milliseconds in which they leave one by one: before the fault, under it and after it. */
const leaveWithin = 2500

/** A user who is removed alone, under a fault. */
export interface Leaver {
  userId: string
  organizationId: string
  /** The names and addresses of the user have it. */
  marker: string
  /** The Idempotency-Key of the removal. */
  key: string
}

/** A leaver, and the answer to the removal. */
export interface Left extends Leaver {
  answer: any
}

/** Adds users who have had two names and two addresses, and wait for mails. */
export function makeLeavers(running: Running, id: string, howMany = 4): Promise<Leaver[]> {
  return Promise.all(
    Array.from({ length: howMany }, async (_, number) => {
      const marker = `leaver-${id}-${number}`
      const human = { userName: marker, profile: { firstName: marker, lastName: marker } }
      const email = { email: `${marker}@example.com` }
      const added = await act(running, 'AddHumanUser', { ...human, email, password: 'Password-1234' })
      const { userId, details } = added
      await act(running, 'UpdateUserName', { userId, userName: `${marker}-renamed` })
      await act(running, 'SetEmail', { userId, email: `${marker}@example.org` })
      return { userId, organizationId: details.resourceOwner, marker, key: `leave-${id}-${number}` }
    }),
  )
}

/** Removes them, each at a time of its own, however often the call has to be repeated. */
export function removeLeavers(running: Running, leavers: Leaver[], random: Random): Promise<Left[]> {
  return Promise.all(
    leavers.map(async (leaver) => {
      await sleep(random.between(0, leaveWithin))
      return { ...leaver, answer: await askToRemove(running, leaver) }
    }),
  )
}

/**
 * Verifies the receipt of each removal without any server, as the operator's command does, and compares it with what is
 * stored. Asks for each removal again: the answer must be the same.
 */
export async function checkReceipts(running: Running, inspection: Inspection, left: Left[]): Promise<string[]> {
  const keys = await keysOf(running)
  const stored = await inspection.stored()
  const wrong: string[] = []
  for (const leaver of left) {
    const { userId, organizationId, answer } = leaver
    const removals = stored.filter(({ aggregate, type }) => aggregate === `user ${userId}` && type === 'removed')
    const content = await verifyReceipt(String(answer.receipt), keys)
    const expected = {
      userId,
      organizationId,
      sequence: Number(answer.details.sequence),
      removedAt: new Date(answer.details.changeDate).toISOString(),
      removedBy: 'admin-machine',
      forgotten: erased,
      follows,
    }
    const { removal = {} } = (content ?? {}) as { removal?: Record<string, unknown> }
    const said = Object.fromEntries(Object.keys(expected).map((name) => [name, removal[name]]))
    if (!content) wrong.push(`no key made the receipt for ${userId}`)
    else if (!isDeepStrictEqual(said, expected)) wrong.push(`the receipt for ${userId} says ${JSON.stringify(removal)}`)
    if (
      !isDeepStrictEqual(
        removals.map(({ sequence }) => sequence),
        [expected.sequence],
      )
    )
      wrong.push(`${userId} was removed ${removals.length} times, and the receipt names event ${expected.sequence}`)
    if (!isDeepStrictEqual(await askToRemove(running, leaver), answer))
      wrong.push(`the removal of ${userId} has another answer now`)
  }
  return wrong
}

/** Asks for the removal, and for the same one when it is asked again. */
export function askToRemove(running: Running, { userId, key }: Leaver): Promise<any> {
  return act(running, 'DeleteUser', { userId }, { headers: { 'idempotency-key': key } })
}

async function keysOf({ url }: Running): Promise<string> {
  for (let tries = 1; ; tries++, await sleep(200)) {
    const answer = await fetch(`${url}/oauth/v2/keys`).catch(() => undefined)
    if (answer?.ok) return answer.text()
    if (tries === 100) throw new Error('/oauth/v2/keys was never answered')
  }
}
