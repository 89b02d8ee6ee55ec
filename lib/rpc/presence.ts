import { NatsError } from 'nats'
import type { Nats } from '../nats.ts'

/** That somebody answers a method. */
export interface Presence {
  /** No more calls are taken; those under way are still answered. */
  refuse(): void
  /** Nobody answers any more. */
  end(): void
}

/** Shows callers that this process answers a method, such as `roster.users.v1.UserService.GetUser`. */
export function showPresence({ connection }: Nats, method: string): Presence {
  // What comes there says nothing. The broker knows that somebody listens.
  const [takes, works] = subjectsOf(method).map((subject) => connection.subscribe(subject, { callback: () => {} }))
  return { refuse: () => takes!.unsubscribe(), end: () => works!.unsubscribe() }
}

/** Milliseconds: until a call without an answer looks first, between its looks, for a look, and for which what one found counts. */
const [lookAfter, lookEvery, lookFor, rememberFor] = [50, 1000, 100, 2000]

/**
 * Calls back once nobody will answer a call of the method that is sent now; gives a function that ends that. For a call to another
 * account, nats-server before 2.11 does not say so itself. A call that is answered quickly costs nothing.
 */
export function onAbsence(nats: Nats, method: string, absent: () => void): () => void {
  const sent = Date.now()
  let timer = setTimeout(() => void look(), lookAfter)
  let over = false
  async function look() {
    const { works, refusesSince } = await lookAt(nats, method, sent)
    if (over) return
    // Where calls are still answered and none is taken, it may be among those, unless that was so when it was sent.
    if (refusesSince !== undefined && (!works || sent > refusesSince)) absent()
    else timer = setTimeout(() => void look(), lookEvery)
  }
  return () => {
    over = true
    clearTimeout(timer)
  }
}

interface Found {
  works: boolean
  /** Since when each look has found that no call is taken, in Unix time in milliseconds. */
  refusesSince: number | undefined
}

const looks = new WeakMap<Nats, Map<string, { at: number; found: Promise<Found> }>>()

// One that began a moment ago, and after the call was sent, serves it too.
function lookAt(nats: Nats, method: string, sent: number): Promise<Found> {
  const known = looks.get(nats) ?? new Map<string, { at: number; found: Promise<Found> }>()
  looks.set(nats, known)
  const [last, now] = [known.get(method), Date.now()]
  if (last && last.at > Math.max(sent, now - lookFor)) return last.found
  const before = last && now - last.at < rememberFor ? last.found : undefined
  const [takes, works] = subjectsOf(method).map((subject) => isHeard(nats, subject))
  const found = Promise.all([before, takes, works!]).then(([before, takes, works]) => ({
    works,
    refusesSince: takes ? undefined : (before?.refusesSince ?? now),
  }))
  known.set(method, { at: now, found })
  return found
}

// Nobody answers. Where nobody listens either, the broker says so at once.
function isHeard({ connection }: Nats, subject: string): Promise<boolean> {
  return connection.request(subject, '', { timeout: lookFor }).then(
    () => true,
    (error: unknown) => !(error instanceof NatsError && error.code === '503'),
  )
}

function subjectsOf(method: string): [takes: string, works: string] {
  const subject = method.replace('roster.', 'roster.present.')
  return [`${subject}.takes`, `${subject}.works`]
}
