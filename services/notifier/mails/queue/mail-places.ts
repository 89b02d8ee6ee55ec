/** Milliseconds after which a mail under way shows that its receiver's domain is slow. */
const slowAfter = 1000
/** The most domains of which the notifier knows whether they are quick. */
const mostDomains = 10_000

/** The receiver's domain and the user's organization. */
export interface Destination {
  domain: string
  organizationId: string
}

export interface MailPlaces {
  /**
   * Waits for a place, sends, and gives the place back. `send` hears how many milliseconds the mail waited. Throws if
   * too many mails to domains that are not quick wait already: the mail is to come again later.
   */
  take<T>(to: Destination, send: (waited: number) => Promise<T>): Promise<T>
}

interface Waiting {
  to: Destination
  enter(): void
  refuse(error: Error): void
}

/**
 * Gives out so many places for mails under way, so that mails to slow domains delay no others. A domain is quick or slow
 * as its last mail was, and new before that. A quick domain has half of the places at most, and a new one has one. All
 * slow domains have a quarter together, and half together with the new ones. No organization fills that half alone.
 */
export function openMailPlaces(places: number): MailPlaces {
  const half = Math.ceil(places / 2)
  const quarter = Math.ceil(half / 2)
  const mostOfOrganization = half - Math.floor(quarter / 2)
  const taken = new Set<Destination>()
  const ofDomain = new Map<string, number>()
  const isQuick = new Map<string, boolean>()
  let waiting: Waiting[] = []

  function mayEnter({ domain, organizationId }: Destination): boolean {
    if (taken.size >= places) return false
    const own = ofDomain.get(domain) ?? 0
    const quick = isQuick.get(domain)
    if (quick) return own < half
    const others = [...taken].filter((other) => !isQuick.get(other.domain))
    if (quick === false) return others.filter((other) => isQuick.has(other.domain)).length < quarter
    const ofSame = others.filter((other) => other.organizationId === organizationId)
    return own === 0 && others.length < half && ofSame.length < mostOfOrganization
  }

  function look() {
    const left = waiting.filter(({ to, enter }) => {
      const may = mayEnter(to)
      if (may) enter()
      return !may
    })
    waiting = left
    const late = left.filter(({ to }) => !isQuick.get(to.domain))
    while (late.length > 2 * places) refuse(late)
  }

  // The last one of the organization that has the most.
  function refuse(late: Waiting[]) {
    const counts = Map.groupBy(late, ({ to }) => to.organizationId)
    const most = [...counts.values()].reduce((a, b) => (b.length > a.length ? b : a))
    const last = most.at(-1)!
    late.splice(late.indexOf(last), 1)
    waiting.splice(waiting.indexOf(last), 1)
    last.refuse(new Error('too many mails wait for slow mail servers'))
  }

  function learn({ domain }: Destination, quick: boolean) {
    isQuick.delete(domain)
    isQuick.set(domain, quick)
    if (isQuick.size > mostDomains) isQuick.delete(isQuick.keys().next().value!)
    look()
  }

  function occupy(to: Destination) {
    taken.add(to)
    ofDomain.set(to.domain, (ofDomain.get(to.domain) ?? 0) + 1)
  }

  function free(to: Destination) {
    taken.delete(to)
    const left = ofDomain.get(to.domain)! - 1
    if (left > 0) ofDomain.set(to.domain, left)
    else ofDomain.delete(to.domain)
  }

  return {
    async take(destination, send) {
      const to = { ...destination }
      const since = performance.now()
      await new Promise<void>((resolve, reject) => {
        waiting.push({ to, enter: () => (occupy(to), resolve()), refuse: reject })
        look()
      })
      let quick = true
      const timer = setTimeout(() => learn(to, (quick = false)), slowAfter)
      try {
        return await send(performance.now() - since)
      } finally {
        clearTimeout(timer)
        free(to)
        learn(to, quick)
      }
    },
  }
}
