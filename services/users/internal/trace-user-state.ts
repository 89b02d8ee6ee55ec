import type { TraceUserStateRequest, TraceUserStateResponse } from '#gen/roster/users/v1/internal_service'
import { orUnavailable } from '#lib/database/database'
import type { Context } from '../context.ts'
import type { User } from '../directory/events/user.ts'
import { userNotFound } from '../directory/events/user-not-found.ts'

const beginnings = ['human.added', 'machine.added']
// What ends something, and what begins it again.
const states = {
  inactive: ['deactivated', 'reactivated'],
  locked: ['locked', 'unlocked'],
  removed: ['removed', 'restored'],
}
const types = [...beginnings, ...Object.values(states).flat()]

export async function traceUserState(
  { sql, store }: Context,
  { userId, until }: TraceUserStateRequest,
): Promise<TraceUserStateResponse> {
  const user = await store.load<User>('user', userId)
  if (!user) throw userNotFound()
  // The last event of each type decides the state, however many there are.
  const rows = await orUnavailable(sql<Row[]>`
    select distinct on (type) position, sequence, type, creator, created_at from events
    where aggregate_type = 'user' and aggregate_id = ${userId} and type = any(${types})
      ${until ? sql`and created_at <= ${until}` : sql``}
    order by type, sequence desc
  `)
  const last = new Map(rows.map(({ type, sequence }) => [type, Number(sequence)]))
  const is = ([begun, ended]: string[]) => (last.get(begun!) ?? 0) > (last.get(ended!) ?? 0)
  return {
    organizationId: user.organizationId,
    isRemovedNow: user.state.removed === true,
    exists: beginnings.some((type) => last.has(type)),
    inactive: is(states.inactive),
    locked: is(states.locked),
    removed: is(states.removed),
    events: rows
      .toSorted((left, right) => Number(left.sequence) - Number(right.sequence))
      .map(({ position, type, creator, created_at }) => ({
        position: Number(position),
        type,
        actor: creator,
        time: created_at,
      })),
  }
}

interface Row {
  position: string
  sequence: string
  type: string
  creator: string
  created_at: Date
}
