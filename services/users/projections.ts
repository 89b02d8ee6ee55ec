import type { Aggregate } from '#lib/eventstore/aggregate'
import type { ByFunction, Write } from '#lib/database/database'
import { projectAuthorization, withoutAuthorizations } from './openid/authorization/project-authorization.ts'
import { projectCredentials } from './directory/machine-credentials/project-credentials.ts'
import { withoutLogo } from './sessions/login-policy/logos.ts'
import { projectConsent } from './openid/consents/consent-rows.ts'
import { projectFoundUser } from './directory/search/found-users.ts'
import { beginErasure, endErasure } from './directory/erasure/erasure.ts'
import { deletedWithUser } from './directory/erasure/personal-data.ts'
import { withoutTokens } from './directory/tokens/without-tokens.ts'
import { isActive } from './directory/states/user-state.ts'
import { type Authorization, authorizationType } from './openid/events/authorization.ts'
import { type Code, maxWrongTries } from './directory/events/code.ts'
import { type CodeMail, codeMailType } from './directory/events/code-mail.ts'
import { type Consent, consentType } from './openid/events/consent.ts'
import { type Notices, noticeType } from './directory/events/notice.ts'
import { organizationType, type OrganizationStatus } from './directory/events/organization.ts'
import { type PasswordCode, passwordCodeType, revisionOf } from './directory/events/password-code.ts'
import type { Session } from './sessions/events/session.ts'
import { signOutsOf } from './directory/events/sign-outs.ts'
import type { User } from './directory/events/user.ts'

/** The projections: keeps the service's own tables in step with a change. */
export function project({ before, after }: { before: Aggregate; after: Aggregate }): Write[] {
  if (after.type === 'user') return projectUser(before as Aggregate<User>, after as Aggregate<User>)
  if (after.type === codeMailType) return projectCodeMail(after as Aggregate<CodeMail>)
  if (after.type === passwordCodeType) return projectPasswordCode(after as Aggregate<PasswordCode>)
  if (after.type === noticeType) return projectNotices(after as Aggregate<Notices>)
  if (after.type === organizationType)
    return (after as Aggregate<OrganizationStatus>).state?.state === 'removed' ? [withoutLogo(after.id)] : []
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
  ]
}

function projectUnsentCode(before: Aggregate<User>, after: Aggregate<User>): Write[] {
  const [was, is] = [unsent(before.state), unsent(after.state)]
  if (was?.codeId === is?.codeId) return []
  const code = is && { code_id: is.codeId, requested_at: after.changedAt, expires_at: is.expiresAt }
  // The mail of a code is recorded in a later transaction, so it does not matter which comes first.
  return [{ row: { user_id: after.id, ...code }, calls: unsentCodes, anywhere: true }]
}

// A transaction may change a user more than once, but a statement changes a row only once.
const unsentCodes: ByFunction<{ user_id: string; code_id?: string }>['calls'] = (rows) => {
  const last = [...new Map(rows.map((row) => [row.user_id, row])).values()]
  return [{ name: 'keep_unsent_codes', rows: last }]
}

function projectCodeMail({ id, state }: Aggregate<CodeMail>): Write[] {
  return state ? [(sql) => sql`delete from unsent_email_codes where user_id = ${id} and code_id = ${state.codeId}`] : []
}

function projectPasswordCode({ id, state }: Aggregate<PasswordCode>): Write[] {
  if (state?.delivery !== 'pending' || state.wrongTries >= maxWrongTries) return [withoutResets(id)]
  const { codeId, expiresAt } = state
  return [
    (sql) => sql`
      delete from unsent_mails where user_id = ${id} and kind = 'password-reset' and mail_id <> ${codeId}
    `,
    (sql) => sql`
      insert into unsent_mails (mail_id, user_id, kind, requested_at, expires_at)
      values (${codeId}, ${id}, 'password-reset', roster_now(), ${expiresAt})
      on conflict (mail_id) do nothing
    `,
  ]
}

// A code that can no longer renew the password is not mailed.
function projectPasswordChange(before: Aggregate<User>, { id, state }: Aggregate<User>): Write[] {
  const [was, is] = [before.state?.human, state?.human]
  const isOver = is !== undefined && was !== undefined && (revisionOf(was) !== revisionOf(is) || !isActive(state))
  return isOver ? [withoutResets(id)] : []
}

function withoutResets(userId: string): Write {
  return { row: { user_id: userId }, calls: withoutResetsOf }
}

const withoutResetsOf: ByFunction['calls'] = (rows) => [{ name: 'forget_unsent_resets', rows }]

function projectNotices({ state }: Aggregate<Notices>): Write[] {
  const last = state?.settled.at(-1)
  return last === undefined ? [] : [(sql) => sql`delete from unsent_mails where mail_id = ${last}`]
}

function unsent(user: User | undefined): Code | undefined {
  const code = user?.human?.code
  return code?.delivery === 'pending' && code.wrongTries < maxWrongTries ? code : undefined
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
        ]
      : []),
    ...projectSignOut(before, id, state),
  ]
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
    withoutAuthorizations({ session_id: id }, 'signed-out'),
  ]
}
