import { canonicalName } from '#lib/search/canonical-name'
import { type User, UserState } from '@zitadel/proto/zitadel/user/v2/user_pb'
import { each } from '../each.ts'
import { faultsOf } from '../roster/faults-of.ts'
import { findUsers } from '../roster/find-users.ts'
import { type Found, type Item, movePage } from './move-page.ts'
import type { Migration, OurOrganization } from '../ours.ts'
import { takenNames } from '../roster/taken-names.ts'
import { refusalOf } from '../roster/target.ts'

interface NewUser extends Item {
  name: string
  user: User
}

/**
 * Adds the users of an organization, and shuts those out that are shut out. Every address is unverified for now: until
 * all is in its place, no one can recover a password and sign in.
 */
export async function moveUsers(migration: Migration, organization: OurOrganization): Promise<void> {
  const { source, report, dry } = migration
  const names = new Set<string>()
  let count = 0
  for await (const page of source.users(organization.id)) {
    const items = page.flatMap((user) => toItem(migration, organization, user))
    const wanted = dry ? await leaveTakenNames(migration, organization, items, names) : items
    const look = (users: NewUser[]) => lookFor(migration, users)
    const bulk = { path: '/v2/users/_bulk', field: 'users' }
    const here = await movePage(migration, { kind: 'user', bulk, organization: organization.id, look }, wanted)
    await each(here, ({ item, before }) => shutOut(migration, item, before?.state ?? 'USER_STATE_ACTIVE'))
    report.progress(`${(count += page.length)} users of organization ${organization.id}`)
  }
}

function toItem({ report }: Migration, organization: OurOrganization, user: User): NewUser[] {
  const { userId: id, username: name, state, details, type } = user
  if (state === UserState.DELETED) return []
  const request = toRequest(user)
  const human = request && 'human' in request ? request.human : undefined
  if (human?.profile.preferredLanguage && faultsOf(messages.human, human)?.includes('profile.preferredLanguage ')) {
    human.profile.preferredLanguage = ''
    report.without('languages of users that Roster does not know')
  }
  const why =
    details?.resourceOwner !== organization.id
      ? 'ZITADEL says that it belongs to another organization'
      : request === undefined
        ? 'it is neither a human nor a machine'
        : faultsOf(messages[type.case!], Object.values(request)[0] as object)
  if (why === undefined) return [{ id, name, user, request: request! }]
  report.refused('user', id, why)
  return []
}

const messages = { human: 'roster.users.v1.AddHumanUserRequest', machine: 'roster.users.v1.AddMachineUserRequest' }

function toRequest({ userId, username: userName, type }: User) {
  if (type.case === 'machine') {
    const { name, description, accessTokenType } = type.value
    return { machine: { userId, userName, name: name || userName, description, accessTokenType } }
  }
  if (type.case !== 'human') return undefined
  const { profile, email } = type.value
  const { givenName = '', familyName = '', nickName, displayName, preferredLanguage, gender = 0 } = profile ?? {}
  return {
    human: {
      userId,
      userName,
      profile: {
        firstName: givenName,
        lastName: familyName,
        ...(nickName && { nickName }),
        ...(displayName && { displayName }),
        preferredLanguage: preferredLanguage === 'und' ? '' : (preferredLanguage ?? ''),
        gender,
      },
      // No mail is sent, and the code is not kept.
      email: { email: email?.email ?? '', returnCode: {} },
    },
  }
}

async function leaveTakenNames(
  migration: Migration,
  organization: OurOrganization,
  items: NewUser[],
  names: Set<string>,
): Promise<NewUser[]> {
  const taken = organization.exists
    ? await takenNames(migration.target, organization.id, items)
    : new Map<string, string>()
  return items.filter(({ id, name }) => {
    const canonical = canonicalName(name)
    const isTaken = names.has(canonical) || (taken.get(canonical) ?? id) !== id
    names.add(canonical)
    if (isTaken) migration.report.refused('user', id, 'the organization has another user of this name')
    return !isTaken
  })
}

async function lookFor({ target }: Migration, items: NewUser[]): Promise<Map<string, Found>> {
  const there = await findUsers(
    target,
    items.map(({ id }) => id),
  )
  return new Map(
    items.flatMap(({ id, name, user }): [string, Found][] => {
      const found = there.get(id)
      if (!found) return []
      const isSame =
        found.organizationId === user.details?.resourceOwner &&
        found.userName === name &&
        Object.hasOwn(found, user.type.case!)
      return [[id, isSame ? { state: found.state } : { why: 'another user of Roster has this id' }]]
    }),
  )
}

async function shutOut({ target, report, dry }: Migration, { id, user }: NewUser, state: string): Promise<void> {
  const verb = { [UserState.INACTIVE]: 'deactivate', [UserState.LOCKED]: 'lock' }[user.state as number]
  if (verb === undefined) return
  if (state !== 'USER_STATE_ACTIVE') return report.there('state')
  const path = `/v2/users/${encodeURIComponent(id)}/${verb}`
  const why = dry ? undefined : await refusalOf(target.ask('POST', path, {}))
  if (why === undefined) report.moved('state')
  else report.refused('state', id, why)
}
