import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Write } from '#lib/database/database'
import { projectAuthorization, withoutAuthorizations } from './openid/authorization/project-authorization.ts'
import { projectNotices } from './directory/email/notice.ts'
import { projectCodeMail, projectUnsentCode } from './directory/email/verification-mail.ts'
import { projectPasswordChange, projectPasswordCode } from './directory/passwords/reset-mail.ts'
import { projectCredentials } from './directory/machine-credentials/project-credentials.ts'
import { keepLogos } from './sessions/login-policy/logos.ts'
import { projectConsent } from './openid/consents/consent-rows.ts'
import { projectPasskeys } from './sessions/factors/passkey/passkey-rows.ts'
import { projectFoundUser } from './directory/search/found-users.ts'
import { projectUserFactors } from './directory/search/user-factors.ts'
import { beginErasure, endErasure } from './directory/erasure/erasure.ts'
import { deletedWithUser } from './directory/erasure/personal-data.ts'
import { withoutTokens } from './directory/tokens/without-tokens.ts'
import { isActive } from './directory/states/user-state.ts'
import { type Authorization, authorizationType } from './openid/events/authorization.ts'
import { type CodeMail, codeMailType } from './directory/events/code-mail.ts'
import { type Consent, consentType } from './openid/events/consent.ts'
import { type Notices, noticeType } from './directory/events/notice.ts'
import { organizationType, type OrganizationStatus } from './directory/events/organization.ts'
import { type PasswordCode, passwordCodeType } from './directory/events/password-code.ts'
import type { Session } from './sessions/events/session.ts'
import { forgetTokens } from './sessions/factors/provider/kept-tokens.ts'
import { signOutsOf } from './directory/events/sign-outs.ts'
import type { User } from './directory/events/user.ts'

/** The projections: keeps the service's own tables in step with a change. */
export function project({ before, after }: { before: Aggregate; after: Aggregate }): Write[] {
  if (after.type === 'user') return projectUser(before as Aggregate<User>, after as Aggregate<User>)
  if (after.type === codeMailType) return projectCodeMail(after as Aggregate<CodeMail>)
  if (after.type === passwordCodeType) return projectPasswordCode(after as Aggregate<PasswordCode>)
  if (after.type === noticeType) return projectNotices(after as Aggregate<Notices>)
  if (after.type === organizationType)
    return (after as Aggregate<OrganizationStatus>).state?.state === 'removed' ? keepLogos(after.id, {}) : []
  if (after.type === 'session') return projectSession(after as Aggregate<Session>)
  if (after.type === consentType) return projectConsent(after as Aggregate<Consent>)
  if (after.type === authorizationType)
    return projectAuthorization(before as Aggregate<Authorization>, after as Aggregate<Authorization>)
  return []
}

function projectUser(before: Aggregate<User>, after: Aggregate<User>): Write[] {
  return [
    ...projectUnsentCode(before, after),
    ...projectCredentials(before, after),
    ...projectPasswordChange(before, after),
    ...projectState(before, after),
    ...projectFoundUser(before, after),
    ...projectPasskeys(before, after),
    ...projectUserFactors(before, after),
    ...projectLinks(before, after),
  ]
}

// What a provider gave for a person goes with the link.
function projectLinks(before: Aggregate<User>, { id, state }: Aggregate<User>): Write[] {
  const present = state?.human?.links ?? []
  const gone = (before.state?.human?.links ?? []).filter(
    (link) => !present.some(({ idpId, linkedAt }) => idpId === link.idpId && linkedAt === link.linkedAt),
  )
  return gone.map(({ idpId }) => forgetTokens({ userId: id, idpId }))
}

// Sessions and access tokens end for good. So do unbound tokens when bound ones become mandatory. Personal access
// tokens stay, but are refused until their user is active again or removed.
function projectState(before: Aggregate<User>, { id, organizationId, changedAt, state }: Aggregate<User>): Write[] {
  if (state?.removed && !state.former)
    return [
      withoutTokens((sql) => sql`user_id = ${id}`),
      ...deletedWithUser.map(
        (table): Write =>
          (sql) =>
            sql`delete from ${sql(table)} where user_id = ${id}`,
      ),
      beginErasure({ userId: id, organizationId, removedAt: changedAt }),
    ]
  if (state?.machine?.dpopRequired && !before.state?.machine?.dpopRequired)
    return [(sql) => sql`delete from tokens where user_id = ${id} and token_id is not null and dpop_thumbprint is null`]
  const { forgetAt } = state ?? {}
  const ended = forgetAt !== undefined && !before.state?.removed
  const restored = before.state?.former && !state?.removed
  return [
    ...(ended ? [beginErasure({ userId: id, organizationId, removedAt: changedAt, forgetAt })] : []),
    ...(restored ? [endErasure(id)] : []),
    ...(isActive(before.state) && !isActive(state)
      ? [
          withoutTokens((sql) => sql`user_id = ${id} and (session_id <> '' or token_id is not null)`),
          withoutHalfDone(id),
          withoutProviderSessions(id),
        ]
      : []),
    ...projectSignOut(before, id, state),
  ]
}

function withoutProviderSessions(userId: string): Write {
  return (sql) => sql`delete from provider_sessions where user_id = ${userId}`
}

function withoutHalfDone(userId: string): Write {
  return (sql) => sql`delete from half_done_sessions where user_id = ${userId}`
}

function projectSignOut(before: Aggregate<User>, id: string, state: User | undefined): Write[] {
  const isOut = (isActive(before.state) && !isActive(state)) || signOutsOf(state) > signOutsOf(before.state)
  const of = { user_id: id, kept_session_id: state?.keptSession?.id }
  return isOut && before.state?.human ? [withoutAuthorizations(of, 'signed-out')] : []
}

// An ended session leaves no row that could pass for a token.
function projectSession({ id, state }: Aggregate<Session>): Write[] {
  if (!state?.ended) return []
  return [
    (sql) => sql`delete from tokens where session_id <> '' and session_id = ${id}`,
    (sql) => sql`delete from provider_sessions where session_id = ${id}`,
    withoutAuthorizations({ session_id: id }, 'signed-out'),
  ]
}
