import { language } from './texts.ts'

const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' })
const inThisYear = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short' })
const inAnother = new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', year: 'numeric' })
const exactly = new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'long' })

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** A time as people say it: `2 min. ago`, `24 Nov`. */
export function sayTime(at: Date, now = new Date()): string {
  const ahead = at.getTime() - now.getTime()
  const distance = Math.abs(ahead)
  if (distance < minute) return relative.format(Math.round(ahead / 1000), 'second')
  if (distance < hour) return relative.format(Math.round(ahead / minute), 'minute')
  if (distance < day) return relative.format(Math.round(ahead / hour), 'hour')
  return (at.getFullYear() === now.getFullYear() ? inThisYear : inAnother).format(at)
}

/** The exact time in the reader's zone. */
export function sayExactly(at: Date): string {
  return exactly.format(at)
}
