import { randomUUID } from 'node:crypto'
import { type PageAnswer, SignInError } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { anonymous } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import { linkKey } from '../../../directory/events/links.ts'
import { isNoticeDropped } from '../../../directory/email/mail-uses.ts'
import type { User, UserEvent } from '../../../directory/events/user.ts'
import { linking, NotLinked, refuseFurther } from '../../../directory/links/link.ts'
import { isUnproved } from '../../../directory/links/unproved.ts'
import { existing } from '../../../directory/states/user-state.ts'
import { show, toPage } from '../../../openid/authorization/answer.ts'
import type { Candidate } from '../../../openid/authorization/candidates.ts'
import { isAllowed } from '../../../openid/judge/judge.ts'
import { advance, type ProvedHere, stillOpen } from '../../../openid/request/request-row.ts'
import { markOfLink } from '../../../sessions/mark-of-link.ts'
import { type Counting, lastProof, missingFactors, ownFactors } from '../../../sessions/login-policy/login-policy.ts'
import { type Notice, noticeOf, settleNotice } from '../../../sessions/passkeys/mail.ts'
import { provedMailboxAlone } from '../../../sessions/mailbox-alone.ts'
import type { OpenedRequest } from '../opened-request.ts'
import type { RequestState } from '../request-state.ts'
import { tellGrants } from '../../../sessions/factors/provider/tell-grants.ts'
import { isOver, provedFor } from './register-proved.ts'

type Opened = Pick<OpenedRequest, 'row' | 'browser' | 'now'>

/** The page that asks whether a provider signs this person in from now on. Undefined: there is nothing to link, or no proof. */
export function offerLink(opened: Opened, person: Candidate): PageAnswer | undefined {
  const { proved } = opened.row.progress
  if (!proved || !hasJustSignedIn(opened, proved, person)) return undefined
  const { provider, subject, email } = proved
  const refusal = proved.taken ? 'taken' : isLinkedOtherwise(proved, person) ? 'other' : ''
  const userName = proved.userName.slice(0, 60)
  return show({
    $case: 'providerLink',
    value: { loginName: person.knownName, provider, userName, subject, email, refusal },
  })
}

/** Links the account of who has just signed in, with all that is asked for, to whom the provider has proved here. */
export async function linkHere(
  context: Context,
  opened: OpenedRequest,
  { chosen }: RequestState,
  call: Call,
): Promise<PageAnswer> {
  const { row } = opened
  const { proved, error: _, ...progress } = row.progress
  const page = toPage(row.id)
  if (!proved || !chosen || !hasJustSignedIn(opened, proved, chosen) || isLinkedOtherwise(proved, chosen)) return page
  const { userId } = chosen.signedInUser
  const { idpId, issuer, subject, userName } = proved
  if ((await context.idp.lookupProvider({ idpId }, call)).refusesLinking) {
    const error = SignInError.SIGN_IN_ERROR_PROVIDER_REFUSED
    await orUnavailable(advance(context.keys, row.id, { ...progress, error })(context.sql))
    return page
  }
  const { byLink, setBy } = markOfLink(chosen.user.human, youngOf(opened, chosen), opened.now)
  const mailId = randomUUID()
  try {
    const notice = await context.store.execute({
      aggregate: { type: 'user', id: userId },
      call: { caller: { ...anonymous, userId }, requestId: call.requestId, deadline: call.deadline },
      decide({ state, organizationId }: Aggregate<User>, now): Decision<UserEvent, Notice | undefined> {
        const { human } = existing(state)
        const links = human?.links ?? []
        // The record names another issuer by now, so that link proves nobody any more.
        const replaced = links.filter((one) => one.idpId === idpId && one.issuer !== issuer)
        refuseFurther(
          links.filter((one) => !replaced.includes(one)),
          idpId,
        )
        const told = human && noticeOf(context, 'linked', human, { userId, organizationId, mailId, isOwn: true }, now)
        return {
          ...linking({
            idpId,
            issuer,
            subject,
            userName,
            ...(isUnproved(human) && { unproved: true }),
            ...((byLink || setBy) && { named: true }),
          }),
          releases: replaced.map(linkKey),
          guards: [stillOpen(row.id)],
          ...(told && { writes: told.writes, uses: told.uses }),
          answer: told,
        }
      },
      respond: ({ answer }) => answer,
    })
    settleNotice(context, notice)
    await tellGrants(context, chosen.signedInUser, { ...proved, at: new Date(proved.at) }, call)
  } catch (refusal) {
    if (isNoticeDropped(refusal)) {
      // A thief's link would be silent.
      const error = SignInError.SIGN_IN_ERROR_PROVIDER_THROTTLED
      await orUnavailable(advance(context.keys, row.id, { ...progress, error })(context.sql))
      return page
    }
    if (!(refusal instanceof NotLinked)) throw refusal
    await orUnavailable(advance(context.keys, row.id, { ...progress, proved: { ...proved, taken: true } })(context.sql))
    return page
  }
  await orUnavailable(advance(context.keys, row.id, progress)(context.sql))
  return page
}

// Everything that the policy demands, and that the person has, was proved in this request, within five minutes: neither an
// earlier sign-in nor a trusted browser stands in.
function hasJustSignedIn({ row, browser, now }: Opened, proved: ProvedHere, person: Candidate): boolean {
  const { user, signedInUser } = person
  const { policy } = signedInUser
  if (!browser.isPresent || proved.registersIn || isOver(proved, now) || !isAllowed(person.verdict)) return false
  if (!policy.providers.some(({ idpId }) => idpId === proved.idpId)) return false
  const young = youngOf({ row, now }, person)
  // The mailbox alone adds no way in.
  if (provedMailboxAlone(user.human, young)) return false
  return (
    lastProof(young) !== undefined &&
    missingFactors(policy, ownFactors(user.human, policy), young, { now }).length === 0
  )
}

function youngOf({ row, now }: Pick<Opened, 'row' | 'now'>, { verdict }: Candidate): Counting[] {
  const isYoung = ({ at }: Counting) => at > row.beganAt && now.getTime() - at.getTime() <= provedFor * 1000
  return isAllowed(verdict) ? verdict.factors.filter(isYoung) : []
}

// One of a former issuer gives way.
function isLinkedOtherwise({ idpId, issuer }: ProvedHere, { user }: Candidate): boolean {
  return (user.human?.links ?? []).some((one) => one.idpId === idpId && one.issuer === issuer)
}
