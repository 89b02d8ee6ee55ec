import { limitsHit } from '#lib/limits-hit'
import type { Context } from '../../context.ts'
import { mailboxOf } from '../../directory/email/mailbox.ts'
import {
  type NamedRateLimit,
  networkOf,
  rateLimitsFor,
  takeFromBuckets,
} from '../../directory/rate-limits/token-buckets.ts'
import { maxWrongTries } from '../../directory/events/code.ts'

/**
 * Counts a mail of a registration: of its address, of its mailbox over all organizations, and of the organization, each
 * apart from all other mails. Returns the seconds to wait where there were too many. No user is looked up, so this says
 * nothing of who has an account.
 */
export function countRegistration(
  context: Pick<Context, 'sql' | 'keys' | 'config'>,
  { email, organizationId, address }: { email: string; organizationId: string; address: string },
): Promise<number | undefined> {
  const { MAILS_PER_ADDRESS_IN_TEN_MINUTES, MAILS_PER_ADDRESS_A_DAY, MAILS_PER_ORGANIZATION_AN_HOUR } = context.config
  const mailbox = mailboxOf(email)
  const within = (name: string[], most: number, seconds: number): NamedRateLimit => {
    return { name, most, pause: seconds / most, kind: 'always' }
  }
  return count(context, [
    ...ofClient('registrations from', address, { most: 20, pause: 30 }, { most: 100, pause: 18 }),
    within(['registrations of', mailbox], MAILS_PER_ADDRESS_IN_TEN_MINUTES, 600),
    within(['registrations of, a day', mailbox], MAILS_PER_ADDRESS_A_DAY, 86_400),
    within(['registrations in', organizationId], MAILS_PER_ORGANIZATION_AN_HOUR, 3600),
  ])
}

/** Counts a try of a code from an address. Returns the seconds to wait where there were too many. */
export function countTryFrom(
  context: Pick<Context, 'sql' | 'keys'>,
  address: string,
  of: 'registrations' | 'invitations' = 'registrations',
): Promise<number | undefined> {
  const what = of === 'registrations' ? 'registration codes from' : 'invitation codes from'
  return count(context, ofClient(what, address, { most: 100, pause: 3 }, { most: 1000, pause: 0.3 }), of)
}

/** Counts a try of a code, also of several at once. False where there were too many: the code is dead then. */
export async function mayTry({ sql, keys }: Pick<Context, 'sql' | 'keys'>, codeId: string): Promise<boolean> {
  // No registration lives until another try comes back.
  const limit: NamedRateLimit = {
    name: ['registration code', codeId],
    most: maxWrongTries,
    pause: 3600,
    kind: 'always',
  }
  return (await takeFromBuckets(sql, rateLimitsFor(keys, [limit]))) === undefined
}

type Bucket = Pick<NamedRateLimit, 'most' | 'pause'>

function ofClient(what: string, address: string, ofAddress: Bucket, ofNetwork: Bucket): NamedRateLimit[] {
  const network = networkOf(address)
  return [
    { name: [what, address], ...ofAddress, kind: 'always' },
    ...(network === undefined ? [] : [{ name: [what, network], ...ofNetwork, kind: 'always' as const }]),
  ]
}

async function count(
  { sql, keys }: Pick<Context, 'sql' | 'keys'>,
  limits: NamedRateLimit[],
  of: 'registrations' | 'invitations' = 'registrations',
) {
  const wait = await takeFromBuckets(sql, rateLimitsFor(keys, limits))
  if (wait !== undefined) limitsHit.add(1, of)
  return wait
}
