import { orUnavailable, type Sql, type Statement } from '#lib/database/database'
import { deleteInPortions } from '#lib/database/delete-in-portions'
import type { Keyring } from '#lib/encryption/keys'
import { limitReached, RosterError } from '#lib/errors'
import type { Existing, Read } from '#lib/eventstore/aggregate'
import type { Guard } from '#lib/eventstore/command'
import type { Context } from '../../context.ts'
import { canonicalAddress } from '../../directory/email/address.ts'
import { type Invitation, invitationType, type NewLink } from '../../directory/events/invitation.ts'

const [purpose, mostPending] = ['invitation-detail', 10_000]

/** What is stored of an invitation in plain. */
export interface InvitationRow {
  email: string
  /** Who accepted it, or is about to. */
  userId: string | null
  detail: Buffer
}

/** Texts that are stored encrypted. */
export interface InvitationTexts {
  preferredLanguage: string
  message: string
}

/** An invitation with what no event has. */
export interface WholeInvitation extends Read<Existing<Invitation>>, InvitationTexts {
  email: string
  acceptingId: string | undefined
}

/** NOT_FOUND INVITATION_NOT_FOUND. */
export function invitationNotFound(): RosterError {
  return new RosterError('NOT_FOUND', 'INVITATION_NOT_FOUND', 'There is no such invitation.')
}

/** UNAVAILABLE STORE_UNAVAILABLE. */
export async function findInvitation(
  { store, sql, keys }: Pick<Context, 'store' | 'sql' | 'keys'>,
  id: string,
): Promise<WholeInvitation | undefined> {
  // Validation of the id may come later. No database holds this one.
  if (id.includes('\0')) return undefined
  const [invitation, rows] = await Promise.all([
    store.load<Invitation>(invitationType, id),
    orUnavailable(sql<InvitationRow[]>`
      select email, user_id as "userId", detail from invitations where invitation_id = ${id}
    `),
  ])
  const [row] = rows
  return invitation && row && { ...invitation, ...openRow(keys, row) }
}

/** One of this organization. NOT_FOUND INVITATION_NOT_FOUND. */
export async function ownInvitation(
  context: Pick<Context, 'store' | 'sql' | 'keys'>,
  id: string,
  organizationId: string,
): Promise<WholeInvitation> {
  const found = await findInvitation(context, id)
  if (found?.organizationId !== organizationId) throw invitationNotFound()
  return found
}

export function openRow(keys: Keyring, { email, userId, detail }: InvitationRow) {
  const texts = JSON.parse(keys.decrypt(purpose, detail)) as InvitationTexts
  return { email, acceptingId: userId ?? undefined, ...texts }
}

/** Keeps the row of a new invitation. */
export function keepInvitation(
  keys: Keyring,
  { id, organizationId, now }: { id: string; organizationId: string; now: Date },
  { email, preferredLanguage, message, appId }: InvitationTexts & { email: string; appId: string },
  { expiresAt, inviterId }: NewLink,
): Statement {
  const detail = keys.encrypt(purpose, JSON.stringify({ preferredLanguage, message } satisfies InvitationTexts))
  return (sql) => sql`
    insert into invitations (
      invitation_id, organization_id, created_at, expires_at, email, canonical_email, inviter_id, application_id, detail
    )
    values (
      ${id}, ${organizationId}, ${now}, ${expiresAt}, ${email}, ${canonicalAddress(email)}, ${inviterId},
      ${appId || null}, ${detail}
    )
  `
}

export function keepNewLink(id: string, { expiresAt, inviterId }: NewLink): Statement {
  return (sql) => sql`
    update invitations set expires_at = ${expiresAt}, inviter_id = ${inviterId}, ended = null where invitation_id = ${id}
  `
}

/** Five wrong codes ended the link before its time. */
export function keepDeadLink(id: string, now: Date): Statement {
  return (sql) => sql`update invitations set expires_at = ${now} where invitation_id = ${id}`
}

export function keepEnd(id: string, ended: 'accepted' | 'revoked', userId: string | null): Statement {
  return (sql) => sql`update invitations set ended = ${ended}, user_id = ${userId} where invitation_id = ${id}`
}

/** Notes the new person, whose roles are given next. */
export function keepAccepting(id: string, userId: string): Statement {
  return (sql) => sql`update invitations set user_id = ${userId} where invitation_id = ${id}`
}

/** An organization has no more than so many that are pending. */
export function pendingGuard(organizationId: string): Guard {
  return {
    key: JSON.stringify(['pending invitations', organizationId]),
    counted: { by: 'count_pending_invitations', of: { organizationId } },
    most: mostPending,
    full: limitReached(
      'organization.invitations',
      mostPending,
      `An organization has at most ${mostPending} invitations that are pending.`,
    ),
  }
}

/** Deletes those that are over for 90 days. Whoever accepted one is known without it. */
export async function deleteInvitations(sql: Sql): Promise<void> {
  await deleteInPortions(sql, 'invitations', sql`expires_at < roster_now() - interval '90 days'`)
}
