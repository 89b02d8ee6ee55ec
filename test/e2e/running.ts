/** The Roster that the suite talks to. */
export interface RunningRoster {
  url: string
  /** The bearer token of the machine administrator. */
  adminToken: string
  /** The password of the human administrator; undefined where it was not told. */
  adminPassword: string | undefined
  /** A mailbox in the manner of Mailpit or maildev; undefined where it was not told. */
  mailboxUrl: string | undefined
  /** A file that holds every secret that a client of this run was given or sent, one a line. */
  secretsFile: string
  /** What a test knows of a Roster that the suite started itself; undefined where it was given by URL. */
  house: HouseInside | undefined
}

export interface HouseInside {
  /** Another gateway of the same Roster. */
  secondUrl: string
  /** The administrator's. */
  databaseUrl: string
  natsUrl: string
  redisUrl: string
  /** What all services logged. */
  logFile: string
}

/** The host that alone a urlTemplate may lead to, in a house that the suite started itself. */
export const allowedLinkHost = 'app.example.com'

declare module 'vitest' {
  interface ProvidedContext {
    roster: RunningRoster
  }
}
