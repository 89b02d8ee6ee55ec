import type {
  AddPasskeyByLinkRequest,
  OpenPasskeyLinkRequest,
  ShowPasskeyLinkRequest,
} from '#gen/roster/users/v1/account_service'
import { NoticeReason, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { RosterError } from '#lib/errors'
import { anonymous } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import type { User } from '../../directory/events/user.ts'
import { notice, show } from '../../openid/authorization/answer.ts'
import { openLink } from '../../sessions/passkeys/link.ts'
import { findLinkOf } from '../../sessions/passkeys/living-link.ts'
import { beginRegistration, finishRegistration, type NewFor } from '../../sessions/passkeys/register.ts'
import { brandedFor } from '../sign-in/branded.ts'
import { nameOf } from './my-passkeys.ts'

export function showPasskeyLink(context: Context, { organizationId }: ShowPasskeyLinkRequest): Promise<PageAnswer> {
  const page = show({ $case: 'passkeyLink', value: { userId: '', codeId: '', passkey: undefined } })
  return brandedFor(context, page, organizationId)
}

export async function openPasskeyLink(
  context: Context,
  { userId, codeId, code, organizationId }: OpenPasskeyLinkRequest,
  call: Call,
): Promise<PageAnswer> {
  return orExpired(context, organizationId, async () => {
    await openLink(context, { userId, id: codeId, code }, call)
    const user = (await context.store.load<User>('user', userId))!
    const options = await beginRegistration(context, user, bindingOf(userId, codeId), { secondOnly: false })
    const passkey = { options: JSON.stringify(options), unknownCredentialId: '' }
    return show({ $case: 'passkeyLink', value: { userId, codeId, passkey } })
  })
}

export async function addPasskeyByLink(
  context: Context,
  { userId, codeId, organizationId, credential, name }: AddPasskeyByLinkRequest,
  { requestId, deadline, ...client }: Call,
): Promise<PageAnswer> {
  return orExpired(context, organizationId, async () => {
    const code = await findLinkOf(context, userId, { requestId, deadline, ...client })
    if (code?.code.codeId !== codeId) return notice(NoticeReason.NOTICE_REASON_LINK_EXPIRED)
    const call: Call = { ...client, requestId, deadline, caller: { ...anonymous, userId } }
    const binding = bindingOf(userId, codeId)
    const added = { userId, credential, name: nameOf(name) ?? '', binding, secondOnly: false, code, isOwn: true }
    await finishRegistration(context, added, call)
    return notice(NoticeReason.NOTICE_REASON_PASSKEY_ADDED)
  })
}

// The challenge goes to whoever had the right code, and leads to no other link.
function bindingOf(userId: string, codeId: string): NewFor {
  return { for: 'registration', callerId: '', sessionId: '', userId, passkeyId: '', codeId, secondOnly: false }
}

async function orExpired(
  context: Context,
  organizationId: string,
  work: () => Promise<PageAnswer>,
): Promise<PageAnswer> {
  const page = await work().catch((error: unknown) => {
    const reason = error instanceof RosterError ? outcomes[error.reason] : undefined
    if (reason === undefined) throw error
    return notice(reason)
  })
  return brandedFor(context, page, organizationId)
}

const { NOTICE_REASON_LINK_EXPIRED: expired, NOTICE_REASON_PASSKEY_NOT_ADDED: notAdded } = NoticeReason
const outcomes: Record<string, NoticeReason> = {
  CODE_INVALID: expired,
  PASSKEY_CHALLENGE_OVER: expired,
  PASSKEY_INVALID: notAdded,
  PASSKEY_UNVERIFIED: notAdded,
  PASSKEY_EXISTS: notAdded,
  PASSKEYS_FULL: notAdded,
  FACTOR_NOT_AVAILABLE: notAdded,
  MAILS_THROTTLED: notAdded,
}
