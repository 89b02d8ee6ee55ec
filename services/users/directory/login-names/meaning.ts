import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import { canonicalName } from '#lib/search/canonical-name'
import type { Context } from '../../context.ts'
import { canonicalAddress } from '../email/address.ts'
import { userNameKind } from '../new-user.ts'
import { domainOfAddress } from '../organizations/verified-domains.ts'
import { lookupDomain } from '../organizations/organization-domain.ts'
import { inOpenOrganization } from '../organizations/in-open-organization.ts'
import { facts, type LoginUser, decryptUsers, type Row } from './login-user.ts'
import { meantName } from '../meant-name.ts'
import { keeper, loginAddressKind } from './proved-addresses.ts'

/** The user that a login name means. */
export interface Meant extends LoginUser {
  /** The name is this address of the user, in the form in which addresses are compared. It may be a former one. */
  address: string | undefined
}

/**
 * The user that a login name means, whose organization is open. With an @ it is tried as a qualified name, then as a
 * proved address, then as a user name, then as an address by the word of the organization. Where the call names an
 * organization, it is looked up there. Otherwise a qualified name means its organization, an address belongs to the
 * person who first proved it, and a bare name to the user who had it first on the instance. Whatever it means first, it
 * means alone: a user who may not sign in hands nothing on.
 *
 * All meanings are looked up each time, by one call of grants and one statement, so that the duration of the answer does
 * not reveal which names exist.
 */
export async function findLoginUser(
  context: Pick<Context, 'sql' | 'grants' | 'personal' | 'log'>,
  loginName: string,
  call: Call,
): Promise<Meant | undefined> {
  const wanted = call.organizationId || undefined
  const typed = canonicalName(loginName)
  const at = typed.lastIndexOf('@')
  const domain = at < 0 ? undefined : meantName(typed.slice(at + 1))
  const named = domain === undefined ? undefined : await lookupDomain(context.grants, domain, call)
  return select(context, {
    bare: typed,
    qualified: typed.slice(0, Math.max(at, 0)),
    // The organization of the domain, unless the call names another one.
    named: named !== undefined && (wanted ?? named) === named ? named : '',
    address: at < 0 ? '' : canonicalAddress(meantName(typed)),
    wanted,
  })
}

interface Wanted {
  bare: string
  qualified: string
  named: string
  address: string
  wanted: string | undefined
}

async function select(
  { sql, personal, log }: Pick<Context, 'sql' | 'personal' | 'log'>,
  { bare, qualified, named, address, wanted }: Wanted,
): Promise<Meant | undefined> {
  // A name with a character that cannot be seen may be there from earlier versions, and is meant first.
  const keysOf = (name: string) => [name, meantName(name)].map((one) => personal.storedKey(userNameKind, one))
  const ofName = (keys: string[]) => sql`kind = ${userNameKind} and key = any(${keys}::text[])`
  const exactFirst = (keys: string[]) => sql`order by key = ${keys[0]!} desc limit 1`
  const [bareKeys, qualifiedKeys] = [keysOf(bare), keysOf(qualified)]
  const hash = personal.storedKey(loginAddressKind, address)
  const within = wanted === undefined ? sql`true` : sql`organization_id = ${wanted}`
  // The rows of a user say all of its events. Those that others may have preceded do not count yet.
  const isFollowed = sql`since <= (select position from followers where name = ${keeper})`
  // The word of an organization proves an address while its domain is verified, and not before.
  const verified = (column: string) =>
    sql`(select d.${sql(column)} from verified_domains d where d.domain = ${domainOfAddress(address)})`
  const bareKey =
    wanted === undefined
      ? sql`(select * from first_keys where ${ofName(bareKeys)}) f join unique_keys k using (kind, key, scope)`
      : sql`(select * from unique_keys where ${ofName(bareKeys)} and scope = ${wanted}) k`
  const rows = await orUnavailable(sql<(Row & { byAddress: boolean })[]>`
    select ${facts(sql)}, "byAddress" from (
      select * from (
        (
          select 1 as rank, aggregate_id as meant, scope, false as "byAddress" from unique_keys
          where ${ofName(qualifiedKeys)} and scope = ${named} ${exactFirst(qualifiedKeys)}
        ) union all (
          select 2, user_id, organization_id, true from (
            (
              select user_id, organization_id, since from login_addresses
              where address = ${hash} and proved and ${within} and ${isFollowed} order by since limit 1
            ) union all (
              select user_id, organization_id, greatest(since, ${verified('since')}) from login_addresses
              where address = ${hash} and not proved and organization_id = ${verified('organization_id')}
                and ${within} and ${isFollowed} order by since limit 1
            )
          ) proofs order by since limit 1
        ) union all (
          select 3, aggregate_id, scope, false from ${bareKey} ${exactFirst(bareKeys)}
        ) union all (
          select 4, user_id, organization_id, true from login_addresses
          where address = ${hash} and not proved and organization_id = ${wanted ?? ''} and ${isFollowed}
          order by since limit 1
        )
      ) meanings order by rank limit 1
    ) m
    join aggregates u on u.type = 'user' and u.id = m.meant
    left join passwords p on p.user_id = m.meant
    where ${inOpenOrganization(sql, sql`m.scope`)}
  `)
  const [found] = rows
  const [user] = decryptUsers(personal, rows, (error, userId) =>
    log.error({ err: error, userId }, 'the state of a user cannot be decrypted: the user cannot sign in'),
  )
  return user && { ...user, address: found!.byAddress ? address : undefined }
}
