import { createHash } from 'node:crypto'
import type { RosterError } from '../errors.ts'

/** An idempotent request: it has one effect, however often it comes. */
export interface Once {
  /** Names the request: caller, method and Idempotency-Key in one hash. */
  id: Buffer
  /** The whole content of the request. Another request under the same key differs in it. */
  request: string
  encode(response: unknown): Uint8Array
}

/** The earlier answer: bytes of the response, or the error. */
export type EarlierAnswer = { bytes: Uint8Array } | { error: RosterError }

/** The store throws this where a request was answered before. */
export class AnsweredBefore extends Error {
  readonly answer: EarlierAnswer

  constructor(answer: EarlierAnswer) {
    super('answered before')
    this.answer = answer
  }
}

/**
 * The answers to requests with an idempotency key: see lib/eventstore/idempotent-answers.ts. They are encrypted, because
 * an answer may hold a code or token that is shown once.
 */
export interface Answers {
  /**
   * Runs the work unless its request was answered before. In that case returns the earlier answer, marked as
   * `replayed`. INVALID_ARGUMENT IDEMPOTENCY_KEY_REUSED for another request under the same key. ABORTED
   * REQUEST_UNDER_WAY while the request still runs in this process.
   * `beforeReplay` runs before the caller learns anything about an earlier request, and may throw. Its result runs once
   * the earlier request is found to be the same one and to have succeeded.
   */
  once(
    request: Once,
    work: () => Promise<Uint8Array>,
    beforeReplay?: () => Promise<void | (() => Promise<void>)>,
  ): Promise<{ bytes: Uint8Array; replayed: boolean }>
  /** The answer as `append` stores it, in the transaction of the request's effect. */
  encrypt(request: Once, answer: EarlierAnswer): EncryptedAnswer
  /** The earlier answers to these requests, in their order. */
  find(requests: Once[]): Promise<(EarlierAnswer | RosterError | undefined)[]>
  stop(): void
}

/** A row of idempotent_answers, bytes in base64. */
export interface EncryptedAnswer {
  id: string
  key_id: string
  request: string
  answer: string
  failed: boolean
}

/** The id of a request: a hash of sender, method and key. */
export function onceId(scope: string[]): Buffer {
  return createHash('sha256').update(JSON.stringify(scope)).digest()
}
