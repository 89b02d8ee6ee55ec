import { randomUUID } from 'node:crypto'
import type { SetEmailRequest, SetEmailResponse } from '#gen/roster/users/v1/user_service'
import { RosterError, type Violation } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { countLimit } from '#lib/limits-hit'
import type { Call } from '#lib/rpc/headers'
import { isBesideFormer } from '#lib/schema/releases'
import { permissionDenied } from '#lib/rpc/authorize'
import type { Context } from '../../../context.ts'
import { checkAddress, sameAddress } from '../../email/address.ts'
import { checkVerification, type CodeRequest, codeRequested, requestCode } from '../../email/verification.ts'
import { isNoticeDropped } from '../../email/mail-uses.ts'
import { requestNotice, withNotice } from '../../email/notice.ts'
import { vouchingFor } from '../../login-names/vouching.ts'
import { requireMayActOn } from '../../may-act-on.ts'
import { throttle } from '../../rate-limits/throttle.ts'
import type { VouchedOn } from '../../events/code.ts'
import { withinAnHour } from '../../events/human.ts'
import { humanOf, type User, type UserEvent } from '../../events/user.ts'

const ownChangesAnHour = 10

export const setEmail = {
  async permit(request: SetEmailRequest, call: Call, holdsPermission: boolean, context: Context): Promise<void> {
    const { userId, verification } = request
    const needsPermission = verification?.$case === 'returnCode' || verification?.$case === 'isVerified'
    if (needsPermission && !holdsPermission) throw permissionDenied()
    await requireMayActOn(context, userId, call)
  },

  check: (
    context: Context,
    { email, verification }: SetEmailRequest,
    _call: Call,
    holdsPermission: boolean,
  ): Violation[] => [...checkAddress(email), ...checkVerification(context, verification, holdsPermission)],

  async handle(context: Context, request: SetEmailRequest, call: Call): Promise<SetEmailResponse> {
    const [codeId, noticeId] = [randomUUID(), randomUUID()]
    const { vouch, isOwnWord } = await vouchingFor(context, request, call)
    const isOwn = call.caller.userId === request.userId
    // A replica of the former release does not know the fields that a link needs.
    const hasLink = isOwn && !(await isBesideFormer(context.sql))
    const change = (isNoticed: boolean): Promise<SetEmailResponse> =>
      context.store.execute({
        aggregate: { type: 'user', id: request.userId },
        call,
        decide(user: Aggregate<User>, now): Decision<UserEvent, string | undefined> {
          const { userId, verification } = request
          const { organizationId } = user
          const present = user.state?.human?.email
          // Another spelling of the present address is that address.
          const email = present !== undefined && sameAddress(present, request.email) ? present : request.email
          const code = requestCode(context, verification, { codeId, userId, email, organizationId }, now)
          const word = { vouchedOn: vouch(email), callerId: call.caller.userId, isOwnWord }
          const decision = decide(user, { ...request, email }, code, word, now)
          if (!isNoticed) return decision
          return withNotice(decision, requestNotice(context, user, email, { noticeId, isOwn, hasLink }, now))
        },
        respond: ({ after, answer: verificationCode }) => ({
          details: { ...details(after), creationDate: undefined },
          verificationCode,
        }),
      })
    return change(true).catch((error: unknown) => {
      // Without its notice, a thief's change would be silent, and could not be taken back.
      if (!isNoticeDropped(error) || isOwn) throw error
      countLimit(error)
      context.log.warn(
        { userId: request.userId },
        'no notice of a change goes to the former address: there were too many',
      )
      return change(false)
    })
  },
}

function decide(
  { id, state }: Aggregate<User>,
  { email, verification }: SetEmailRequest,
  code: CodeRequest | undefined,
  { callerId, vouchedOn, isOwnWord }: Word,
  now: Date,
): Decision<UserEvent, string | undefined> {
  const human = humanOf(state)
  const own = callerId === id
  const { emailSetBy } = human
  const events: UserEvent[] = []
  const vouched = !code && { ...(!own && { vouched: true }), ...(vouchedOn && { vouchedOn }) }
  if (email !== human.email) {
    const setBy = own ? {} : { setBy: callerId }
    events.push({ type: 'email.changed', payload: { email, isVerified: !code, ...vouched, ...setBy } })
  } else if (!code) {
    const setBy = emailSetBy !== undefined && emailSetBy !== callerId && { setBy: callerId }
    // It ends the links that take a change back.
    const endsLinks = !own && (human.takeBacks ?? []).length > 0
    if (!human.isVerified || setBy || (isOwnWord && vouchedOn) || endsLinks)
      events.push({ type: 'email.verified', payload: { ...vouched, ...setBy } })
  } else if (human.isVerified) {
    if (verification?.$case !== 'isVerified')
      throw new RosterError('FAILED_PRECONDITION', 'EMAIL_NOT_CHANGED', 'This is the verified address already.')
    const setBy = emailSetBy !== undefined && { setBy: emailSetBy }
    events.push({ type: 'email.changed', payload: { email, isVerified: false, ...setBy } })
  }
  if (!code) return { events, answer: undefined }
  if (own && code.returned === undefined)
    throttle(withinAnHour(human.ownChanges, now), ownChangesAnHour, 3600, now, 'EMAIL_CHANGES_THROTTLED')
  const { event, uses } = codeRequested(code, own ? 'own-change' : 'change', { callerId, userId: id, vouchedOn })
  return { events: [...events, event], uses, answer: code.returned }
}

interface Word {
  callerId: string
  /** Where the caller's word counts. */
  vouchedOn: VouchedOn | undefined
  /** The present address is verified by the word of the organization alone. */
  isOwnWord: boolean
}
