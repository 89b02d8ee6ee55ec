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
const [lookAfter, lookEvery, lookFor, rememberFor] = [250, 1000, 100, 2000]
/** Milliseconds after an answer in which nobody goes away and comes back. */
const trustFor = 250

/**
 * Calls back once nobody will answer a call of the method that is sent next; gives a function that ends that, and takes whether
 * there was an answer. For a call to another account, nats-server before 2.11 does not say so itself. A method that is called all the time and
 * answers quickly costs nothing.
 */
export function onAbsence(nats: Nats, method: string, absent: () => void): (isAnswered: boolean) => void {
  const sent = Date.now()
  let timer: NodeJS.Timeout | undefined
  let over = false
  // The broker comes to a look before it comes to the call. Later, whoever has just come back would hide that the call was lost.
  if (sent - (of(answers, nats).get(method) ?? 0) > trustFor) void look()
  else timer = setTimeout(() => void look(), lookAfter)
  async function look() {
    const { works, refusesSince } = await lookAt(nats, method, sent)
    if (over) return
    // Where calls are still answered and none is taken, it may be among those, unless that was so when it was sent.
    if (refusesSince !== undefined && (!works || sent > refusesSince)) absent()
    else timer = setTimeout(() => void look(), lookEvery)
  }
  return (isAnswered) => {
    over = true
    clearTimeout(timer)
    if (isAnswered) of(answers, nats).set(method, Date.now())
  }
}

interface Found {
  works: boolean
  /** Since when each look has found that no call is taken, in Unix time in milliseconds. */
  refusesSince: number | undefined
}

const looks = new WeakMap<Nats, Map<string, { at: number; found: Promise<Found> }>>()
/** When a method answered last. */
const answers = new WeakMap<Nats, Map<string, number>>()

function of<T>(all: WeakMap<Nats, Map<string, T>>, nats: Nats): Map<string, T> {
  let own = all.get(nats)
  if (!own) all.set(nats, (own = new Map()))
  return own
}

// One that began a moment ago, and not before the call, serves it too.
function lookAt(nats: Nats, method: string, sent: number): Promise<Found> {
  const known = of(looks, nats)
  const [last, now] = [known.get(method), Date.now()]
  if (last && last.at >= Math.max(sent, now - lookFor)) return last.found
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
function isHeard({ ask }: Nats, subject: string): Promise<boolean> {
  return ask(subject, '', { timeout: lookFor }).answer.then(
    () => true,
    (error: unknown) => !(error instanceof NatsError && error.code === '503'),
  )
}

function subjectsOf(method: string): [takes: string, works: string] {
  const subject = method.replace('roster.', 'roster.present.')
  return [`${subject}.takes`, `${subject}.works`]
}
