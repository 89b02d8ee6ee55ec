/** How often all sessions of a user were ended, and the one that a new password left. */
export interface SignOuts {
  /** By a lock, a deactivation, a removal that was undone, a new password, or by themselves. Missing: never. */
  signOuts?: number | undefined
  /** The session that set the last password, and how often all others had been ended when it first did. */
  keptSession?: { id: string; since: number } | undefined
}

/** How often all sessions of a user were ended. */
export function signOutsOf(user: SignOuts | undefined): number {
  return user?.signOuts ?? 0
}

/** All sessions end, but the one that sets a new password, and what began with it. */
export function countSignOut(user: SignOuts, keptSessionId?: string): SignOuts {
  const before = signOutsOf(user)
  const { keptSession } = user
  const since = keptSession?.id === keptSessionId ? keptSession?.since : before
  return {
    signOuts: before + 1,
    keptSession: keptSessionId === undefined ? undefined : { id: keptSessionId, since: since ?? before },
  }
}

/** Whether a session, or what began with it, lives that began when all had been ended so often. */
export function outlives(user: SignOuts | undefined, sessionId: string, began: number): boolean {
  const kept = user?.keptSession
  return began === signOutsOf(user) || (kept?.id === sessionId && began >= kept.since)
}
