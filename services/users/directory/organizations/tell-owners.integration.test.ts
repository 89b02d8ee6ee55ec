import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { LostDomain } from '#gen/roster/grants/v1/internal_service'
import type { Decision } from '#lib/eventstore/command'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { callIn, openUsers, type TestUsers } from '../../testing/test-users.ts'
import { addHumanUser } from '../operations/user/add-human-user.ts'
import type { UserEvent } from '../events/user.ts'
import { domainLostMail, domainUnverifiedMail } from './domain-mails.ts'
import { tellOwners } from './tell-owners.ts'

let database: TestDatabase
let users: TestUsers
const organizationId = 'org'
/** What grants says of the organization. */
let ownerIds: string[]
let lostDomains: LostDomain[]

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  const others = { organizationId, ownedDomain: '', primaryDomain: '', name: 'Acme', verifiedDomains: [] }
  const lookupOrganization = async () => ({ ...others, lostDomains, ownerIds })
  users.grants = { ...users.grants, lookupOrganization }
})
beforeEach(() => {
  lostDomains = [{ domain: 'example.com', verifiedUntil: new Date(Date.now() + 86_400_000) }]
})
afterAll(async () => {
  await users?.stop()
  await database?.drop()
})

/** People who own the organization may be of another one. */
async function newOwner(isVerified = true) {
  const userId = randomUUID()
  const profile = { firstName: 'A', lastName: 'B', preferredLanguage: '', gender: 0 as const }
  const email = { email: `${userId}@example.com`, verification: { $case: 'isVerified' as const, value: isVerified } }
  await addHumanUser.handle(users, { userId, userName: userId, profile, email }, callIn('elsewhere'))
  return userId
}

let number = 0
const eventOf = (type: string, time = new Date()) => ({
  id: `grants-${++number}`,
  source: '/roster/grants',
  type: `roster.organization.domain.${type}.v1`,
  organizationId,
  aggregateType: 'organization',
  aggregateId: organizationId,
  sequence: 1n,
  actor: '',
  requestId: '',
  cause: '',
  time,
  dataSchema: '',
  data: undefined,
  causationId: '',
  dataOmitted: '',
})
const tell = (event: ReturnType<typeof eventOf>) => tellOwners(users, event as never)
const waiting = () => users.sql<{ userId: string; codeId: string; kind: string }[]>`
  select user_id as "userId", mail_id as "codeId", kind from unsent_mails where user_id = any(${ownerIds}) order by kind
`

test('each owner with a verified address who is active is told once of a lost domain, and of one that is not verified', async () => {
  const [ada, ...others] = await Promise.all([newOwner(), newOwner(), newOwner(false)])
  ownerIds = [ada, ...others, 'a machine that is gone']
  await users.store.execute({
    aggregate: { type: 'user', id: others[0] },
    call: callIn('elsewhere'),
    decide: (): Decision<UserEvent> => ({ events: [{ type: 'locked', payload: {} }], answer: undefined }),
  })
  const lost = eventOf('lost')
  await tell(lost)
  await tell(lost)
  await tell(eventOf('lost', new Date(Date.now() - 4 * 86_400_000)))
  expect(await waiting()).toEqual([{ userId: ada, codeId: expect.any(String), kind: 'domain-lost' }])
  await tell(eventOf('unverified'))
  expect((await waiting()).map(({ kind }) => kind)).toEqual(['domain-lost', 'domain-unverified'])
})

test('the mail names what is lost when it is sent, and is not sent once nothing is', async () => {
  ownerIds = [await newOwner()]
  await tell(eventOf('lost'))
  await tell(eventOf('unverified'))
  const [lost, unverified] = await waiting()
  const soon = { domain: 'soon.example', verifiedUntil: new Date(Date.now() + 3_600_000) }
  const over = { domain: 'over.example', verifiedUntil: undefined }
  lostDomains.push(soon, over)
  expect(await domainLostMail.content(users, lost!)).toMatchObject({
    email: `${ownerIds[0]}@example.com`,
    from: { organizationId },
    domains: 'example.com, soon.example',
    expirationDate: soon.verifiedUntil,
  })
  expect(await domainUnverifiedMail.content(users, unverified!)).toMatchObject({ domains: 'over.example' })
  lostDomains = [over]
  expect(await domainLostMail.content(users, lost!)).toBeUndefined()
  lostDomains = []
  expect(await domainUnverifiedMail.content(users, unverified!)).toBeUndefined()
  await domainLostMail.end(users, lost!, callIn(organizationId))
  expect((await waiting()).map(({ kind }) => kind)).toEqual(['domain-unverified'])
})

test('who owns many domains gets no more mails of them than of other things', async () => {
  ownerIds = [await newOwner()]
  for (let more = 0; more < 7; more++) await tell(eventOf('lost'))
  expect(await waiting()).toHaveLength(5)
})
