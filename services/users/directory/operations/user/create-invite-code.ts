import { randomUUID } from 'node:crypto'
import type { CreateInviteCodeRequest, CreateInviteCodeResponse } from '#gen/roster/users/v1/user_service'
import { RosterError, type Violation } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { permissionDenied } from '#lib/rpc/authorize'
import type { Call } from '#lib/rpc/headers'
import { isOpen } from '../../../../organization-status.ts'
import type { Context } from '../../../context.ts'
import { passwordSet } from '../../passwords/invite-code.ts'
import { checkVerification, codeRequested, requestCode, templateOf } from '../../email/verification.ts'
import type { NewMail } from '../../email/new-mail.ts'
import { hasOwnFactor, withinAnHour } from '../../events/human.ts'
import { humanOf, passwordOf, type User, type UserEvent } from '../../events/user.ts'
import { findUserById } from '../../login-names/login-user.ts'
import { vouching } from '../../login-names/vouching.ts'
import { requireMayActOn } from '../../may-act-on.ts'
import { statuses } from '../../organizations/statuses.ts'
import { throttle } from '../../rate-limits/throttle.ts'
import { isActive } from '../../states/user-state.ts'

const mostAnHour = 3

export const createInviteCode = {
  permit: ({ userId }: CreateInviteCodeRequest, call: Call, _holdsPermission: boolean, context: Context) =>
    permitInvite(userId, call, context),

  check: (context: Context, { verification }: CreateInviteCodeRequest): Violation[] =>
    // Every caller holds user.write.
    checkVerification(context, verification, true),

  handle: (context: Context, request: CreateInviteCodeRequest, call: Call): Promise<CreateInviteCodeResponse> =>
    invite(context, request, call),
}

/** PERMISSION_DENIED as SetEmail of another user: who sees the code chooses the password. */
export async function permitInvite(userId: string, call: Call, context: Context): Promise<void> {
  if (userId === call.caller.userId) throw permissionDenied()
  await requireMayActOn(context, userId, call)
}

/** Makes a code for a human without a password, and mails or returns it. `isAgain`: there must be a mailed one. */
export async function invite(
  context: Context,
  { userId, verification, isAgain = false }: CreateInviteCodeRequest & { isAgain?: boolean },
  call: Call,
): Promise<CreateInviteCodeResponse & NewMail> {
  const codeId = randomUUID()
  const seen = await findUserById(context, userId)
  const vouch = await vouching(context, seen?.organizationId ?? '', [verification], call)
  return context.store.execute({
    aggregate: { type: 'user', id: userId },
    reads: { status: statuses.key(seen?.organizationId ?? '') },
    call,
    decide({ id, organizationId, state }: Aggregate<User>, now, { status }): Decision<UserEvent, string | undefined> {
      const human = humanOf(state)
      if (!isActive(state) || !isOpen(status)) throw notActive()
      // Every change of the password raises its number.
      if (!seen || seen.hash !== null || hasOwnFactor(human) || passwordOf(state) !== passwordOf(seen.state))
        throw passwordSet()
      const former = human.invite?.delivery === 'pending' ? human.invite : undefined
      if (isAgain && !former) throw notInvited()
      if (human.invite) throttle(withinAnHour(human.invites ?? [], now), mostAnHour, 3600, now, 'CODE_THROTTLED')
      const { urlTemplate = former?.urlTemplate, applicationName = former?.applicationName } =
        verification?.$case === 'sendCode' ? verification.value : {}
      const chosen =
        verification?.$case === 'returnCode' ? verification : { $case: 'sendCode' as const, value: { urlTemplate } }
      const invitation = { invitedBy: call.caller.userId, applicationName }
      const whom = { codeId, userId: id, email: human.email, organizationId }
      const code = requestCode(context, chosen, whom, now, invitation)!
      // Who chose the former link sees the code there, and the new one as well.
      const isInherited = templateOf(verification) === undefined && former?.askedBy !== undefined
      const seer = isInherited
        ? { callerId: former.askedBy!, vouchedOn: former.vouchedOn }
        : { callerId: call.caller.userId, vouchedOn: vouch(human.email) }
      const { event, uses } = codeRequested(code, 'invitation', { ...seer, userId: id })
      return { events: [event], uses, answer: code.returned }
    },
    respond: ({ after, answer: inviteCode }) => ({ details: details(after), inviteCode, mailId: codeId }),
  })
}

function notActive() {
  const message = 'The user is deactivated or locked, or its organization is deactivated.'
  return new RosterError('FAILED_PRECONDITION', 'USER_NOT_ACTIVE', message)
}

function notInvited() {
  const message = 'The user has no invitation that was mailed and not used.'
  return new RosterError('FAILED_PRECONDITION', 'NOT_INVITED', message)
}
