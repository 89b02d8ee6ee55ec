import { Gender } from '#gen/roster/users/v1/user'
import { orUnavailable } from '#lib/database/database'
import type { Existing } from '#lib/eventstore/aggregate'
import { canonicalName } from '#lib/search/canonical-name'
import type { Context } from '../../context.ts'
import { isVerifiedFor } from '../../directory/login-names/read-proofs.ts'
import { existing } from '../../directory/states/user-state.ts'
import { knownName, type User } from '../../directory/events/user.ts'

/** The scope that asks for each claim. */
export const scopeOf: Record<string, string> = {
  name: 'profile',
  given_name: 'profile',
  family_name: 'profile',
  nickname: 'profile',
  preferred_username: 'profile',
  locale: 'profile',
  gender: 'profile',
  updated_at: 'profile',
  email: 'email',
  email_verified: 'email',
  roles: 'roles',
  project_roles: 'roles',
  organization_roles: 'roles',
}

/** The scopes of claims that the parameter `claims` named, such as `id_token.email`. */
export function scopesOfClaims(named: readonly string[]): string[] {
  return [...new Set(named.map((claim) => scopeOf[claim.slice(claim.indexOf('.') + 1)]!))]
}

/** What is said of a user, by OpenID Connect's names. */
export type UserClaims = Record<string, string | boolean | number | undefined>

/** Whether a claim is wanted. */
export type Wanted = (claim: string) => boolean

/** Those that scopes ask for, and those that the parameter `claims` names for this place. */
export function wantedBy(
  scopes: readonly string[],
  named: readonly string[] = [],
  place: 'id_token' | 'userinfo' = 'userinfo',
): Wanted {
  return (claim) => scopes.includes(scopeOf[claim]!) || named.includes(`${place}.${claim}`)
}

/**
 * What is wanted of a user. The address is verified for those who trust the organization. NOT_FOUND USER_NOT_FOUND;
 * UNAVAILABLE STORE_UNAVAILABLE.
 */
export async function userClaims(
  context: Pick<Context, 'sql' | 'personal'>,
  user: Existing<User>,
  wanted: Wanted,
  trusting: string,
): Promise<UserClaims> {
  const { human } = user.state
  const all: UserClaims = {
    ...profileOf(existing(user.state)),
    preferred_username: toldName(user.state, wanted),
    updated_at: wanted('updated_at') ? await changedAt(context, user, wanted) : undefined,
    ...(human && {
      email: human.email,
      email_verified: wanted('email_verified') && (await isVerifiedFor(context, user, human, trusting)),
    }),
  }
  return Object.fromEntries(Object.entries(all).filter(([claim, value]) => value !== undefined && wanted(claim)))
}

/** The name of a user as far as it may be told. One that is the address of its person says what `email` asks for, too. */
export function toldName(user: User, wanted: Wanted): string | undefined {
  const name = knownName(user)
  const isAddress = user.human !== undefined && canonicalName(user.human.email) === canonicalName(name)
  return wanted('preferred_username') && (!isAddress || wanted('email')) ? name : undefined
}

/** The events that change a claim of `profile`, and those that change one of `email`. */
const changes = {
  profile: ['human.added', 'machine.added', 'profile.changed', 'machine.changed', 'username.changed'],
  email: ['email.changed', 'email.verified'],
}

// Not when the user last changed: that would tell of passwords and sign-outs, too.
async function changedAt({ sql }: Pick<Context, 'sql'>, { id, sequence }: Existing<User>, wanted: Wanted) {
  const types = wanted('email') ? [...changes.profile, ...changes.email] : changes.profile
  const [last] = await orUnavailable(sql<{ created_at: Date }[]>`
    select created_at from events
    where aggregate_type = 'user' and aggregate_id = ${id} and sequence <= ${sequence} and type = any(${types}::text[])
    order by events.sequence desc limit 1
  `)
  return last && Math.floor(last.created_at.getTime() / 1000)
}

function profileOf({ human, machine }: User): UserClaims {
  if (!human) return { name: machine?.name }
  const { firstName, lastName, nickName, displayName, preferredLanguage, gender } = human.profile
  return {
    name: displayName,
    given_name: firstName,
    family_name: lastName,
    nickname: nickName,
    locale: preferredLanguage || undefined,
    gender: genders[gender],
  }
}

/** The first two are those of OpenID Connect Core, section 5.1, and the third is ZITADEL's. */
const genders: Partial<Record<Gender, string>> = {
  [Gender.GENDER_FEMALE]: 'female',
  [Gender.GENDER_MALE]: 'male',
  [Gender.GENDER_DIVERSE]: 'diverse',
}
