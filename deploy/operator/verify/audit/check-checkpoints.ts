import {
  type AuditKey,
  type Checkpoint,
  isSigned,
  readCheckpoint,
  type SignedCheckpoint,
} from '#lib/eventstore/audit/checkpoint'
import type { StoringService } from '../../../provision.ts'
import { type Finding, rowName } from '../finding.ts'
import { isBefore } from './is-before.ts'

/** Looks at the checkpoints of a service, one after the other. */
export interface CheckpointCheck {
  /**
   * Gives the checkpoint if it can be read, whether its key made its signature, and what is wrong with it. `odd`: what is
   * wrong with its time. Order does not rest on times, and a clock may have been wrong.
   */
  next(
    number: number,
    jws: string,
  ): { signed: SignedCheckpoint | undefined; isTrue: boolean; found: Finding[]; odd: Finding[] }
  /** Whether this key may sign, as far as it has looked. */
  counts(kid: string): boolean
}

/**
 * Looks whether checkpoints follow each other without a gap, and whether each is signed. The key of the first one counts,
 * or only one of `trusted`. Another key counts only after a checkpoint that names it. `known`: the public keys. `after`:
 * the checkpoint that they go on from.
 */
export function checkCheckpoints(
  service: StoringService,
  known: AuditKey[],
  trusted: AuditKey[] | undefined,
  after?: SignedCheckpoint,
): CheckpointCheck {
  const named = trusted && new Set(trusted.map(({ kid }) => kid))
  const keys = [...known, ...(trusted ?? [])]
  let before = after
  let counting = after ? new Set([after.checkpoint.nextKey ?? after.kid]) : named

  return {
    next(number, jws) {
      const row = checkpointName(number)
      const found: Finding[] = []
      const odd: Finding[] = []
      const say = (problem: string, to = found) => void to.push({ service, row, problem })
      let signed: SignedCheckpoint
      try {
        signed = readCheckpoint(jws)
      } catch {
        say('it is no checkpoint')
        return { signed: undefined, isTrue: false, found, odd }
      }
      const { checkpoint, kid } = signed
      const { nextKey } = checkpoint
      counting ??= new Set([kid])
      const isFirst = !before
      const expected = (before?.checkpoint.number ?? 0) + 1
      if (number !== expected)
        say(`${number - expected === 1 ? `${expected} is` : `${expected} to ${number - 1} are`} missing before it`)
      else if (checkpoint.previous !== (before?.hash ?? '')) say('it does not name the one before it')
      const disorder = before && orderProblem(before.checkpoint, checkpoint)
      if (disorder !== undefined) say(disorder)
      if (checkpoint.number !== number || checkpoint.service !== service) say('it stands in the place of another one')
      const untimely = before && timeProblem(before.checkpoint, checkpoint)
      if (untimely !== undefined) say(untimely, odd)
      if (!(Date.parse(checkpoint.at) <= Date.now() + skew)) say('its time is to come, or none', odd)
      const isTrue = isSigned(signed, keys)
      if (!isTrue) say('its signature is not that of its key')
      else if (!counting.has(kid))
        say(isFirst ? 'its key is none of the given ones' : 'no checkpoint before it names its key')
      else if (nextKey !== undefined && keys.some((key) => key?.kid === nextKey)) counting.add(nextKey)
      before = signed
      return { signed, isTrue, found, odd }
    },
    counts: (kid) => counting?.has(kid) ?? false,
  }
}

/** Milliseconds that the clocks of two hosts may differ. */
export const skew = 60_000

/** Why a checkpoint cannot come after another one: epochs, pages and events never fall. */
export function orderProblem(before: Checkpoint, after: Checkpoint): string | undefined {
  if (after.epoch < before.epoch) return 'its epoch is lower than that of one before it'
  if (after.page <= before.page) return 'its page does not come after that of one before it'
  if (after.epoch > before.epoch) {
    if (after.reason === '') return 'its epoch has no reason'
  } else {
    if (after.reason !== before.reason) return 'it gives another reason for its epoch'
    const hasMore = after.events > before.events && isBefore(before.last, after.last)
    if (!hasMore) return 'it has no more events than one before it'
  }
  return undefined
}

/** Why the time of a checkpoint does not fit to that of the one before it. */
function timeProblem(before: Checkpoint, after: Checkpoint): string | undefined {
  const isLater = Date.parse(after.at) >= Date.parse(before.at) - skew
  return isLater ? undefined : 'its time is before that of one before it'
}

/** The name of a checkpoint in findings. */
export function checkpointName(number: number): string {
  return rowName('audit_checkpoints', { number })
}
