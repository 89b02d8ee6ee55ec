import { randomUUID } from 'node:crypto'
import { linkKey } from '../../directory/events/links.ts'
import type { ShowTakeBackRequest, TakeBackEmailRequest } from '#gen/roster/users/v1/account_service'
import { NoticeReason, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import type { Write } from '#lib/database/database'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision, UniqueKey } from '#lib/eventstore/command'
import { countLimit } from '#lib/limits-hit'
import { anonymous } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { isNoticeDropped } from '../../directory/email/mail-uses.ts'
import { requestNotice, withNotice } from '../../directory/email/notice.ts'
import { readTakeBack } from '../../directory/email/take-back-link.ts'
import { findTakeBack, type Human, type SecondFactorKind, type TakeBack } from '../../directory/events/human.ts'
import { type User, type UserEvent, userKey } from '../../directory/events/user.ts'
import { storePassword } from '../../directory/passwords/store-password.ts'
import { mayStillActOn } from '../../directory/may-act-on.ts'
import { networkOf } from '../../directory/rate-limits/token-buckets.ts'
import { isActive } from '../../directory/states/user-state.ts'
import { newToken } from '../../directory/tokens/token.ts'
import { loadLoginPolicy } from '../../sessions/login-policy/load-login-policy.ts'
import type { LoginPolicy } from '../../sessions/login-policy/login-policy.ts'
import { renewsPasswords } from '../../sessions/login-policy/recovery-page.ts'
import { withoutFactor } from '../../sessions/factors/removal.ts'
import { notice, show } from '../../openid/authorization/answer.ts'
import { brandedFor } from '../sign-in/branded.ts'

export function showTakeBack(context: Context, { organizationId }: ShowTakeBackRequest): Promise<PageAnswer> {
  return brandedFor(context, show({ $case: 'takeBack', value: {} }), organizationId)
}

export async function takeBackEmail(
  context: Context,
  { secret, organizationId }: TakeBackEmailRequest,
  call: Call,
): Promise<PageAnswer> {
  const { clientAddress, requestId, deadline } = call
  const expired = () => brandedFor(context, notice(NoticeReason.NOTICE_REASON_LINK_EXPIRED), organizationId)
  const meant = readTakeBack(context.keys, secret)
  const user = meant && (await context.store.load<User>('user', meant.userId))
  const found = user && livingTakeBack(user.state, meant.noticeId, user.readAt)
  // The address may be that of somebody whom the user's roles have outgrown: then it brings no account back.
  if (!found || !(await mayStillActOn(context, [found.setBy], meant.userId, call))) return expired()
  const { userId, noticeId } = meant
  const nobodyKnows = newToken()
  const hash = await context.passwordHashes.hash(nobodyKnows, {
    lane: networkOf(clientAddress) ?? clientAddress,
    deadline,
  })
  const replaced = { noticeId: randomUUID(), isOwn: false, hasLink: false }
  const change = (isNoticed: boolean): Promise<boolean> =>
    context.store.execute({
      aggregate: userKey(userId),
      call: { caller: { ...anonymous, userId }, requestId, deadline },
      decide(present: Aggregate<User>, now): Decision<UserEvent, boolean> {
        const takeBack = livingTakeBack(present.state, noticeId, now)
        if (!takeBack) return { events: [], answer: false }
        const { email, setBy } = takeBack
        const before = factorsBefore(userId, takeBack, present.state!.human!)
        const decision: Decision<UserEvent, boolean> = {
          releases: before.releases,
          events: [
            // The link came by mail to this address, so it proves that.
            {
              type: 'email.changed',
              payload: { email, isVerified: true, vouchedOn: 'instance', takenBack: noticeId, ...(setBy && { setBy }) },
            },
            // Who changed the address knew the password. With it end all sessions and authorizations.
            { type: 'password.changed', payload: {} },
            ...before.events,
          ],
          writes: [...storePassword(userId, hash, ''), ...before.writes],
          answer: true,
        }
        // The link may be misused, by who has a former address.
        return isNoticed ? withNotice(decision, requestNotice(context, present, email, replaced, now)) : decision
      },
      respond: ({ answer }) => answer,
    })
  const isBack = await change(true).catch((error: unknown) => {
    if (!isNoticeDropped(error)) throw error
    countLimit(error)
    return change(false)
  })
  if (!isBack) return expired()
  const policy = await loadLoginPolicy(context, user.organizationId)
  return brandedFor(context, notice(reasonOf(policy)), user.organizationId)
}

// How the person gets in now: the password has ended.
function reasonOf(policy: LoginPolicy): NoticeReason {
  if (policy.factors.includes('mailed-code')) return NoticeReason.NOTICE_REASON_TAKEN_BACK_BY_CODE
  return renewsPasswords(policy)
    ? NoticeReason.NOTICE_REASON_TAKEN_BACK
    : NoticeReason.NOTICE_REASON_TAKEN_BACK_WITHOUT_RESET
}

function livingTakeBack(user: User | undefined, noticeId: string, now: Date): TakeBack | undefined {
  return isActive(user) ? findTakeBack(user?.human, noticeId, now) : undefined
}

// The second factors become those of the time before the change. One that was added since would shut the owner out, and so
// would one with another secret. A secret that was deleted does not come back.
function factorsBefore(
  userId: string,
  { secondFactors: former = [], factorsAdded: addedBefore = {}, passkeyIds = [], linkedAt = [] }: TakeBack,
  { secondFactors: present = [], factorsAdded = {}, passkeys = [], links = [] }: Human,
): { events: UserEvent[]; writes: Write[]; releases: UniqueKey[] } {
  const isSame = (kind: SecondFactorKind) => kind === 'otp-email' || factorsAdded[kind] === addedBefore[kind]
  const removed = present.filter((kind) => !former.includes(kind) || !isSame(kind))
  const unlinked = links.filter((link) => !linkedAt.includes(link.linkedAt))
  const added = former.filter((kind) => kind === 'otp-email' && !present.includes(kind))
  return {
    events: [
      ...removed.map((kind): UserEvent => ({ type: 'factor.removed', payload: { kind } })),
      ...added.map((kind): UserEvent => ({ type: 'factor.added', payload: { kind } })),
      // A passkey that was removed since is gone: its authenticator may have been told.
      ...passkeys.flatMap(({ id: passkeyId }): UserEvent[] =>
        passkeyIds.includes(passkeyId) ? [] : [{ type: 'passkey.removed', payload: { passkeyId } }],
      ),
      ...unlinked.map(({ idpId }): UserEvent => ({ type: 'idp.unlinked', payload: { idpId } })),
    ],
    releases: unlinked.map(linkKey),
    writes: removed.flatMap((kind) => withoutFactor(userId, kind)),
  }
}
