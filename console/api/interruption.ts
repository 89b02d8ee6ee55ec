import { askSession, session, type Session } from './session.ts'
import { createStore } from './store.ts'

/** What stands between a call and its answer until the person has done something. The page behind it stays as it is. */
export interface Interruption {
  kind: 'ended' | 'other' | 'stale'
  /** Of `other`: who is signed in now. */
  person?: Session
}

export const interruption = createStore<Interruption | undefined>(undefined)

let waiting: PromiseWithResolvers<void> | undefined

/** Asks the person to sign in again, and goes on once they did. Never where another person came. */
export function interrupted(next: Interruption): Promise<void> {
  waiting ??= Promise.withResolvers()
  interruption.set(next)
  return waiting.promise
}

/** Asks whether the person has signed in again meanwhile, in another tab. */
export async function look(): Promise<void> {
  const shown = interruption.get()
  if (!shown || shown.kind === 'other') return
  const now = await askSession().catch(() => undefined)
  if (!now) return
  if (now.userId !== session.get()?.userId) return interruption.set({ kind: 'other', person: now })
  if (shown.kind === 'stale' && Date.parse(now.freshUntil) <= Date.now()) return
  session.set(now)
  settle()
}

/** The person does not want to: what waits is refused as the API has refused it. */
export function giveUp(): void {
  const left = waiting
  clear()
  left?.reject(new Error('given up'))
}

function settle() {
  const left = waiting
  clear()
  left?.resolve()
}

function clear() {
  waiting = undefined
  interruption.set(undefined)
}

const channel = new BroadcastChannel('roster-console')
channel.addEventListener('message', () => void look())
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible') void look()
})

/** Tells other tabs that somebody has signed in. */
export function announceSignIn(): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has one origin
  channel.postMessage('signed in')
}
