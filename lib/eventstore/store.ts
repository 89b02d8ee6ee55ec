import type { Vocabulary } from './vocabulary.ts'
import type { Log } from '../log.ts'
import { deadlineExceeded, RosterError } from '../errors.ts'
import { keyText } from './aggregate.ts'
import { attempt, giveUp, refuseTaken } from './attempt.ts'
import { type AnyCommand, knowNothing, type Pending } from './batch.ts'
import { type Bulk, createBulks } from './bulk.ts'
import type { Command, NewEvent, Outcome } from './command.ts'
import { isConnectionError, type Sql, storeUnavailable } from '../database/database.ts'
import type { EventRow } from '../events/stored-event.ts'
import { telemetry } from '../telemetry/telemetry.ts'
import { createLoader, type Loader } from './load-folded.ts'
import { largestEvent } from './limits.ts'
import { waiting, waitingAge } from './measures.ts'
import type { Reads } from './reads.ts'
import { type Answers, AnsweredBefore } from '../rpc/idempotency.ts'
import type { Personal } from '../encryption/personal.ts'

export interface Store extends Loader {
  /**
   * Decides and stores a command. Commands of the same moment share a transaction. Each is answered once it is durable.
   * Throws the error of the decision. DEADLINE_EXCEEDED where the command did not start in time. UNAVAILABLE
   * STORE_OVERLOADED where too many commands wait. UNAVAILABLE STORE_UNAVAILABLE leaves open whether it was stored.
   */
  execute<State, Event extends NewEvent, Answer, Response = Outcome<State, Answer>, Keys extends Reads = Reads>(
    command: Command<State, Event, Answer, Response, Keys>,
  ): Promise<Response>
  /**
   * Decides and stores the commands of one request in one transaction. A command that is refused does not hinder the
   * others, and the order of the commands is that of their decisions. Under an Idempotency-Key the whole answer is
   * stored. One bulk at a time runs beside the single commands, and their owners are served round robin.
   * FAILED_PRECONDITION SEQUENCE_MISMATCH for an If-Match. Errors of `execute` otherwise.
   */
  executeAll<Response, Answer>(bulk: Bulk<Response, Answer>): Promise<Answer>
}

const maxBatch = 64
const maxUnderWay = 2
/**
 * The commands that must wait for a second transaction beside another one. Each transaction costs as much as several
 * commands, so it is cheaper to wait for the first one, and to let more commands share the next.
 */
const enoughForAnother = 32
/** Milliseconds after which a transaction no longer holds up the commands that wait: a lock may keep it for long. */
const patience = 50
const maxAttempts = 20
/**
 * The most commands that may wait. Further ones would only miss their deadlines here, and take memory from the others.
 */
const maxWaiting = 10_000

/**
 * Decides and stores commands over one database. `committed` gets the events of each commit. `answers` keeps the
 * answers to keyed requests. An event larger than `mostEventBytes` is refused: RESOURCE_EXHAUSTED LIMIT_REACHED.
 * `personal` encrypts what the vocabulary says is personal. `refuseBesideFormer` throws while a replica of the former
 * release runs, for which new events wait.
 */
