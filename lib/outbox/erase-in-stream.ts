import { type JetStreamManager, NatsError, type StoredMsg, type MsgRequest } from 'nats'
import type { Nats } from '../nats/connect-nats.ts'
import { readEvent } from '../events/cloud-event.ts'
import { namesOf } from '../events/messages.ts'
import { streamName } from '../events/stream.ts'
import { subjectToken } from '../events/subject.ts'

/**
 * The keeper is asked on `roster.stream.forget.<service>.<organization>.<aggregate type>.<aggregate id>`. The broker
 * lets a service publish only with its own name there, so no service can ask for the events of another one.
 */
export const eraseSubject = 'roster.stream.forget'

/**
 * The types that the keeper removes, by service: those that are about a person, who is the aggregate `user`. What
 * belongs to it goes with it: `user.email.code` with the id of the user.
 */
export const erasable: Erasable = {
  users: ['user', 'user.email.code', 'user.password.code', 'user.email.notice', 'user.signin', 'user.signin.code'],
}

export type Erasable = Readonly<Record<string, readonly string[]>>

/** Milliseconds to wait for the keeper. A large stream takes its time. */
const patience = 20_000

/** A user that came to its end. */
export interface Ended {
  organizationId: string
  type: string
  id: string
}

/** How many messages were removed, and of which types of aggregates. */
export interface Removed {
  removed: number
  types: string[]
}

/**
 * Removes from the stream the events of the aggregate, and of what belongs to it, up to its end. The end stays: an
 * event `removed` that cannot be undone, or `forgotten`. Ask only once the outbox has gone past the end. Otherwise the
 * outbox might take the removal for a loss.
 */
export async function eraseInStream({ ask }: Nats, service: string, ended: Ended): Promise<Removed> {
  const tokens = [service, ended.organizationId, ended.type, ended.id].map(subjectToken)
  const answer = await ask(`${eraseSubject}.${tokens.join('.')}`, '', { timeout: patience }).answer
  const { error, removed = 0, types = [] } = answer.json<{ error?: string } & Partial<Removed>>()
  if (error !== undefined) throw new Error(`the keeper of the stream: ${error}`)
  return { removed, types }
}

/** Does for the keeper what is asked for on this subject. */
export async function removeAsked(
  manager: JetStreamManager,
  subject: string,
  allowed: Erasable = erasable,
): Promise<Removed> {
  const [, tokens = ''] = subject.split(`${eraseSubject}.`)
  const [service, organization, type, id, ...more] = tokens.split('.')
  // A wildcard or an empty token would stand for the events of others.
  const areTokens = [service, organization, type, id].every((token) => token !== undefined && /^[\w%-]+$/.test(token))
  if (!areTokens || more.length > 0) throw new Error('this names no aggregate')
  // No other history goes: the signed checkpoints of the audit are in the same stream.
  const types = Object.hasOwn(allowed, service!) ? allowed[service!]!.filter((one) => one.split('.')[0] === type) : []
  if (types.length === 0) throw new Error('no event type of this service is about a person')
  const filters = types.map((one) => `roster.events.${service}.${organization}.${subjectToken(one)}.${id}.>`)
  const end = await placeOfEnd(manager, { service: service!, organization: organization!, type: type!, id: id! })
  if (end !== undefined) {
    const removed = await Promise.all(filters.map((filter) => removeBefore(manager, filter, end)))
    return { removed: removed.reduce((sum, count) => sum + count, 0), types }
  }
  // The end, and with it all before it, may be past its maximum age.
  for (const filter of filters) {
    const { state } = await manager.streams.info(streamName, { subjects_filter: filter })
    if (Object.keys(state.subjects ?? {}).length > 0) throw new Error('the stream has no end of this aggregate')
  }
  return { removed: 0, types }
}

/**
 * Deletes messages one by one: with nats-server before 2.9.15, a purge by subject makes a lagging consumer skip messages
 * of other subjects. After a timeout, what is deleted stays deleted, and the next request continues.
 */
async function removeBefore(manager: JetStreamManager, filter: string, end: number): Promise<number> {
  let removed = 0
  for (let next = await nextOfSubject(manager, filter, 1); next && next.seq < end;) {
    const { seq } = next
    const failure = await manager.streams.deleteMessage(streamName, seq, false).then(() => undefined, asError)
    if (!failure) removed++
    next = await nextOfSubject(manager, filter, seq)
    // Otherwise another request has removed it meanwhile.
    if (failure && next?.seq === seq) throw failure
  }
  return removed
}

const asError = (error: Error) => error

/** The tokens of an aggregate's subject. */
interface Named {
  service: string
  organization: string
  type: string
  id: string
}

async function placeOfEnd(manager: JetStreamManager, named: Named): Promise<number | undefined> {
  const { service, organization, type, id } = named
  for (const end of ['forgotten', 'removed']) {
    const message = await lastOfSubject(manager, `roster.events.${service}.${organization}.${type}.${id}.${end}`)
    if (message && isEnd(message, named, end)) return message.seq
  }
  return undefined
}

// Any message of the service may lie on that subject. So it must be this event, and one that cannot be undone.
function isEnd(message: StoredMsg, { service, organization, type, id }: Named, end: string): boolean {
  try {
    const event = readEvent({ headers: message.header, json: () => message.json() })
    return (
      event !== undefined &&
      event.type === namesOf(type, end).type &&
      event.source === `/roster/${service}` &&
      new RegExp(`^${service}-\\d{1,16}$`).test(event.id) &&
      event.aggregateType === type &&
      subjectToken(event.aggregateId) === id &&
      subjectToken(event.organizationId) === organization &&
      (event.data as { forgetAt?: unknown }).forgetAt === undefined
    )
  } catch {
    return false
  }
}

/** The last message on a subject, which may have wildcards. */
export function lastOfSubject(manager: JetStreamManager, subject: string): Promise<StoredMsg | undefined> {
  return findMessage(manager, { last_by_subj: subject })
}

/** The first message on a subject from a place on. The client's types know this question of nats-server 2.9 only in part. */
export function nextOfSubject(manager: JetStreamManager, subject: string, seq: number): Promise<StoredMsg | undefined> {
  return findMessage(manager, { seq, next_by_subj: subject } as MsgRequest)
}

async function findMessage(manager: JetStreamManager, asked: MsgRequest): Promise<StoredMsg | undefined> {
  try {
    return await manager.streams.getMessage(streamName, asked)
  } catch (error) {
    if (error instanceof NatsError && error.code === '404') return undefined
    throw error
  }
}
