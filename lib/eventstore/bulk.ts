import { deadlineExceeded, RosterError, toRosterError } from '../errors.ts'
import { createFairSemaphore } from '../fair-semaphore.ts'
import type { Log } from '../log.ts'
import { keyText } from './aggregate.ts'
import { attempt, giveUp, isNamed, type StoreParts, tryOut } from './attempt.ts'
import { claimText, type Decided, type Known, knowNothing, type Pending, type Problem } from './batch.ts'
import type { Command, Origin } from './command.ts'
import { isConnectionError, storeUnavailable } from '../database/database.ts'
import { sequenceMismatch } from './decide.ts'
import { keysOf } from './reads.ts'
import { telemetry } from '../telemetry/telemetry.ts'
import { AnsweredBefore, type Once } from '../rpc/idempotency.ts'

/** Commands of one request. Each has an outcome of its own. */
export interface Bulk<Response, Answer> {
  // The commands of one bulk may have different states. No command of the service may depend on the absence of an
  // aggregate that a bulk creates.
  // oxlint-disable-next-line typescript/no-explicit-any
  commands: Omit<Command<any, any, any, Response, any>, 'call'>[]
  call: Origin
  /** The owner of the bulk. Owners are served round robin. */
  lane: string
  /** Makes the answer to the caller, of the response or the refusal of each command in their order. */
  respond(outcomes: (Response | RosterError)[]): Answer
}

const mostWaiting = 64
const mostAttempts = 20
// From here on, a command that depends on what others keep changing no longer holds up the rest.
const patientAttempts = 10

/**
 * Stores bulks, one at a time, so that single commands find the database free. See `executeAll` of the store.
 */
export function createBulks(parts: StoreParts, log: Log) {
  const through = createFairSemaphore({ atOnce: 1, waiting: mostWaiting }, overloaded)
  return <Response, Answer>(bulk: Bulk<Response, Answer>): Promise<Answer> =>
    through({ lane: bulk.lane, deadline: bulk.call.deadline }, () => run(parts, log, bulk))
}

async function run<Response, Answer>(
  parts: StoreParts,
  log: Log,
  { commands, call, respond }: Bulk<Response, Answer>,
): Promise<Answer> {
  const { once, ifMatch, ifNoneMatch: _, ...own } = call
  // There is no one object whose sequence could match.
  if (ifMatch !== undefined) throw sequenceMismatch(0)
  const outcomes: (Response | RosterError)[] = []
  const place = telemetry.tracing?.place()
  const open = new Set(
    commands.map((command, index): Pending => ({
      command: { ...command, call: own },
      since: 0,
      place,
      resolve: (response) => (outcomes[index] = response as Response),
      reject: (error) => (outcomes[index] = toRosterError(error)),
    })),
  )
  const known = knowNothing()
  for (let count = 1; count <= mostAttempts; count++) {
    if (call.deadline <= Date.now()) throw deadlineExceeded()
    if (count > 1) await throwAnswered(parts, once)
    let answer: Answer
    const whole = (decided: Decided[]) => {
      for (const entry of decided) entry.answer()
      answer = respond(outcomes)
      return once && { once, answer: { bytes: once.encode(answer) } }
    }
    let failure: unknown
    try {
      const { problem } = await attempt(parts, [...open], known, whole)
      if (!problem) {
        logFaults(log, outcomes)
        return answer!
      }
      learn(known, problem)
      if (count < patientAttempts) continue
      if (isNamed(problem)) {
        refuseStale(open, new Set(problem.stale.map(keyText)))
        continue
      }
    } catch (error) {
      if (isConnectionError(error)) throw storeUnavailable(error)
      failure = error
    }
    const faulty = await findFaulty(parts, [...open], known, call.deadline)
    if (!faulty) continue
    open.delete(faulty)
    faulty.reject(failure ?? giveUp())
  }
  throw giveUp(open.size)
}

// Commands whose keys are taken are decided again, in their order, because those after them may depend on them.
function learn(known: Known, { stale, taken, freed }: Problem): void {
  for (const key of freed) known.taken.delete(claimText(key))
  // One of the changed aggregates may be the one that holds the key.
  if (stale.length === 0) for (const key of taken) known.taken.add(claimText(key))
}

// The same request may have been faster at another replica.
async function throwAnswered({ answers }: StoreParts, once: Once | undefined): Promise<void> {
  const [earlier] = once && answers ? await answers.find([once]) : []
  if (earlier) throw earlier instanceof RosterError ? earlier : new AnsweredBefore(earlier)
}

function refuseStale(open: Set<Pending>, stale: ReadonlySet<string>): void {
  for (const pending of open) {
    const { command } = pending
    if (![command.aggregate, ...keysOf(command)].some((key) => stale.has(keyText(key)))) continue
    open.delete(pending)
    pending.reject(giveUp())
  }
}

/** The first command with which the transaction fails. Undefined where it does not fail, or a race was lost. */
async function findFaulty(
  parts: StoreParts,
  items: Pending[],
  known: Known,
  deadline: number,
): Promise<Pending | undefined> {
  if ((await tryOut(parts, items, known)) !== 'fails') return undefined
  let [works, fails] = [0, items.length]
  while (fails - works > 1) {
    if (deadline <= Date.now()) throw deadlineExceeded()
    const half = Math.floor((works + fails) / 2)
    const result = await tryOut(parts, items.slice(0, half), known)
    if (result === 'raced') return undefined
    if (result === 'works') works = half
    else fails = half
  }
  return items[works]
}

function logFaults(log: Log, outcomes: unknown[]): void {
  for (const [index, outcome] of outcomes.entries())
    if (outcome instanceof RosterError && outcome.reason === 'INTERNAL')
      log.error({ err: outcome.cause, index }, 'a command of a bulk failed')
}

function overloaded(): RosterError {
  return new RosterError('UNAVAILABLE', 'STORE_OVERLOADED', 'Too many bulk changes are already waiting.', {
    retryAfter: 5,
  })
}
