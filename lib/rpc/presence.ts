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

/** Milliseconds that a call waits for its answer before it looks whether anybody is there. */
const lookAfter = 250
/** Milliseconds between its looks. */
const lookEvery = 1000
/** Milliseconds that a look waits: the broker says at once where nobody listens, and says nothing where somebody does. */
const lookFor = 100
/** Milliseconds for which the finding of a look counts as the one before the next. */
const rememberFor = 2000
/** Milliseconds after an answer for which the service is taken to be there. */
const trustFor = 250

/**
 * Calls `absent` once nobody will answer the call of this method that is sent next. The function that it gives ends the watch; its
 * argument says whether there was an answer. nats-server before 2.11 does not say by itself that nobody listens in another account.
 * A method that is called all the time and answers quickly costs nothing.
 */
export function onAbsence(nats: Nats, method: string, absent: () => void): (isAnswered: boolean) => void {
  const sent = Date.now()
  let timer: NodeJS.Timeout | undefined
  let over = false
  // The look is sent before the call. A service that starts between the two hears the call; one that starts before a later look
  // would seem to have heard it, although the call was lost.
  if (sent - (of(answers, nats).get(method) ?? 0) > trustFor) void look()
  else timer = setTimeout(() => void look(), lookAfter)
  async function look() {
    const { works, refusesSince } = await lookAt(nats, method, sent)
    if (over) return
    // A service that stops takes no call and still answers those that it took: this one may be among them, unless none was taken
    // already when it was sent.
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

// A look that began a moment ago serves this call too, unless the call was sent after it.
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
