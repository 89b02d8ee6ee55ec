import { RosterError } from '#lib/errors'
import type { Use } from '#lib/eventstore/command'
import type { Context } from '../../context.ts'
import { canonicalAddress } from './address.ts'
import { mailboxOf } from './mailbox.ts'

/**
 * `code`: a caller of the organization causes the mail. `stranger`: a person without a token forgot a password, and must
 * not use up the organization's mails, nor must other organizations use up those of the address. `notice`: it reports
 * that another user changed the address; `own-notice`: that the user did. `password` and `own-password`: the same of a
 * password; `passkey` and `own-passkey`: of a passkey. No one else may use up the limit of a user's own ones beforehand, so these count for the address alone, as
 * it is spelled: one with a tag may be a stranger's. `factor`: the person needs it to sign in, as a stranger's mail. `sign-in`:
 * likewise, and a stranger may ask for it. `domain`: it tells an owner of a domain of the organization.
 */
export type MailCause =
  | 'code'
  | 'stranger'
  | 'factor'
  | 'sign-in'
  | 'notice'
  | 'own-notice'
  | 'password'
  | 'own-password'
  | 'passkey'
  | 'own-passkey'
  | 'domain'

const notices: ReadonlySet<MailCause> = new Set<MailCause>([
  'notice',
  'own-notice',
  'password',
  'own-password',
  'passkey',
  'own-passkey',
  'domain',
])
const own: ReadonlySet<MailCause> = new Set<MailCause>(['own-notice', 'own-password', 'own-passkey'])

/**
 * The uses that a mail counts as: one of its mailbox, for all callers together, and one of the user's organization. A
 * recovery counts within the organization alone: others could keep the mail from a person who forgot the password. Both
 * are stored as MACs. `knownBrowserId`: the person used the browser before, so its mails count apart. RESOURCE_EXHAUSTED MAILS_THROTTLED where there were too many.
 */
export function mailUses(
  { config, keys }: Pick<Context, 'config' | 'keys'>,
  address: string,
  organizationId: string,
  cause: MailCause = 'code',
  knownBrowserId = '',
): Use[] {
  const mailbox = mailboxOf(address)
  const exact = canonicalAddress(address)
  const ofAddress: Record<MailCause, string[]> = {
    code: ['address', mailbox],
    stranger: ['address of recoveries', mailbox, organizationId],
    factor: ['address of factors', mailbox, organizationId],
    'sign-in': ['address of sign-ins', mailbox, organizationId, ...(knownBrowserId === '' ? [] : [knownBrowserId])],
    notice: ['address of notices', exact, organizationId],
    'own-notice': ['address of own notices', exact, organizationId],
    password: ['address of passwords', exact, organizationId],
    'own-password': ['address of own passwords', exact, organizationId],
    passkey: ['address of passkeys', exact, organizationId],
    'own-passkey': ['address of own passkeys', exact, organizationId],
    domain: ['address of domains', exact, organizationId],
  }
  const keyOf = (parts: string[]) => keys.mac('mail-uses', keys.currentId, parts).toString('base64')
  const one: Use = {
    key: keyOf(ofAddress[cause]),
    limits: [
      { most: config.MAILS_PER_ADDRESS_IN_TEN_MINUTES, seconds: 600 },
      { most: config.MAILS_PER_ADDRESS_A_DAY, seconds: 86_400 },
    ],
    exceeded: throttled('address', cause),
  }
  if (own.has(cause)) return [one]
  return [
    one,
    {
      key: keyOf([cause === 'code' ? 'organization' : `organization of ${cause}s`, organizationId]),
      limits: [{ most: config.MAILS_PER_ORGANIZATION_AN_HOUR, seconds: 3600 }],
      exceeded: throttled('organization', cause),
    },
  ]
}

const messages = {
  address: 'Too many mails went to this address lately.',
  organization: 'Too many mails went to users of the organization lately.',
}

function throttled(by: keyof typeof messages, cause: MailCause) {
  const limit = notices.has(cause) ? 'notices' : by
  return (retryAfter: number) =>
    new RosterError('RESOURCE_EXHAUSTED', 'MAILS_THROTTLED', messages[by], { retryAfter, metadata: { limit } })
}

/** There were too many notices. A change by somebody else must not fail by it. */
export function isNoticeDropped(error: unknown): boolean {
  return error instanceof RosterError && error.reason === 'MAILS_THROTTLED' && error.metadata['limit'] === 'notices'
}
