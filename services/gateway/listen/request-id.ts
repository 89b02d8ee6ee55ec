import { randomUUID } from 'node:crypto'

/** The request id that the client sent where it is 1 to 128 visible ASCII characters, else a new one. */
export function requestIdOf(sent: string | undefined): string {
  return sent !== undefined && /^[\x21-\x7e]{1,128}$/.test(sent) ? sent : randomUUID()
}
