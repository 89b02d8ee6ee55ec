import { canonicalName } from '#lib/search/canonical-name'
import { orUnavailable } from '#lib/database/database'
import { subjectKeyOf } from '#lib/encryption/personal'
import type { StoredState } from '#lib/encryption/encrypted-fields'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import type { KnownAddress } from '../throttles/known-addresses.ts'
import { userNameKind } from '../new-user.ts'
import { inOpenOrganization } from '../organizations/in-open-organization.ts'
import { meantName } from '../user-name.ts'
import { lookupDomain } from '../organization-domain.ts'
import type { User } from '../vocabulary/user.ts'

export interface LoginUser {
  userId: string
  organizationId: string
  state: User
  /** Null for a machine, and for a human without a password. */
  hash: string | null
  known: KnownAddress[]
}

/**
 * The user of a login name, whose organization is open. Where the call names an organization, the name is looked up
 * there. Otherwise a qualified name means its organization, and a bare one belongs to the user who had it first on the
 * instance. Grants is asked whenever there is an @, so that the duration of the answer does not reveal which names
 * exist.
 */
export async function findLoginUser(
  context: Pick<Context, 'sql' | 'grants' | 'personal' | 'log'>,
  loginName: string,
  call: Call,
): Promise<LoginUser | undefined> {
  const wanted = call.organizationId || undefined
  const at = loginName.lastIndexOf('@')
  const [bare, named] = await Promise.all([
    select(context, loginName, wanted),
    at < 0 ? undefined : lookupDomain(context.grants, meantName(loginName.slice(at + 1)), call),
  ])
  const qualified =
    named === undefined || (wanted ?? named) !== named
      ? undefined
      : await select(context, loginName.slice(0, at), named)
  // The qualified name goes first. Otherwise a user of another organization with that user name would shut its owner
  // out.
  return qualified ?? bare
}

/** The same facts of a user by its id. UNAVAILABLE STORE_UNAVAILABLE. */
export async function findUserById(
  { sql, personal }: Pick<Context, 'sql' | 'personal'>,
  userId: string,
): Promise<LoginUser | undefined> {
  const rows = await orUnavailable(sql<Row[]>`
    select ${facts(sql)} from aggregates u left join passwords p on p.user_id = u.id collate "default"
    where u.type = 'user' and u.id = ${userId}
  `)
  return open(personal, rows)[0]
}

// Without an organization, the user of a bare name.
async function select(
  { sql, personal, log }: Pick<Context, 'sql' | 'personal' | 'log'>,
  userName: string,
  organizationId?: string,
): Promise<LoginUser | undefined> {
  const [exact, meant] = [userName, meantName(userName)].map((name) =>
    personal.storedKey(userNameKind, canonicalName(name)),
  )
  const named = sql`kind = ${userNameKind} and key = any(${[exact!, meant!]}::text[])`
  const keys =
    organizationId === undefined
      ? sql`(select * from first_keys where ${named}) f join unique_keys k using (kind, key, scope)`
      : sql`(select * from unique_keys where ${named} and scope = ${organizationId}) k`
  const rows = await orUnavailable(sql<Row[]>`
    select ${facts(sql)} from ${keys}
    join aggregates u on u.type = 'user' and u.id = k.aggregate_id
    left join passwords p on p.user_id = k.aggregate_id
    where ${inOpenOrganization(sql, sql`k.scope`)}
    order by k.key = ${exact!} desc
    limit 2
  `)
  const [user] = open(personal, rows, (error, userId) =>
    log.error({ err: error, userId }, 'the state of a user cannot be decrypted: the user cannot sign in'),
  )
  return user
}

type Row = Omit<LoginUser, 'state'> & Omit<StoredState, 'type' | 'id'>

function open(personal: Context['personal'], rows: Row[], failed = rethrow): LoginUser[] {
  return rows.flatMap(({ sequence, key, ...row }) => {
    try {
      const state = personal.decryptState({ type: 'user', id: row.userId, sequence, state: row.state, key })
      return state === undefined ? [] : [{ ...row, state: state as User }]
    } catch (error) {
      failed(error, row.userId)
      return []
    }
  })
}

function rethrow(error: unknown, _userId: string): void {
  throw error
}

// State and hash come from one statement, so that they belong together. The ids of aggregates are in another order than
// the indexes of these tables.
function facts(sql: Context['sql']) {
  return sql`
    u.id as "userId", u.organization_id as "organizationId", u.state, u.sequence,
    ${subjectKeyOf(sql, sql`u.id`)} as key, p.hash, (
      select coalesce(
        json_agg(json_build_object(
          'keyId', key_id, 'address', encode(address, 'hex'), 'isFresh', used_at > roster_now() - interval '1 day'
        )), '[]'
      )
      from known_addresses a where a.user_id = u.id collate "default"
    ) as known
  `
}
