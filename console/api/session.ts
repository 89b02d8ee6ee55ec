import { ApiError, readError, unreachable } from './errors.ts'
import { createStore } from './store.ts'

/** Who is signed in to the console in this browser. */
export interface Session {
  /** The public name of the console session: calls carry it, so that one of another tab's person is refused. */
  session: string
  userId: string
  displayName: string
  loginName: string
  organizationId: string
  hasRole: boolean
  /** Until then, dangers need no further factor. */
  freshUntil: string
  endsAt: string
}

/** Nobody yet: the shell shows nothing before it knows. */
export const session = createStore<Session | undefined>(undefined)

declare global {
  interface Window {
    /** The page has asked it already: index.html. */
    asked?: Promise<Response> | undefined
  }
}

/** Asks who is signed in. Undefined: nobody. */
export async function askSession(): Promise<Session | undefined> {
  const headers = { 'content-type': 'application/json' }
  const asked = window.asked ?? fetch('/ui/console/session', { method: 'POST', headers })
  window.asked = undefined
  const response = await asked.catch(() => {
    throw unreachable()
  })
  if (response.ok) return (await response.json()) as Session
  const error = await readError(response)
  if (error.reason === 'CONSOLE_SESSION_ENDED') return undefined
  throw error
}

/** Where a person signs in, and comes back from to this path of the console. */
export function signInPath(to: string, more: Record<string, string> = {}): string {
  return `/ui/console/sign-in?${new URLSearchParams({ to, ...more })}`
}

/** Ends the sign-in, here and at applications. */
export async function signOut(): Promise<void> {
  const name = session.get()?.session ?? ''
  const headers = { 'content-type': 'application/json', 'roster-console-session': name }
  const response = await fetch('/ui/console/sign-out', { method: 'POST', headers })
  if (!response.ok) {
    const error = await readError(response)
    if (!(error instanceof ApiError && error.reason === 'CONSOLE_SESSION_ENDED')) throw error
  }
  location.assign('/ui/console/signed-out')
}
