/** The time of users' database. Mails must not wait for a database of their own, so users returns it. */
export interface Clock {
  /** Unix time in milliseconds; that of this host before users gave any. */
  time(): number
  /** Users gave its time. Users of an earlier version does not. */
  hear(time: Date | undefined): void
}

/** Goes on from the time that users gave last, however the clock of this host is set. */
export function createClock(): Clock {
  let offset: number | undefined
  return {
    time: () => (offset === undefined ? Date.now() : performance.now() + offset),
    hear(time) {
      if (time) offset = time.getTime() - performance.now()
    },
  }
}
