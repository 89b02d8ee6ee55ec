import type { Sql } from '#lib/eventstore/database'
import { userNameKind } from '../new-user.ts'

/**
 * Gives the bare names of users of earlier versions to those who had them first, by the order of events. Once: a name
 * that is given up later waits for the next claim. Other replicas wait meanwhile.
 */
export async function fillBareNames(sql: Sql): Promise<void> {
  await sql.begin(async (transaction) => {
    await transaction`set local statement_timeout = 0`
    const [filling] = await transaction`
      update first_key_kinds set filled = true where kind = ${userNameKind} and not filled returning true
    `
    if (!filling) return
    // A replica of the former release may have been within `append_rest` as that was replaced.
    await transaction`lock table unique_keys in share row exclusive mode`
    await transaction`delete from first_keys where kind = ${userNameKind}`
    // All keys are read, and no index finds a twin.
    await transaction`set local enable_hashjoin = on`
    await transaction`set local enable_seqscan = on`
    // While keys are held in two forms, the hashed one goes with the plain one.
    for (const isTwin of [false, true])
      await transaction`
        insert into first_keys (kind, key, scope)
        select distinct on (k.key) k.kind, k.key, k.scope
        from unique_keys k cross join lateral (
          select position from events e
          where e.aggregate_type = 'user' and e.aggregate_id = k.aggregate_id
            and e.type in ('human.added', 'machine.added', 'username.changed')
          order by e.sequence desc limit 1
        ) named
        left join unique_keys twin on left(k.key, 1) = 'H' and twin.kind = k.kind and twin.scope = k.scope
          and twin.aggregate_id = k.aggregate_id and left(twin.key, 1) <> 'H'
        where k.kind = ${userNameKind} and (twin.key is not null) = ${isTwin}
          and (twin.key is null or exists (
            select from first_keys f where f.kind = k.kind and f.key = twin.key and f.scope = k.scope
          ))
        order by k.key, named.position
      `
  })
}
