import { orUnavailable, type Sql, type Transaction, type Write } from '#lib/database/database'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { anonymous } from '#lib/rpc/caller'
import type { Context } from '../../context.ts'
import { type User, type UserEvent, userKey } from '../../directory/events/user.ts'
import { isActive } from '../../directory/states/user-state.ts'
import { loadLoginPolicy } from './load-login-policy.ts'
import type { PersonPolicy } from './login-policy.ts'

const workFor = 30_000

/**
 * Counts a wrong password where the policy locks after some, and locks the user at the last of them. Owners of the instance
 * are not locked: strangers would shut out whoever could unlock them. UNAVAILABLE STORE_UNAVAILABLE; errors of grants.
 */
export async function lockAfterWrong(
  context: Pick<Context, 'config' | 'sql' | 'store' | 'grants'>,
  { userId, organizationId }: { userId: string; organizationId: string },
  requestId: string,
): Promise<void> {
  const { sql, store, grants } = context
  const { maxPasswordAttempts: most } = await loadLoginPolicy(context, organizationId)
  if (most === Infinity) return
  const [row] = await orUnavailable(sql<{ wrong: number }[]>`
    insert into factor_guesses as g (user_id, kind, browser_id, wrong) values (${userId}, 'password', '', 1)
    on conflict (user_id, kind, browser_id) do update set wrong = g.wrong + 1
    returning wrong
  `)
  if (row!.wrong < most) return
  const deadline = Date.now() + workFor
  const { userIds: owners } = await grants.listInstanceOwners({}, { requestId, deadline })
  if (!owners.includes(userId))
    await store.execute({
      aggregate: userKey(userId),
      call: { caller: anonymous, requestId, deadline },
      decide: ({ state }: Aggregate<User>): Decision<UserEvent> => ({
        events: isActive(state) ? [{ type: 'locked', payload: { wrongPasswords: row!.wrong } }] : [],
        answer: undefined,
      }),
      respond: () => ({}),
    })
  await orUnavailable(deleteCount(sql, userId))
}

/** What a right password stores, where the policy counts wrong ones. */
export function afterRightPassword(
  userId: string,
  { maxPasswordAttempts }: Pick<PersonPolicy, 'maxPasswordAttempts'>,
): Write[] {
  return maxPasswordAttempts === Infinity ? [] : [(sql) => deleteCount(sql, userId)]
}

function deleteCount(sql: Sql | Transaction, userId: string) {
  return sql`delete from factor_guesses where user_id = ${userId} and kind = 'password'`
}
