import { canonicalName } from '#lib/search/canonical-name'
import type { Existing, Read } from '#lib/eventstore/aggregate'
import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { userNameKind } from '../../directory/new-user.ts'
import { lookupDomain } from '../../directory/organizations/organization-domain.ts'
import type { User } from '../../directory/events/user.ts'

/** A machine user as OAuth's client. */
export type MachineUser = Read<Existing<User>>

/**
 * The machine of a client id: a user id, or userName@organization-domain. No user id holds an @. Undefined where it is
 * no machine.
 */
export async function findMachine(context: Context, clientId: string, call: Call): Promise<MachineUser | undefined> {
  const userId = clientId.includes('@') ? await findByName(context, clientId, call) : clientId
  const user = userId === undefined ? undefined : await context.store.load<User>('user', userId)
  return user?.state.machine ? user : undefined
}

async function findByName({ sql, personal, grants }: Context, name: string, call: Call): Promise<string | undefined> {
  const at = name.lastIndexOf('@')
  const organizationId = await lookupDomain(grants, name.slice(at + 1), call)
  if (organizationId === undefined) return undefined
  const key = personal.storedKey(userNameKind, canonicalName(name.slice(0, at)))
  const [found] = await orUnavailable(sql<{ userId: string }[]>`
    select aggregate_id as "userId" from unique_keys
    where kind = ${userNameKind} and scope = ${organizationId} and key = ${key}
  `)
  return found?.userId
}
