import type { Existing } from '#lib/eventstore/aggregate'
import type { Context } from '../../context.ts'
import { issuerOf } from '../issuer.ts'
import type { User } from '../events/user.ts'

/** What a removal takes in its own transaction. It counts nothing, so it is exact. */
const takenAtOnce = ['key', 'searches', 'tokens', 'passwords', 'knownAddresses', 'waitingMails', 'userName']

/** The receipt for the removal of a user. */
export function receiptOf(
  { config, signingKeys }: Pick<Context, 'config' | 'signingKeys'>,
  { id, organizationId, sequence, changedAt, state: { forgetAt } }: Existing<User>,
  removedBy: string,
): string {
  return signingKeys.signReceipt({
    iss: issuerOf(config),
    iat: Math.floor(changedAt.getTime() / 1000),
    removal: {
      userId: id,
      organizationId,
      sequence,
      removedAt: changedAt.toISOString(),
      removedBy,
      // Of a removal that can be undone: nothing is erased before that time.
      ...(forgetAt !== undefined && { forgetAt }),
      forgotten: forgetAt === undefined ? takenAtOnce : [],
      // The services clean these after the answer; `npm run roster -- erasure-report` shows whether they have.
      follows: ['stream', 'deliveries', 'statistics'],
    },
  })
}
