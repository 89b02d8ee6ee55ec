import type { Aggregate } from '#lib/eventstore/aggregate'
import { startSealing } from '#lib/eventstore/sealing/start-sealing'
import type { Service } from '#lib/process'
import type { Context } from './context.ts'
import { model } from './model.ts'
import { findAgain } from './search/found-users.ts'
import type { User } from './vocabulary/user.ts'

/** Seals what earlier versions stored of users in plain, once an operator asks for it. */
export function startSealingUsers({ sql, personal, log }: Context, graceMs?: number): Service {
  return startSealing({
    sql,
    personal,
    vocabulary: model,
    log,
    sealed: (transaction, people) => findAgain(transaction, people as Existing[]),
    async finished(transaction) {
      await transaction`update unsent_mails set address = null where address is not null`
    },
    ...(graceMs !== undefined && { graceMs }),
  })
}

type Existing = Aggregate<User>
