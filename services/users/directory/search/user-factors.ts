import { FactorType, type FactorOfUser } from '#gen/roster/users/v1/user'
import type { Fragment, Sql, Write } from '#lib/database/database'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Human, SecondFactorKind } from '../events/human.ts'
import type { User } from '../events/user.ts'

/** Its kind in the table of what users have to sign in with. */
type FoundKind = SecondFactorKind | 'u2f'

const types: Record<FoundKind, FactorType> = {
  passkey: FactorType.FACTOR_TYPE_PASSKEY,
  totp: FactorType.FACTOR_TYPE_TOTP,
  u2f: FactorType.FACTOR_TYPE_U2F,
  'otp-email': FactorType.FACTOR_TYPE_OTP_EMAIL,
  'recovery-code': FactorType.FACTOR_TYPE_RECOVERY_CODE,
}

/** Recovery codes stand for another factor alone. */
const second: FoundKind[] = ['passkey', 'u2f', 'totp', 'otp-email']

interface FoundFactor {
  kind: FoundKind
  id: string
  /** Another one of the same kind has another. */
  made: string | number
}

/** Keeps the table of what users have to sign in with in step. With the user its rows go. */
export function projectUserFactors({ state: before }: Aggregate<User>, after: Aggregate<User>): Write[] {
  const [was, is] = [before, after.state].map((state) => (state?.former ?? state)?.human)
  if (was?.secondFactors === is?.secondFactors && was?.passkeys === is?.passkeys) return []
  if (after.state?.removed && !after.state.former) return []
  const { id: userId, organizationId, changedAt } = after
  const [had, has] = [factorsOf(was), factorsOf(is)]
  const isIn = (all: FoundFactor[], { kind, id, made }: FoundFactor) =>
    all.some((one) => one.kind === kind && one.id === id && one.made === made)
  const gone = had.filter((one) => !isIn(has, one))
  const added = has.filter((one) => !isIn(had, one))
  return [
    ...gone.map(
      ({ kind, id }): Write =>
        (sql) =>
          sql`delete from user_factors where user_id = ${userId} and kind = ${kind} and factor_id = ${id}`,
    ),
    ...added.map(
      ({ kind, id }): Write =>
        (sql) =>
          sql`
          insert into user_factors (user_id, organization_id, kind, factor_id, added_at)
          values (${userId}, ${organizationId}, ${kind}, ${id}, ${changedAt})
          on conflict (user_id, kind, factor_id) do update set added_at = excluded.added_at
        `,
    ),
  ]
}

function factorsOf(human: Human | undefined): FoundFactor[] {
  const { secondFactors = [], factorsAdded = {}, passkeys = [] } = human ?? {}
  return [
    ...secondFactors.map((kind): FoundFactor => ({ kind, id: '', made: factorsAdded[kind] ?? 0 })),
    ...passkeys.map(({ id, secondOnly, createdAt }): FoundFactor => ({
      kind: secondOnly ? 'u2f' : 'passkey',
      id,
      made: createdAt,
    })),
  ]
}

/** The condition that the user of the row `u` of found_users has this factor. `within`: on the row `f`. */
export function hasFactorOf(sql: Sql, type: FactorType, within: Fragment): Fragment {
  // The passwords are ordered by another collation.
  if (type === FactorType.FACTOR_TYPE_PASSWORD)
    return sql`exists (select from passwords p where p.user_id = u.user_id collate "default")`
  return hasOneOf(
    sql,
    (Object.keys(types) as FoundKind[]).filter((kind) => types[kind] === type),
    within,
  )
}

/** The condition that the user has more than a password. */
export function hasSecondFactorOf(sql: Sql, within: Fragment): Fragment {
  return hasOneOf(sql, second, within)
}

function hasOneOf(sql: Sql, kinds: FoundKind[], within: Fragment): Fragment {
  return sql`exists (
    select from user_factors f where ${within} and f.user_id = u.user_id and f.kind = any(${kinds}::text[])
  )`
}

export interface StoredFactor {
  kind: FoundKind | 'password'
  id: string
  addedAt: string | null
  usedAt: string | null
}

/** What the user of the row `u` has, as a column. */
export function selectFactors(sql: Sql): Fragment {
  return sql`(
    select coalesce(jsonb_agg(one order by one.kind, one."addedAt", one.id), '[]')
    from (
      select 'password' as kind, '' as id, null::timestamptz as "addedAt", null::timestamptz as "usedAt"
      from passwords p where p.user_id = u.user_id collate "default"
      union all
      select f.kind, f.factor_id, f.added_at, coalesce(
        (select max(g.passed_at) from factor_guesses g where g.user_id = f.user_id and g.kind = f.kind),
        (
          select k.used_at from passkeys k
          where k.user_id = f.user_id collate "default" and k.passkey_id = f.factor_id collate "default"
        )
      )
      from user_factors f where f.user_id = u.user_id
    ) one
  )`
}

/** What a user has, in the order of the types, as answers show it. */
export function showFactors(factors: StoredFactor[]): FactorOfUser[] {
  return factors
    .map(({ kind, id, addedAt, usedAt }) => ({
      type: kind === 'password' ? FactorType.FACTOR_TYPE_PASSWORD : types[kind],
      passkeyId: id,
      creationDate: toDate(addedAt),
      lastUseDate: toDate(usedAt),
    }))
    .toSorted((one, other) => one.type - other.type)
}

const toDate = (time: string | null) => (time === null ? undefined : new Date(time))
