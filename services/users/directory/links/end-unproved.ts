import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { anonymous } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import type { User, UserEvent } from '../events/user.ts'
import { endingUnproved } from './unproved.ts'

/** The mailbox alone is about to open an account: ends what was made before its owner came. */
export async function endUnproved({ store }: Pick<Context, 'store'>, userId: string, call: Call): Promise<void> {
  await store.execute({
    aggregate: { type: 'user', id: userId },
    call: { caller: { ...anonymous, userId }, requestId: call.requestId, deadline: call.deadline },
    decide: ({ state }: Aggregate<User>): Decision<UserEvent> => ({
      ...endingUnproved(state?.human),
      answer: undefined,
    }),
    respond: () => undefined,
  })
}
