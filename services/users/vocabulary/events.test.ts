import { type Payloads, testPayloads } from '#test/support/event-payloads'
import type { AuthenticationEvent } from './authentication.ts'
import { type CodeMailEvent, codeMailType } from './code-mail.ts'
import { type OwnershipEvent, ownershipType } from './ownership.ts'
import { type OrganizationEvent, organizationType } from './organization.ts'
import { type PasswordCodeEvent, passwordCodeType } from './password-code.ts'
import { type NoticeEvent, noticeType } from './notice.ts'
import type { SessionEvent } from './session.ts'
import { type SignInEvent, signInType } from './sign-in.ts'
import type { UserEvent } from './user.ts'

const names = { firstName: 'Gigi', lastName: 'Giraffe', nickName: 'G', displayName: 'Gigi Giraffe' }
const profile = { ...names, preferredLanguage: 'de', gender: 1 as const }
const expiresAt = '2026-01-01T12:00:00.123Z'
const code = { codeId: 'c', keyId: 'k', expiresAt }
const publicKey = { kty: 'EC', n: 'n', e: 'AQAB', crv: 'P-256', x: 'x', y: 'y' }

// Earlier versions stored the end of a mail at the user. These events are published like those of `CodeMail` below.
type FormerMarks = { type: 'email.code.sent' | 'email.code.failed' }

const user: Payloads<Exclude<UserEvent, FormerMarks>> = {
  'human.added': { userName: 'gigi', profile, email: 'gigi@example.com', isVerified: true },
  'machine.added': { userName: 'robot', name: 'Robot', description: 'Works', accessTokenType: 1 },
  'token.added': { tokenId: 't' },
  'pat.added': { tokenId: 't', expiresAt },
  'pat.removed': { tokenId: 't' },
  'key.added': { keyId: 'k', algorithm: 'RS256', publicKey, expiresAt },
  'key.removed': { keyId: 'k' },
  'secret.added': { secretId: 's', expiresAt },
  'secret.removed': { secretId: 's' },
  'machine.changed': { name: 'Robot', description: 'Works', accessTokenType: 1 },
  'username.changed': { userName: 'giraffe' },
  'machine.dpop.changed': { required: true },
  'credential.expiring': { kind: 'key', credentialId: 'k', expiresAt },
  'profile.changed': profile,
  'password.changed': { codeId: 'c' },
  'email.changed': { email: 'gigi@example.com', isVerified: false, vouched: true, setBy: 'u' },
  'email.verified': { codeId: 'c', vouched: true, setBy: 'u' },
  'email.notice.requested': { noticeId: 'n', expiresAt },
  'email.code.requested': {
    ...code,
    urlTemplate: 'https://example.com/{{.Code}}',
    cause: 'own-change',
    askedBy: 'u',
  },
  'email.code.returned': { ...code, askedBy: 'u' },
  'email.code.rejected': { codeId: 'c' },
  deactivated: {},
  reactivated: {},
  locked: {},
  unlocked: {},
  removed: { forgetAt: expiresAt },
  restored: {},
  forgotten: {},
}

const codeMail: Payloads<CodeMailEvent> = { sent: { codeId: 'c' }, failed: { codeId: 'c', failure: 'SMTP 550' } }

const ownership: Payloads<OwnershipEvent> = { released: { releaseId: 'r' }, restored: { releaseIds: ['r'] } }
const organization: Payloads<OrganizationEvent> = { noted: { state: 'inactive', sequence: 2 } }
const passwordCode: Payloads<PasswordCodeEvent> = {
  requested: { ...code, round: 3, urlTemplate: 'https://example.com/{{.Code}}', askedBy: 'u' },
  returned: { ...code, round: 3, askedBy: 'u' },
  rejected: { codeId: 'c' },
  sent: { codeId: 'c' },
  failed: { codeId: 'c', failure: 'SMTP 550' },
}

const notice: Payloads<NoticeEvent> = { sent: { noticeId: 'n' }, failed: { noticeId: 'n', failure: 'SMTP 550' } }

const session: Payloads<SessionEvent> = {
  created: { userId: 'u', expiresAt: '2026-01-01T12:00:00.123Z' },
  ended: { userId: 'u' },
}

const signIn: Payloads<SignInEvent> = { failed: {}, 'failures.counted': { count: 12, since: expiresAt } }

const authentication: Payloads<AuthenticationEvent> = {
  'token.issued': { tokenId: 't', grantType: 'client_credentials', credentialId: 'c', scope: 'openid', expiresAt },
  'token.revoked': { tokenId: 't' },
  failed: { method: 'client_secret', reason: 'secret' },
}

testPayloads('users', {
  user,
  [codeMailType]: codeMail,
  [organizationType]: organization,
  [ownershipType]: ownership,
  [passwordCodeType]: passwordCode,
  [noticeType]: notice,
  [signInType]: signIn,
  session,
  authentication,
})
