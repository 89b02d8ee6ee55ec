import { randomUUID } from 'node:crypto'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { anonymous } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { isOpen } from '../../../../organization-status.ts'
import type { Context } from '../../../context.ts'
import { sameAddress } from '../../../directory/email/address.ts'
import { isNoticeDropped } from '../../../directory/email/mail-uses.ts'
import type { User, UserEvent } from '../../../directory/events/user.ts'
import { linking, NotLinked, refuseFurther } from '../../../directory/links/link.ts'
import type { LoginUser } from '../../../directory/login-names/login-user.ts'
import { statuses } from '../../../directory/organizations/statuses.ts'
import { existing, isActive } from '../../../directory/states/user-state.ts'
import { onlyOrganization } from '../../../openid/request/request-organization.ts'
import { stillOpen } from '../../../openid/request/request-row.ts'
import { findLinked } from '../../../sessions/factors/provider/provider.ts'
import { type Notice, noticeOf, settleNotice } from '../../../sessions/passkeys/mail.ts'
import type { OpenedRequest } from '../opened-request.ts'
import { fixedPerson, requestStateOf } from '../request-state.ts'
import type { ProvedNow } from './first-sign-in.ts'
import { findHolder, hasRole } from './holders-of-address.ts'
import { trustedAddress } from './trusted-address.ts'

/**
 * Links the account that has the address of whom a provider has proved, without a question: only where the organization has
 * verified the domain and trusts the provider for it, the provider says that the address is the person's, and the account is
 * of that organization, has proved the address, has no role of Roster, and is not linked to the provider. Returns the user.
 * Undefined: nothing is linked, and the first sign-in goes on as any other.
 */
export async function linkByDomain(
  context: Context,
  opened: OpenedRequest,
  proved: ProvedNow,
  call: Call,
): Promise<LoginUser | undefined> {
  const { row, browser } = opened
  const { email, emailVerified } = proved.claims
  if (proved.refusesLinking || !browser.isPresent || row.parameters.invitation) return undefined
  const trusted = await trustedAddress(context, { idpId: proved.idpId, email, isVerified: emailVerified })
  const user = trusted && (await findHolder(context, email, trusted))
  if (!user || !(await isExpected(context, opened, user, call)) || (await hasRole(context, user, call)))
    return undefined
  try {
    const notice = await link(context, row.id, user, { ...proved, domain: trusted.domain }, call)
    settleNotice(context, notice)
  } catch (error) {
    // Also where too many mails were sent: a link that nobody is told of would be silent.
    if (error instanceof NotLinked || isNoticeDropped(error)) return undefined
    throw error
  }
  return findLinked(context, proved)
}

// The request is for this person, too.
async function isExpected(
  context: Context,
  opened: OpenedRequest,
  { userId, organizationId }: LoginUser,
  call: Call,
): Promise<boolean> {
  const state = await requestStateOf(context, opened, call)
  if ('notice' in state) return false
  const only = onlyOrganization(opened.row.parameters.scope, state.requested.application)
  const persons = [state.asked?.hintedUser, fixedPerson(state)?.signedInUser.userId]
  return (only ?? organizationId) === organizationId && persons.every((one) => (one ?? userId) === userId)
}

function link(
  context: Context,
  requestId: string,
  { userId, organizationId: home }: LoginUser,
  { idpId, issuer, subject, claims, domain }: ProvedNow & { domain: string },
  call: Call,
): Promise<Notice | undefined> {
  const mailId = randomUUID()
  return context.store.execute({
    aggregate: { type: 'user', id: userId },
    reads: { status: statuses.key(home) },
    call: { caller: { ...anonymous, userId }, requestId: call.requestId, deadline: call.deadline },
    decide({ state, organizationId }: Aggregate<User>, now, { status }): Decision<UserEvent, Notice | undefined> {
      const { human } = existing(state)
      if (!human?.isVerified || !sameAddress(human.email, claims.email) || !isActive(state) || !isOpen(status))
        throw new NotLinked('The account has changed meanwhile.')
      refuseFurther(human.links ?? [], idpId)
      const told = noticeOf(context, 'linked', human, { userId, organizationId, mailId, isOwn: true }, now)
      const userName = (claims.preferredUsername || claims.email || claims.name).slice(0, 200)
      return {
        ...linking({ idpId, issuer, subject, userName, domain }),
        guards: [stillOpen(requestId)],
        ...(told && { writes: told.writes, uses: told.uses }),
        answer: told,
      }
    },
    respond: ({ answer }) => answer,
  })
}