export function createStore(
  sql: Sql,
  vocabulary: Vocabulary,
  log: Log,
  committed: (events: EventRow[]) => void,
  answers?: Answers,
  {
    mostEventBytes = largestEvent.default!,
    personal,
    refuseBesideFormer,
  }: { mostEventBytes?: number; personal?: Personal | undefined; refuseBesideFormer?: () => Promise<void> } = {},
): Store {
  const parts = { sql, vocabulary, committed, answers, personal, mostEventBytes, refuseBesideFormer }
  let queue: Pending[] = []
  waiting.watch(() => queue.length)
  waitingAge.watch(() => (queue[0] ? (performance.now() - queue[0].since) / 1000 : 0))
  /** The transactions under way, the time of their beginning, and the aggregates that they may change. */
  let underWay: { since: number; keys: Set<string> }[] = []
  let scheduled = false
  let later: NodeJS.Timeout | undefined

  function schedule() {
    if (scheduled) return
    scheduled = true
    // Wait until all that the socket has brought is read, so that it can share a transaction.
    setImmediate(() => {
      scheduled = false
      start()
    })
  }

  function start() {
    while (queue.length > 0 && mayStart()) {
      const batch = take()
      if (batch.length === 0) break
      const own = { since: performance.now(), keys: new Set(batch.map(({ command }) => keyText(command.aggregate))) }
      underWay = [...underWay, own]
      void runTraced(batch).finally(() => {
        underWay = underWay.filter((other) => other !== own)
        if (queue.length > 0) schedule()
      })
    }
    if (queue.length > 0) later ??= setTimeout(() => ((later = undefined), start()), patience)
  }

  function mayStart(): boolean {
    const isHeldUp = ({ since }: { since: number }) => performance.now() - since >= patience
    return underWay.length < maxUnderWay && (queue.length >= enoughForAnother || underWay.every(isHeldUp))
  }

  // While a batch changes an aggregate, its further commands wait. Otherwise they would only lose the race against it.
  function take(): Pending[] {
    const batch: Pending[] = []
    const rest: Pending[] = []
    for (const pending of queue) {
      const key = keyText(pending.command.aggregate)
      const free = batch.length < maxBatch && !underWay.some(({ keys }) => keys.has(key))
      ;(free ? batch : rest).push(pending)
    }
    queue = rest
    return batch
  }

  // A batch goes on with the trace of its first traced command, and is linked to those of the others.
  function runTraced(batch: Pending[]): Promise<void> {
    const { tracing } = telemetry
    if (!tracing) return run(batch)
    const places = batch.flatMap(({ place }) => place ?? [])
    const attributes = { 'roster.batch.commands': batch.length }
    return tracing.together({ name: 'store batch', attributes }, places, () => run(batch))
  }

  async function run(batch: Pending[]): Promise<void> {
    const open = new Set(batch)
    try {
      await settle(open)
    } catch (error) {
      if (isConnectionError(error)) for (const pending of open) pending.reject(storeUnavailable(error))
      else if (open.size === 1) for (const pending of open) pending.reject(error)
      else {
        // The transaction is rolled back. One at a time, only the faulty command fails, or the one that a write
        // refuses.
        if (!(error instanceof RosterError))
          log.warn({ err: error, commands: open.size }, 'batch failed, its commands run one by one')
        for (const pending of open) await run([pending])
      }
    }
  }

  // Removes a command from `open` once its caller has the outcome. If this throws, the remaining commands may run
  // again.
  async function settle(open: Set<Pending>): Promise<void> {
    const known = knowNothing()
    for (let count = 1; open.size > 0; count++) {
      for (const pending of open) {
        if (pending.command.call.deadline > Date.now()) continue
        open.delete(pending)
        pending.reject(deadlineExceeded())
      }
      // A keyed request that lost a race may have lost it to itself, at another replica.
      if (count > 1) await leaveAnswered(open)
      const { decided, problem } = await attempt(parts, [...open], known)
      if (!problem) {
        for (const entry of decided) entry.answer()
        return
      }
      // The same request at another replica may have taken the key.
      if (problem.taken.length > 0) await leaveAnswered(open)
      refuseTaken(open, decided, problem)
      if (count === maxAttempts && open.size > 0) throw giveUp(open.size)
    }
  }

  async function leaveAnswered(open: Set<Pending>): Promise<void> {
    const keyed = [...open].filter(({ command }) => command.call.once)
    if (keyed.length === 0 || !answers) return
    const found = await answers.find(keyed.map(({ command }) => command.call.once!))
    for (const [index, pending] of keyed.entries()) {
      const earlier = found[index]
      if (!earlier) continue
      open.delete(pending)
      pending.reject(earlier instanceof RosterError ? earlier : new AnsweredBefore(earlier))
    }
  }

  function enqueue<Response>(command: AnyCommand, place?: string): Promise<Response> {
    return new Promise((resolve, reject) => {
      if (queue.length >= maxWaiting) return reject(overloaded())
      queue.push({ command, place, since: performance.now(), resolve: resolve as (response: unknown) => void, reject })
      schedule()
    })
  }

  return {
    execute(command) {
      const { tracing } = telemetry
      if (!tracing?.isActive()) return enqueue(command)
      const attributes = { 'roster.aggregate.type': command.aggregate.type }
      return tracing.inSpan({ name: 'execute command', attributes }, () => enqueue(command, tracing.place()))
    },
    executeAll: createBulks(parts, log),
    ...createLoader(sql, vocabulary, personal),
  }
}

function overloaded(): RosterError {
  return new RosterError('UNAVAILABLE', 'STORE_OVERLOADED', 'Too many changes are already waiting.', { retryAfter: 1 })
}
