import { timingSafeEqual } from 'node:crypto'
import { RosterError } from '../errors.ts'
import type { Keyring } from '../encryption/keys.ts'
import type { Log } from '../log.ts'
import { decodeStatus, encodeStatus } from '../status.ts'
import { BriefMap } from '../brief-map.ts'
import { batchCalls } from '../batch-calls.ts'
import { AnsweredBefore, type Answers, type EarlierAnswer, type Once } from '../rpc/idempotency.ts'
import { orUnavailable, type Sql } from '../database/database.ts'
import { spanOfStatement } from '../telemetry/statement-span.ts'

const pruneEvery = 60 * 60_000
const pruneAtATime = 1000
const encryptedFor = 'idempotent-answer'

/** Keeps answers in the service's own schema for 24 hours. */
export function keepAnswers(sql: Sql, keys: Keyring, log: Log): Answers {
  const underWay = new BriefMap<string, true>()
  const encrypted = new WeakSet<RosterError>()
  const timer = setInterval(() => prune().catch((err: unknown) => log.warn({ err }, 'pruning failed')), pruneEvery)

  async function find(requests: Once[]): Promise<(EarlierAnswer | RosterError | undefined)[]> {
    const ids = requests.map(({ id }) => id.toString('hex'))
    const rows = await orUnavailable(sql<AnswerRow[]>`
      select encode(id, 'hex') as id, key_id as "keyId", request, answer, failed from idempotent_answers
      where id = any(array(select decode(wanted, 'hex') from unnest(${ids}::text[]) as wanted))
        and created_at > answers_kept_since()
    `)
    const found = new Map(rows.map((row) => [row.id, row]))
    return ids.map((id, index) => {
      const row = found.get(id)
      return row && open(row, requests[index]!.request)
    })
  }

  const findOne = batchCalls(find, { span: finding })

  // The request may hold a password, so not even its plain hash is kept.
  const macOf = (keyId: string, request: string) => keys.mac('idempotent-request', keyId, [request])

  function open(row: AnswerRow, request: string): EarlierAnswer | RosterError {
    if (!timingSafeEqual(macOf(row.keyId, request), row.request))
      return new RosterError(
        'INVALID_ARGUMENT',
        'IDEMPOTENCY_KEY_REUSED',
        'The idempotency key was used for another request.',
      )
    const bytes = Buffer.from(keys.decrypt(encryptedFor, row.answer), 'base64')
    return row.failed ? { error: decodeStatus(bytes) } : { bytes }
  }

  async function run(request: Once, work: () => Promise<Uint8Array>) {
    try {
      return { bytes: await work(), replayed: false }
    } catch (error) {
      if (error instanceof AnsweredBefore) return replay(error.answer)
      if (error instanceof RosterError && encrypted.has(error)) throw error
      // The same request may have been faster at another replica. This error may come from that request's own effect.
      const meanwhile = await findOne(request)
      if (meanwhile) return replay(meanwhile)
      throw error
    }
  }

  // Delete in portions. One large statement would run into its timeout, and the same on every later try.
  async function prune() {
    let pruned = 0
    do {
      const { count } = await sql`
        delete from idempotent_answers
        where id in (select id from idempotent_answers where created_at <= answers_kept_since() limit ${pruneAtATime})
      `
      pruned = count
    } while (pruned === pruneAtATime)
  }

  return {
    async once(request, work, beforeReplay) {
      const id = request.id.toString('hex')
      if (underWay.has(id))
        throw new RosterError(
          'ABORTED',
          'REQUEST_UNDER_WAY',
          'The first request with this idempotency key is still running.',
          {
            retryAfter: 1,
          },
        )
      underWay.set(id, true)
      try {
        const earlier = await findOne(request)
        if (!earlier) return await run(request, work)
        const onReplay = await beforeReplay?.()
        const answer = replay(earlier)
        await onReplay?.()
        return answer
      } finally {
        underWay.delete(id)
      }
    },
    encrypt(request, answer) {
      const failed = 'error' in answer
      if (failed) encrypted.add(answer.error)
      const bytes = failed ? encodeStatus(answer.error) : answer.bytes
      return {
        id: request.id.toString('base64'),
        key_id: keys.currentId,
        request: macOf(keys.currentId, request.request).toString('base64'),
        answer: keys.encrypt(encryptedFor, Buffer.from(bytes).toString('base64')).toString('base64'),
        failed,
      }
    },
    find,
    stop: () => clearInterval(timer),
  }
}

const finding = spanOfStatement('SELECT idempotent_answers', { 'db.collection.name': 'idempotent_answers' })

function replay(earlier: EarlierAnswer | RosterError): { bytes: Uint8Array; replayed: boolean } {
  if (earlier instanceof RosterError) throw earlier
  if ('error' in earlier) throw Object.assign(earlier.error, { replayed: true })
  return { bytes: earlier.bytes, replayed: true }
}

interface AnswerRow {
  id: string
  keyId: string
  request: Buffer
  answer: Buffer
  failed: boolean
}
