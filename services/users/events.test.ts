import { type Payloads, testPayloads } from '#lib/events/test-payloads'
import type { SessionEvent, UserEvent } from './vocabulary.ts'

const names = { firstName: 'Gigi', lastName: 'Giraffe', nickName: 'G', displayName: 'Gigi Giraffe' }
const profile = { ...names, preferredLanguage: 'de', gender: 1 as const }
const code = { codeId: 'c', keyId: 'k', expiresAt: '2026-01-01T12:00:00.123Z' }

const user: Payloads<UserEvent> = {
  'human.added': { userName: 'gigi', profile, email: 'gigi@example.com', isVerified: true },
  'machine.added': { userName: 'robot', name: 'Robot', description: 'Works', accessTokenType: 1 },
  'token.added': { tokenId: 't' },
  'profile.changed': profile,
  'email.changed': { email: 'gigi@example.com', isVerified: false },
  'email.verified': { codeId: 'c' },
  'email.code.requested': { ...code, urlTemplate: 'https://example.com/{{.Code}}', cause: 'own-change' },
  'email.code.returned': code,
  'email.code.rejected': { codeId: 'c' },
  'email.code.sent': { codeId: 'c' },
  'email.code.failed': { codeId: 'c', failure: 'SMTP 550' },
  deactivated: {},
  reactivated: {},
  locked: {},
  unlocked: {},
  removed: {},
}

const session: Payloads<SessionEvent> = {
  created: { userId: 'u', expiresAt: '2026-01-01T12:00:00.123Z' },
  ended: { userId: 'u' },
}

testPayloads('users', { user, session })
