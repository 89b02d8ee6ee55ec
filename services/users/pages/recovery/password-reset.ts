import { randomUUID } from 'node:crypto'
import type { PasswordResetRequest, PasswordResetResponse } from '#gen/roster/users/v1/password_service'
import { RosterError, type Violation } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import { permissionDenied } from '#lib/rpc/authorize'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { checkTemplate, linkTargets } from '../../directory/email/link.ts'
import { canRecover } from '../../directory/email/can-recover.ts'
import type { NewMail } from '../../directory/email/new-mail.ts'
import { makeCode } from '../../directory/passwords/recovery.ts'
import { mayStillActOn, requireMayActOn } from '../../directory/may-act-on.ts'
import { isOpen } from '../../../organization-status.ts'
import { statuses } from '../../directory/organizations/statuses.ts'
import { existing, isActive } from '../../directory/states/user-state.ts'
import { throttle } from '../../directory/rate-limits/throttle.ts'
import { withinAnHour } from '../../directory/events/human.ts'
import { type PasswordCode, passwordCodeKey } from '../../directory/events/password-code.ts'
import { type User, userKey } from '../../directory/events/user.ts'

export const passwordReset = {
  async permit(request: PasswordResetRequest, call: Call, _holdsPermission: boolean, context: Context): Promise<void> {
    const { userId, medium } = request
    // The own code must come by mail: a stolen session is no proof of the mailbox.
    const isSeen = medium?.$case === 'returnCode' || templateOf(request) !== undefined
    if (userId === call.caller.userId && isSeen) throw permissionDenied()
    await requireMayActOn(context, userId, call)
  },

  check({ config }: Context, request: PasswordResetRequest): Violation[] {
    const template = templateOf(request)
    // Every caller holds user.write.
    return template === undefined ? [] : checkTemplate(template, linkTargets(config, true), 'sendLink.urlTemplate')
  },

  async handle(context: Context, request: PasswordResetRequest, call: Call): Promise<PasswordResetResponse & NewMail> {
    const { userId, medium } = request
    const [codeId, returned] = [randomUUID(), medium?.$case === 'returnCode']
    const before = await context.store.load<User>('user', userId)
    const setBy = before?.state.human?.emailSetBy
    const isTrusted = returned || (await mayStillActOn(context, [setBy], userId, call))
    return context.store.execute({
      aggregate: passwordCodeKey(userId),
      reads: { user: userKey(userId), status: statuses.key(before?.organizationId ?? '') },
      matchesRead: 'user',
      call,
      decide({ state }: Aggregate<PasswordCode>, now, { user, status }) {
        const { human } = existing(user.state)
        if (!human) throw new RosterError('FAILED_PRECONDITION', 'NOT_A_HUMAN', 'Only a human has a password.')
        if (!isActive(user.state) || !isOpen(status)) throw notActive()
        const mayRecover = isTrusted && human.emailSetBy === setBy && canRecover(human, context.config, now)
        if (!returned && !mayRecover) throw cannotRecover()
        const requests = withinAnHour(state?.requests ?? [], now)
        if (!returned)
          for (const [most, seconds] of mailedCodes) throttle(requests, most, seconds, now, 'CODE_THROTTLED')
        const asked = { by: 'code' as const, askedBy: call.caller.userId }
        const recovery = { codeId, human, returned, urlTemplate: templateOf(request), ...asked }
        const { answer: verificationCode, ...decision } = makeCode(context, user, recovery, now)
        return { ...decision, answer: { details: details(user), verificationCode, mailId: codeId } }
      },
      respond: ({ answer }) => answer,
    })
  },
}

/** So many codes are mailed to a user within so many seconds. */
export const mailedCodes = [
  [5, 3600],
  [1, 60],
] as const

function templateOf({ medium }: PasswordResetRequest): string | undefined {
  return medium?.$case === 'sendLink' ? medium.value.urlTemplate : undefined
}

function notActive() {
  const message = 'The user is deactivated or locked, or its organization is deactivated.'
  return new RosterError('FAILED_PRECONDITION', 'USER_NOT_ACTIVE', message)
}

function cannotRecover() {
  return new RosterError(
    'FAILED_PRECONDITION',
    'EMAIL_NOT_RECOVERABLE',
    'The address is not verified, was changed of late, or was set by somebody with fewer roles.',
  )
}
