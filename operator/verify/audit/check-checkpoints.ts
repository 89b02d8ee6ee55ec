import {
  type AuditKey,
  type Checkpoint,
  isSigned,
  readCheckpoint,
  type SignedCheckpoint,
} from '#lib/audit-log/checkpoint'
import { isBefore } from '#lib/audit-log/page'
import type { StoringService } from '../../../deploy/provision.ts'
import { missingBefore } from '../finding.ts'

/** What was found of a checkpoint. */
interface Checked {
  /** Undefined where it cannot be read. */
  signed: SignedCheckpoint | undefined
  /** Whether its key made its signature. */
  isTrue: boolean
  problems: string[]
  /** What is wrong with its time. Order does not rest on times, and a clock may have been wrong. */
  odd: string[]
}

interface Known {
  /** The public keys. */
  keys: AuditKey[]
  /** Only these keys count, and those that their checkpoints name. Without them, the key of the first checkpoint. */
  trusted?: AuditKey[] | undefined
  /** The checkpoint that they go on from. */
  after?: SignedCheckpoint | undefined
}

/**
 * Looks at the checkpoints of a service, one after the other: whether they follow each other without a gap, and whether
 * each is signed. Another key counts only after a checkpoint that names it.
 */
export function checkCheckpoints(service: StoringService, { keys, trusted, after }: Known) {
  const known = [...keys, ...(trusted ?? [])]
  let before = after
  let counting = after ? new Set([after.checkpoint.nextKey ?? after.kid]) : trusted && kidsOf(trusted)
  return {
    next(number: number, jws: string): Checked {
      const signed = readOrNone(jws)
      if (!signed) return { signed, isTrue: false, problems: ['it is no checkpoint'], odd: [] }
      const { checkpoint, kid } = signed
      const isTrue = isSigned(signed, known)
      counting ??= new Set([kid])
      const problems = [
        placeProblem(number, before, signed),
        before && orderProblem(before.checkpoint, checkpoint),
        checkpoint.number !== number || checkpoint.service !== service ? 'it stands in the place of another one' : '',
        isTrue ? keyProblem(counting.has(kid), before) : 'its signature is not that of its key',
      ]
      const odd = timeProblems(before?.checkpoint, checkpoint)
      if (isTrue && counting.has(kid) && checkpoint.nextKey !== undefined) counting.add(checkpoint.nextKey)
      before = signed
      return { signed, isTrue, problems: problems.flatMap((problem) => problem || []), odd }
    },
    /** Whether this key may sign, as far as it has looked. */
    counts: (kid: string) => counting?.has(kid) ?? false,
  }
}

const kidsOf = (keys: AuditKey[]) => new Set(keys.map(({ kid }) => kid))

function readOrNone(jws: string): SignedCheckpoint | undefined {
  try {
    return readCheckpoint(jws)
  } catch {
    return undefined
  }
}

function placeProblem(number: number, before: SignedCheckpoint | undefined, { checkpoint }: SignedCheckpoint): string {
  const expected = (before?.checkpoint.number ?? 0) + 1
  if (number !== expected) return missingBefore(expected, number)
  return checkpoint.previous === (before?.hash ?? '') ? '' : 'it does not name the one before it'
}

function keyProblem(counts: boolean, before: SignedCheckpoint | undefined): string {
  if (counts) return ''
  return before ? 'no checkpoint before it names its key' : 'its key is none of the given ones'
}

// Epochs, pages and events never fall.
function orderProblem(before: Checkpoint, after: Checkpoint): string {
  if (after.epoch < before.epoch) return 'its epoch is lower than that of one before it'
  if (after.page <= before.page) return 'its page does not come after that of one before it'
  if (after.epoch > before.epoch) return after.reason === '' ? 'its epoch has no reason' : ''
  if (after.reason !== before.reason) return 'it gives another reason for its epoch'
  const hasMore = after.events > before.events && isBefore(before.last, after.last)
  return hasMore ? '' : 'it has no more events than one before it'
}

/** Milliseconds that the clocks of two hosts may differ. */
const skew = 60_000

function timeProblems(before: Checkpoint | undefined, { at }: Checkpoint): string[] {
  const time = Date.parse(at)
  const isLater = !before || time >= Date.parse(before.at) - skew
  return [
    ...(isLater ? [] : ['its time is before that of one before it']),
    ...(time <= Date.now() + skew ? [] : ['its time is to come, or none']),
  ]
}
