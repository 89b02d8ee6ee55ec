/** A service stored something that is larger than any of Roster, so nobody reads it. */
export class TooLarge extends Error {
  constructor(what: string, bytes: number) {
    super(`${what} has ${bytes} bytes, more than any of Roster`)
  }
}
