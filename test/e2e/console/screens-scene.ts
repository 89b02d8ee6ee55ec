import { admin, newHuman, newMachine, ok, unique, uniqueEmail } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { newWebApplication } from '../../examples/sign-in.ts'
import { signIn } from '../../examples/people.ts'
import { call } from '../clients/encodings.ts'
import { makeProviders } from './screens-providers.ts'

const names = [
  ['Ada', 'Lovelace'],
  ['Grace', 'Hopper'],
  ['Alan', 'Turing'],
  ['Katherine', 'Johnson'],
  ['Edsger', 'Dijkstra'],
  ['Barbara', 'Liskov'],
  ['Donald', 'Knuth'],
  ['Radia', 'Perlman'],
] as const

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()

/** An organization as people have them, with something in every view; and the owner who looks at it. */
export async function makeScene() {
  const organization = ok(await call('AddOrganization', { name: unique('acme') }, admin())).organizationId as string
  const act = async (...[operation, request]: Parameters<typeof call>) =>
    ok(await call(operation, request, admin(organization)))
  await act('UpdateOrganization', { name: 'Acme' })
  const people = []
  for (const [firstName, lastName] of names) {
    const email = `${firstName}.${lastName}.${unique('x')}@acme.example`.toLowerCase()
    const of = { profile: { firstName, lastName, displayName: `${firstName} ${lastName}` }, email }
    people.push(await newHuman(organization, { ...of, userName: email, password: unique('Password') }))
  }
  const [owner, colleague, locked] = people
  for (const { userId } of [owner!, colleague!]) await act('AddOrganizationMember', { userId, roles: ['ORG_OWNER'] })
  for (const person of people.slice(0, 5)) await signIn(person)
  await call('CreateSession', { loginName: people[5]!.userName, password: 'wrong' })
  await act('LockUser', { userId: locked!.userId })
  const projectId = await newProject(organization, ['reader', 'approver', 'admin'])
  await act('UpdateProject', { projectId, name: 'Billing' })
  await newProject(organization)
  for (const [index, { userId }] of people.slice(0, 4).entries())
    await act('AddUserGrant', {
      userId,
      projectId,
      roleKeys: ['reader', 'approver', 'admin'].slice(0, (index % 3) + 1),
    })
  const redirectUris = [
    'https://billing.acme.example/auth/callback/roster',
    'http://localhost:3000/auth/callback/roster',
  ]
  const { appId } = await newWebApplication(organization, projectId, { redirectUris, devMode: true })
  await act('UpdateApplication', { projectId, appId, name: 'Billing' })
  await act('AddClientSecret', { projectId, appId, expirationDate: inDays(12) })
  const machine = await newMachine(organization, 'billing-robot')
  await act('UpdateMachine', { userId: machine, name: 'Nightly billing', description: 'Sends the invoices' })
  for (const days of [9, 80]) await act('AddPersonalAccessToken', { userId: machine, expirationDate: inDays(days) })
  await act('AddMachineKey', { userId: machine })
  await act('AddMachineSecret', { userId: machine })
  const made = await makeProviders(act, { people: people.slice(0, 3), projectId })
  for (let count = 0; count < 3; count += 1) await act('AddInvitation', { email: uniqueEmail(), returnLink: {} })
  return { organization, owner: owner!, personId: colleague!.userId, projectId, appId, machine, ...made }
}
