import { type IDPCheck, IDPCheckKind as Kind } from '#gen/roster/idp/v1/idp_check'
import { faulty, notChecked, passed } from './checks.ts'

/** Seconds by which the clocks may differ, with the way of the answer. Tokens of another time are refused. */
export const clockTolerance = 30

/** Compares the time in an answer of a provider with PostgreSQL's. */
export function checkClock(url: string, answer: Response, clockAhead: number): IDPCheck {
  const kind = Kind.IDP_CHECK_KIND_CLOCK
  const theirs = Date.parse(answer.headers.get('date') ?? '')
  if (Number.isNaN(theirs)) return notChecked(kind, url, 'Its answers have no date.')
  const seconds = Math.round((theirs - Date.now() - clockAhead) / 1000)
  if (Math.abs(seconds) <= clockTolerance) return passed(kind, url)
  const [by, way] = [Math.abs(seconds), seconds > 0 ? 'ahead of' : 'behind']
  return faulty(kind, url, `Its clock is ${by} seconds ${way} Roster's: Roster refuses tokens of such times.`)
}
