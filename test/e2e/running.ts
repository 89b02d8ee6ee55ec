/** The Roster under test. */
export interface RunningRoster {
  url: string
  /** The bearer token of the machine administrator. */
  adminToken: string
  /** The password of the human administrator; undefined if it is not given. */
  adminPassword: string | undefined
  /** A mailbox with the API of Mailpit or maildev; undefined if it is not given. */
  mailboxUrl: string | undefined
  /** A file with every secret that a client of this run received or sent, one in each line. */
  secretsFile: string
  /**
   * Facts that tests know only about a Roster that the suite started itself; undefined for one that was given by URL.
   */
  house: HouseInside | undefined
}

export interface HouseInside {
  /** Another gateway of the same Roster. */
  secondUrl: string
  /** The administrator's URL. */
  databaseUrl: string
  natsUrl: string
  redisUrl: string
  /** The log of all services. */
  logFile: string
  /** TXT records that the house's name server reads each time: an object of lists, by names. */
  recordsFile: string
}

/** The only host that a urlTemplate may use, in a house that the suite started itself. */
export const allowedLinkHost = 'app.example.com'

declare module 'vitest' {
  interface ProvidedContext {
    roster: RunningRoster
  }
}
