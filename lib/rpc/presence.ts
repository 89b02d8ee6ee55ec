import { NatsError } from 'nats'
import type { Nats } from '../nats/connect-nats.ts'

/** A sign that this process answers a method. */
export interface Presence {
  /** Takes no more calls. Those under way are still answered. */
  refuse(): void
  /** Answers nothing any more. */
  end(): void
}

/** Shows callers that this process answers a method, such as `roster.users.v1.UserService.GetUser`. */
export function showPresence({ connection }: Nats, method: string): Presence {
  // No message comes here. The broker only needs to know that somebody listens.
  const [takes, works] = subjectsOf(method).map((subject) => connection.subscribe(subject, { callback: () => {} }))
  return { refuse: () => takes!.unsubscribe(), end: () => works!.unsubscribe() }
}

/** Milliseconds that a call waits for its answer before it checks whether anybody is there. */
const lookAfter = 250
/** Milliseconds between its checks. */
const lookEvery = 1000
/**
 * Milliseconds that a check waits. Where no service listens, the broker says so at once. Otherwise the check gets no
 * answer.
 */
const lookFor = 100
/** Milliseconds for which the next check still uses the result of the one before. */
const rememberFor = 2000
/** Milliseconds after an answer for which the service counts as present. */
const trustFor = 250

/**
 * Calls `absent` once no service will answer the next call of this method. nats-server before 2.11 does not report that
 * no service listens in another account, so this looks itself.
 * Returns a function that ends the watch. Its argument says whether an answer came.
 * A method that is called all the time and answers quickly costs nothing.
 */
export function onAbsence(nats: Nats, method: string, absent: () => void): (isAnswered: boolean) => void {
  const sent = Date.now()
  let timer: NodeJS.Timeout | undefined
  let over = false
  // Check before the call is sent. A service that starts in between still hears the call. After a later check, a
  // service that started before the check would seem to have heard the call, although the call was lost.
  if (sent - (of(answers, nats).get(method) ?? 0) > trustFor) void look()
  else timer = setTimeout(() => void look(), lookAfter)
  async function look() {
    const { works, refusesSince } = await lookAt(nats, method, sent)
    if (over) return
    // A stopping service takes no calls, but answers those that it took. This call may be among them, unless the
    // service already took none when the call was sent.
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
  /** The time since when every check has found that no calls are taken, as Unix time in milliseconds. */
  refusesSince: number | undefined
}

const looks = new WeakMap<Nats, Map<string, { at: number; found: Promise<Found> }>>()
/** The time of each method's last answer. */
const answers = new WeakMap<Nats, Map<string, number>>()

function of<T>(all: WeakMap<Nats, Map<string, T>>, nats: Nats): Map<string, T> {
  let own = all.get(nats)
  if (!own) all.set(nats, (own = new Map()))
  return own
}

// A check that began a moment ago serves this call too, unless the call was sent after it.
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

// Nothing ever answers this. Where no service listens either, the broker says so at once.
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
