import { readText } from '#lib/config/read-config'
import type { Gateway } from '../gateway.ts'
import { type Call, Contradiction, type Environment, type Fields, type Item, type Kind } from '../item.ts'
import { objectIn, pick } from './fields.ts'

const service = 'users.v1.UserService'
const profileFields = ['firstName', 'lastName', 'nickName', 'displayName', 'preferredLanguage', 'gender']
const machineFields = ['name', 'description', 'accessTokenType']

export const person: Kind = {
  name: 'person',
  rank: 2,
  aggregate: 'user',
  // The address is the person's own from then on: set again, it would undo what they proved since, and stand for an
  // address that an organization alone vouched for.
  atFirst: ['passwordFrom', 'passwordChangeRequired', 'email', 'isEmailVerified'],
  personal: true,
  read: (gateway, item) => readUser(gateway, item, 'human'),
  add: ({ organization, ids, wanted }, env) => ({
    operation: `${service}/AddHumanUser`,
    request: {
      ...ids,
      userName: wanted['userName'],
      profile: pick(wanted, profileFields),
      email: emailOf(wanted),
      ...passwordOf(wanted, env),
      ...pick(wanted, ['passwordChangeRequired']),
    },
    organization,
  }),
  set({ organization, ids }, changed) {
    const profile = pick(changed, profileFields)
    const calls = [...setName({ organization, ids }, changed)]
    if (Object.keys(profile).length > 0)
      calls.push({ operation: `${service}/UpdateHumanProfile`, request: { ...ids, ...profile }, organization })
    return calls
  },
}

export const machine: Kind = {
  name: 'machine',
  rank: 2,
  aggregate: 'user',
  read: (gateway, item) => readUser(gateway, item, 'machine'),
  add: ({ organization, ids, wanted }) => ({
    operation: `${service}/AddMachineUser`,
    request: { ...ids, ...wanted },
    organization,
  }),
  set({ organization, ids }, changed) {
    const calls = [...setName({ organization, ids }, changed)]
    const own = pick(changed, machineFields)
    if (Object.keys(own).length > 0)
      calls.push({ operation: `${service}/UpdateMachine`, request: { ...ids, ...own }, organization })
    return calls
  },
}

async function readUser(gateway: Gateway, item: Item, type: 'human' | 'machine'): Promise<Fields | undefined> {
  const user = await findUser(gateway, item.ids['userId']!)
  if (!user) return undefined
  if (user['organizationId'] !== item.organization)
    throw new Contradiction(`this user is of the organization ${String(user['organizationId'])}`)
  if (!user[type]) throw new Contradiction(`this user is a ${type === 'human' ? 'machine' : 'person'}`)
  return fieldsOf(user)
}

/** The user of this id, in any organization. */
export async function findUser(gateway: Gateway, userId: string): Promise<Fields | undefined> {
  const request = { queries: [{ inUserIdsQuery: { userIds: [userId] } }], allOrganizations: true }
  const [user] = await gateway.all(`${service}/SearchUsers`, 'users', request)
  return user
}

/** The fields of a user, as the file names them. */
export function fieldsOf(user: Fields): Fields {
  const { userName } = user
  const machine = objectIn(user, 'machine')
  if (machine) return { userName, ...pick(machine, machineFields) }
  const human = objectIn(user, 'human') ?? {}
  // That an address counts as proved is not told: whoever writes that into a file stands for it, and here it may be an
  // organization's word alone.
  const { email } = objectIn(human, 'email') ?? {}
  return { userName, ...pick(objectIn(human, 'profile') ?? {}, profileFields), email }
}

function setName({ organization, ids }: Pick<Item, 'organization' | 'ids'>, { userName }: Fields): Call[] {
  if (userName === undefined) return []
  return [{ operation: `${service}/UpdateUserName`, request: { ...ids, userName }, organization }]
}

function emailOf({ email, isEmailVerified }: Fields): Fields {
  return { email, ...(isEmailVerified === true && { isVerified: true }) }
}

// Without a password, the person is invited to choose one.
function passwordOf({ passwordFrom }: Fields, env: Environment): Fields {
  if (passwordFrom === undefined) return {}
  return { password: readText((passwordFrom as { env: string }).env, env) }
}
