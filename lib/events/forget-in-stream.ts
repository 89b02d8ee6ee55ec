import { type JetStreamManager, NatsError } from 'nats'
import type { Nats } from '../nats.ts'
import { streamName } from './stream.ts'
import { subjectToken } from './subject.ts'

/**
 * The keeper is asked on `roster.stream.forget.<service>.<organization>.<aggregate type>.<aggregate id>`. The broker
 * lets a service publish only with its own name there, so nobody can ask for the events of another service.
 */
export const forgetSubject = 'roster.stream.forget'

/** The types that the keeper removes, by service: those that tell of a person, who is the aggregate `user`. */
export const forgettable: Forgettable = {
  users: ['user', 'user.email.code', 'user.password.code', 'user.email.notice'],
}

export type Forgettable = Readonly<Record<string, readonly string[]>>

/** Milliseconds to wait for the keeper. A large stream takes its time. */
const patience = 20_000

/** A user that came to its end, or what belongs to it: `user.email.code` with the id of the user. */
export interface Ended {
  organizationId: string
  type: string
  id: string
}

/**
 * Removes the aggregate's events from the stream, up to the end of the user that it belongs to. That end stays: an
 * event `removed` or `forgotten`. Gives the number of removed messages. Ask only once the tail has gone past the end.
 * Otherwise the tail might take the removal for a loss.
 */
export async function forgetInStream({ ask }: Nats, service: string, ended: Ended): Promise<number> {
  const tokens = [service, ended.organizationId, ended.type, ended.id].map(subjectToken)
  const answer = await ask(`${forgetSubject}.${tokens.join('.')}`, '', { timeout: patience }).answer
  const { error, removed = 0 } = answer.json<{ error?: string; removed?: number }>()
  if (error !== undefined) throw new Error(`the keeper of the stream: ${error}`)
  return removed
}

/** Does for the keeper what `forgetInStream` asks for on this subject. */
export async function removeAsked(
  manager: JetStreamManager,
  subject: string,
  allowed: Forgettable = forgettable,
): Promise<number> {
  const [, tokens = ''] = subject.split(`${forgetSubject}.`)
  const [service, organization, type, id, ...more] = tokens.split('.')
  // A wildcard or an empty token would stand for the events of others.
  const areTokens = [service, organization, type, id].every((token) => token !== undefined && /^[\w%-]+$/.test(token))
  if (!areTokens || more.length > 0) throw new Error('this names no aggregate')
  // Nobody else's history goes: the signed checkpoints of the audit are in the same stream.
  const isForgettable = Object.hasOwn(allowed, service!) && allowed[service!]!.map(subjectToken).includes(type!)
  if (!isForgettable) throw new Error('this tells of no person')
  const [root] = type!.split(subjectToken('.'))
  const aggregate = (type: string) => `roster.events.${service}.${organization}.${type}.${id}`
  const filter = `${aggregate(type!)}.>`
  const end =
    (await placeOfLast(manager, `${aggregate(root!)}.forgotten`)) ??
    (await placeOfLast(manager, `${aggregate(root!)}.removed`))
  if (end !== undefined) return (await manager.streams.purge(streamName, { filter, seq: end })).purged
  // The end, and with it all before it, may be past its maximum age.
  const { state } = await manager.streams.info(streamName, { subjects_filter: filter })
  if (Object.keys(state.subjects ?? {}).length > 0) throw new Error('the stream has no end of this aggregate')
  return 0
}

async function placeOfLast(manager: JetStreamManager, subject: string): Promise<number | undefined> {
  try {
    return (await manager.streams.getMessage(streamName, { last_by_subj: subject })).seq
  } catch (error) {
    if (error instanceof NatsError && error.code === '404') return undefined
    throw error
  }
}
