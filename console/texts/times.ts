import { language } from './texts.ts'

const relative = later(() => new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' }))
const inThisYear = later(() => new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short' }))
const inAnother = later(() => new Intl.DateTimeFormat(language, { day: 'numeric', month: 'short', year: 'numeric' }))
const exactly = later(() => new Intl.DateTimeFormat(language, { dateStyle: 'full', timeStyle: 'long' }))
const toTheSecond = later(() => new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' }))

// Making one takes long, so that is done while the first answers are under way.
function later<T>(make: () => T): () => T {
  let made: T | undefined
  const get = () => (made ??= make())
  setTimeout(get, 100)
  return get
}

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** A time as people say it: `2 min. ago`, `24 Nov`. */
export function sayTime(at: Date, now = new Date()): string {
  const ahead = at.getTime() - now.getTime()
  const distance = Math.abs(ahead)
  if (distance < minute) return relative().format(Math.round(ahead / 1000), 'second')
  if (distance < hour) return relative().format(Math.round(ahead / minute), 'minute')
  if (distance < day) return relative().format(Math.round(ahead / hour), 'hour')
  return (at.getFullYear() === now.getFullYear() ? inThisYear() : inAnother()).format(at)
}

/** When something was so: `24 Nov 2026, 10:15:03`. */
export function sayToTheSecond(at: Date): string {
  return toTheSecond().format(at)
}

/** The exact time in the reader's zone. */
export function sayExactly(at: Date): string {
  return exactly().format(at)
}
