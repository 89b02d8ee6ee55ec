import type { ReturnEmailVerificationCode, SendEmailVerificationCode } from '#gen/roster/users/v1/user'
import type { Violation } from '#lib/errors'
import type { Use } from '#lib/eventstore/command'
import type { Context } from '../../context.ts'
import { deriveCode, newCode } from './code.ts'
import { checkTemplate, leadsElsewhere, linkTargets } from './link.ts'
import { mailUses } from './mail-uses.ts'
import type { CodeCause, NewCode, VouchedOn } from '../events/code.ts'
import type { UserEvent } from '../events/user.ts'

/** The choice of a request; undefined: a code is mailed. */
export type Verification =
  | { $case: 'sendCode'; value: SendEmailVerificationCode }
  | { $case: 'returnCode'; value: ReturnEmailVerificationCode }
  | { $case: 'isVerified'; value: boolean }
  | undefined

/**
 * The problems of the urlTemplate of a choice. With `anyHost`, it may lead to any host where none is configured.
 * `prefix` is the path to the choice in the request.
 */
export function checkVerification(
  { config }: Pick<Context, 'config'>,
  verification: Verification,
  anyHost: boolean,
  prefix = '',
): Violation[] {
  const urlTemplate = templateOf(verification)
  return urlTemplate === undefined
    ? []
    : checkTemplate(urlTemplate, linkTargets(config, anyHost), `${prefix}sendCode.urlTemplate`)
}

/** The urlTemplate of a choice. */
export function templateOf(verification: Verification): string | undefined {
  return verification?.$case === 'sendCode' ? verification.value.urlTemplate : undefined
}

/** A new code, to be mailed; or to be given to the caller, in `returned`. */
export interface CodeRequest {
  code: NewCode
  urlTemplate?: string
  /** The link leads to a host that only callers with permission may name. */
  leadsElsewhere?: boolean
  returned?: string
  /** It invites a person without a password. */
  invitation?: { invitedBy: string; applicationName?: string | undefined }
  /** The uses that the mail counts as. */
  uses: Use[]
}

/** Of an invitation: seven days. */
const inviteLifetime = 7 * 86_400

/**
 * The code that the choice asks for, under the given id; undefined where the address counts as verified without a code.
 * `invitation`: it invites a person without a password.
 */
export function requestCode(
  { config, keys }: Pick<Context, 'config' | 'keys'>,
  verification: Verification,
  { codeId, userId, email, organizationId }: { codeId: string; userId: string; email: string; organizationId: string },
  now: Date,
  invitation?: CodeRequest['invitation'],
): CodeRequest | undefined {
  if (verification?.$case === 'isVerified' && verification.value) return undefined
  const code = newCode(codeId, keys, invitation ? inviteLifetime : config.EMAIL_CODE_LIFETIME, now)
  const invites = invitation && { invitation }
  if (verification?.$case === 'returnCode')
    return { code, ...invites, returned: deriveCode(keys, code, userId, email), uses: [] }
  const urlTemplate = templateOf(verification)
  const uses = mailUses({ config, keys }, email, organizationId)
  const link = urlTemplate !== undefined && { urlTemplate, leadsElsewhere: leadsElsewhere(config, urlTemplate) }
  return { code, ...invites, ...link, uses }
}

/**
 * The event of a new code, and the uses of its mail. Both come together, so that no code is mailed without being
 * counted. `vouchedOn`: where the word of the caller counts, who may see the code.
 */
export function codeRequested(
  { code, urlTemplate, leadsElsewhere: isElsewhere = false, returned, invitation, uses }: CodeRequest,
  cause: CodeCause,
  { callerId, userId, vouchedOn }: { callerId: string; userId: string; vouchedOn?: VouchedOn | undefined },
): { event: UserEvent; uses: Use[] } {
  const askedBy = (callerId !== userId || isElsewhere) && { askedBy: callerId }
  const seer = { ...askedBy, ...((askedBy || returned !== undefined) && vouchedOn && { vouchedOn }) }
  const { invitedBy, applicationName } = invitation ?? {}
  const invites = invitedBy !== undefined && { invitedBy }
  if (returned !== undefined)
    return { event: { type: 'email.code.returned', payload: { ...code, ...seer, ...invites } }, uses }
  const named = applicationName !== undefined && { applicationName }
  const payload = {
    ...code,
    ...(urlTemplate !== undefined && { urlTemplate, ...seer }),
    cause,
    ...invites,
    ...named,
  }
  return { event: { type: 'email.code.requested', payload }, uses }
}
