import { MailKind } from '#gen/roster/users/v1/internal_service'
import { mailAddress } from '../../directory/email/address.ts'
import { nameOfInviter } from '../../directory/email/mail-content.ts'
import { endWithoutEvent, type KindOfMail } from '../../directory/email/mail-kind.ts'
import { isUnsent } from '../../directory/email/unsent-mails.ts'
import { isOpenInvitation } from '../../directory/events/invitation.ts'
import { isOrganizationOpen } from '../../directory/organizations/statuses.ts'
import { findInvitation } from './invitation-rows.ts'
import { findInvited } from './invited.ts'
import { findLanding } from './landing.ts'
import { codeOf, linkOf, mailKind } from './new-link.ts'
import { namesOf, waysToJoin } from './ways-to-join.ts'

/** The mail of an invitation. There is no user yet, so it is by the id of the invitation. */
export const invitationMail: KindOfMail = {
  number: MailKind.MAIL_KIND_INVITATION,
  name: mailKind,
  async content(context, { userId: id, codeId }) {
    const invitation = await findInvitation(context, id)
    const { state, readAt, email, organizationId } = invitation ?? {}
    if (!isOpenInvitation(state, readAt ?? new Date(0)) || state.link.codeId !== codeId) return undefined
    if (!(await isUnsent(context, codeId)) || !(await isOrganizationOpen(context, organizationId!))) return undefined
    const [inviter, landing, invited, ways] = await Promise.all([
      nameOfInviter(context, state.link.inviterId),
      findLanding(context, state),
      findInvited(context, { id, codeId }),
      waysToJoin(context, invitation!),
    ])
    return {
      from: { organizationId: organizationId! },
      email: mailAddress(email!),
      code: codeOf(context, id, email!, state.link),
      url: linkOf(context, { id, email: email!, organizationId: organizationId! }, state.link),
      preferredLanguage: invitation!.preferredLanguage,
      displayName: '',
      expirationDate: new Date(state.link.expiresAt),
      changeDate: undefined,
      kind: MailKind.MAIL_KIND_UNSPECIFIED,
      inviter,
      applicationName: landing.name,
      message: invitation!.message,
      // A known person keeps the present way.
      providers: invited?.holderId === undefined ? namesOf(ways) : [],
    }
  },
  end: endWithoutEvent(mailKind),
}
