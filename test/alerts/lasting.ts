import { type Alert, alerts } from '../../deploy/prometheus/alerts.ts'

/** A minute of the rules takes so many minutes. */
export const scale = 1 / 20
/** Seconds in which a measure is taken, read by Prometheus and compared, at the most. */
const seenWithin = 5

/** A shorter time: long enough for every critical alert, but not for warnings such as RosterAuditLate. */
export const brief = 20

const units = { ms: 0.001, s: 1, m: 60 }

/**
 * Seconds for which a trouble lasts at least. Every alert whose condition it makes true is pending by then. One that
 * is pending and not expected makes it last longer, until that alert fires or is gone.
 */
export function lastingFor(rules: Alert[] = alerts(scale)): number {
  return seenWithin + Math.max(...rules.map(trueWithin))
}

/** Seconds until the condition of an alert is true: the longest age that it asks for, or time over which it counts. */
export function trueWithin({ expr }: Alert): number {
  const ages = [...expr.matchAll(/_age\b[^>]*> ([\d.]+)/g)].map(([, seconds]) => Number(seconds))
  const windows = [...expr.matchAll(/\[(\w+)\]/g)].map(([, window]) => secondsOf(window!))
  return Math.max(0, ...ages, ...windows)
}

function secondsOf(duration: string): number {
  const [, count, unit] = /^([\d.]+)(ms|s|m)$/.exec(duration) ?? []
  if (!unit) throw new Error(`${duration} is no duration that this test reads`)
  return Number(count) * units[unit as keyof typeof units]
}
