import type { Page } from 'playwright-core'

/** An identity provider that others wrote, or another Roster. */
export interface ForeignUpstream {
  name: string
  /** The reason for which its test is skipped. */
  why: string
  /** The issuer, of a server at this origin. */
  issuerAt(origin: string): string
  /** For so many seconds it takes a sign-in for a new one, whatever `prompt` says. */
  youngSeconds?: number
  /** Starts it at a port of 127.0.0.1, with a client that has this redirect URI. */
  start(port: number, redirectUri: string): Promise<RunningUpstream>
  /** Signs its person in, on its page. */
  signIn(page: Page): Promise<void>
  /** What it says of that person. */
  person: { email: string; firstName: string; lastName: string }
}

export interface RunningUpstream {
  clientId: string
  clientSecret: string
  stop(): Promise<void>
}
