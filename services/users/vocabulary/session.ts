export type SessionEvent =
  | { type: 'created'; payload: { userId: string; expiresAt: string } }
  | { type: 'ended'; payload: { userId: string } }

export interface Session {
  userId: string
  expiresAt: string
  ended: boolean
}

export function evolveSession(session: Session | undefined, event: SessionEvent): Session {
  if (event.type === 'created') return { ...event.payload, ended: false }
  if (session === undefined) throw new Error(`a session begins with ${event.type}`)
  return { ...session, ended: true }
}
