import { RosterError } from '#lib/errors'
import type { Use } from '#lib/eventstore/command'
import type { Context } from '../../context.ts'
import { mailboxOf } from './mailbox.ts'

/**
 * `code`: a caller of the organization causes the mail. `stranger`: a person without a token forgot a password, and must
 * not use up the organization's mails, nor must other organizations use up those of the address. `notice`: it reports a
 * change, and no one may use up the limit beforehand. `password`: it reports a new password, and must not use up the
 * notices. `factor`: the person needs it to sign in, as a stranger's mail.
 */
export type MailCause = 'code' | 'stranger' | 'notice' | 'password' | 'factor'

/**
 * The uses that a mail counts as: one of its mailbox, for all callers together, and one of the user's organization. A
 * recovery counts within the organization alone: others could keep the mail from a person who forgot the password. Both
 * are stored as MACs. RESOURCE_EXHAUSTED MAILS_THROTTLED where there were too many.
 */
export function mailUses(
  { config, keys }: Pick<Context, 'config' | 'keys'>,
  address: string,
  organizationId: string,
  cause: MailCause = 'code',
): Use[] {
  const mailbox = mailboxOf(address)
  const ofAddress = {
    code: ['address', mailbox],
    stranger: ['address of recoveries', mailbox, organizationId],
    notice: ['address of notices', mailbox],
    password: ['address of passwords', mailbox, organizationId],
    factor: ['address of factors', mailbox, organizationId],
  }
  const keyOf = (parts: string[]) => keys.mac('mail-uses', keys.currentId, parts).toString('base64')
  return [
    {
      key: keyOf(ofAddress[cause]),
      limits: [
        { most: config.MAILS_PER_ADDRESS_IN_TEN_MINUTES, seconds: 600 },
        { most: config.MAILS_PER_ADDRESS_A_DAY, seconds: 86_400 },
      ],
      exceeded: throttled('address'),
    },
    {
      key: keyOf([cause === 'code' ? 'organization' : `organization of ${cause}s`, organizationId]),
      limits: [{ most: config.MAILS_PER_ORGANIZATION_AN_HOUR, seconds: 3600 }],
      exceeded: throttled('organization'),
    },
  ]
}

const messages = {
  address: 'Too many mails went to this address lately.',
  organization: 'Too many mails went to users of the organization lately.',
}

function throttled(limit: keyof typeof messages) {
  return (retryAfter: number) =>
    new RosterError('RESOURCE_EXHAUSTED', 'MAILS_THROTTLED', messages[limit], { retryAfter, metadata: { limit } })
}
