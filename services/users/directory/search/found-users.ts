import { Type } from '#gen/roster/users/v1/user'
import { canonicalName } from '#lib/search/canonical-name'
import type { Aggregate } from '#lib/eventstore/aggregate'
import { callFunction, type FunctionCall, type Sql, type Write } from '#lib/database/database'
import { type Personal, subjectKeyOf } from '#lib/encryption/personal'
import type { StoredState } from '#lib/encryption/encrypted-fields'
import { canonicalAddress } from '../email/address.ts'
import { shownState } from '../states/user-state.ts'
import type { User } from '../events/user.ts'

const lock = 7_265_004
const portion = 1000

/** Keeps the tables that searches read in step with a user. */
export function projectFoundUser({ state: was }: Aggregate<User>, after: Aggregate<User>): Write[] {
  const is = after.state!
  const isNew = !was || was.removed
  const names = isNew || !sameNames(was, is)
  const address = isNew || was.human?.email !== is.human?.email
  if (!names && !address && !is.removed) return []
  return [{ row: toRow(after, { names, address }), calls, anywhere: true }]
}

/**
 * Makes these tables from the aggregates, once: a backup may leave out what is in them (docs/erasure.md). Other
 * replicas wait meanwhile.
 */
export async function fillFoundUsers(sql: Sql, personal: Personal): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`set local statement_timeout = 0`
    await transaction`select pg_advisory_xact_lock(hashtextextended(current_schema(), ${lock}))`
    const [filling] = await transaction`
      insert into found_users_filled default values on conflict do nothing returning true
    `
    if (!filling) return
    for (let last = ''; ;) {
      const users = await transaction<(Omit<Stored, 'state'> & StoredState)[]>`
        select type, id, organization_id as "organizationId", created_at as "createdAt", sequence, state,
          ${subjectKeyOf(transaction, transaction`aggregates.id`)} as key
        from aggregates where type = 'user' and id > ${last} order by id limit ${portion}
      `
      if (users.length === 0) return
      const rows = users
        .flatMap((user) => openAll(personal, user))
        .map((user) => toRow(user, { names: true, address: true }))
      for (const call of calls(rows)) await callFunction(transaction, call)
      last = users.at(-1)!.id
    }
  })
}

// An unreadable user is not found.
function openAll(personal: Personal, user: Omit<Stored, 'state'> & StoredState): Stored[] {
  try {
    return [{ ...user, state: personal.decryptState(user) as User }]
  } catch {
    return []
  }
}

type Stored = Pick<Aggregate<User>, 'id' | 'organizationId' | 'createdAt' | 'state'>

/** The changed parts of a user. */
interface FoundUser {
  user_id: string
  removed?: true
  names?: object
  address?: object
}

function sameNames(was: User, is: User): boolean {
  return (
    shownState(was) === shownState(is) &&
    was.userName === is.userName &&
    was.machine?.name === is.machine?.name &&
    was.human?.profile === is.human?.profile
  )
}

function toRow(user: Stored, parts: { names: boolean; address: boolean }): FoundUser {
  const { userName, human, machine, removed } = user.state!
  if (removed) return { user_id: user.id, removed }
  const canonical = (text: string | undefined) => canonicalName(text ?? '')
  const ids = { user_id: user.id, organization_id: user.organizationId }
  const names = () => ({
    ...ids,
    created_at: user.createdAt,
    state: shownState(user.state!),
    type: human ? Type.TYPE_HUMAN : Type.TYPE_MACHINE,
    user_name: canonical(userName),
    first_name: canonical(human?.profile.firstName),
    last_name: canonical(human?.profile.lastName),
    nick_name: canonical(human?.profile.nickName),
    display_name: canonical(human?.profile.displayName ?? machine?.name),
    exact: {
      userName,
      ...(human && { human: { profile: human.profile } }),
      ...(machine && { machine: { name: machine.name } }),
    },
  })
  return {
    user_id: user.id,
    ...(parts.names && { names: names() }),
    ...(parts.address && {
      address: { ...ids, email: canonicalAddress(human?.email ?? ''), exact: { human: { email: human?.email } } },
    }),
  }
}

// A transaction may change a user more than once, but a statement changes a row only once.
function calls(rows: FoundUser[]): FunctionCall[] {
  const users = new Map<string, FoundUser>()
  for (const row of rows) users.set(row.user_id, row.removed ? row : { ...users.get(row.user_id), ...row })
  const all = [...users.values()]
  const parts = [
    { name: 'forget_found_users', rows: all.filter((user) => user.removed) },
    { name: 'find_users_exactly', rows: all.flatMap((user) => user.names ?? []) },
    { name: 'find_addresses_exactly', rows: all.flatMap((user) => user.address ?? []) },
  ]
  // To write to a table costs, even if there is nothing to write.
  return parts.filter(({ rows: some }) => some.length > 0)
}
