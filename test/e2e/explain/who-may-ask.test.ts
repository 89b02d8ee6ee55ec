import { expect, test } from 'vitest'
import { admin, newMember, newOrganization, ok } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'

// The owner of the user's organization may read the user, and acts in the other one by a role in a project alone.
test('nobody hears what a user may do in an organization that the caller may not read', async () => {
  const [home, abroad] = [await newOrganization(), await newOrganization()]
  const [owner, user] = [await newMember(home, ['ORG_OWNER']), await newMember(home, [])]
  const { userId } = user
  const projectId = await newProject(abroad)
  ok(await call('AddProjectMember', { userId: owner.userId, projectId, roles: ['PROJECT_OWNER'] }, admin(abroad)))
  ok(await call('AddOrganizationMember', { userId, roles: ['ORG_OWNER'] }, admin(abroad)))
  const ask = (token: string, organization: string) =>
    call('ExplainPermission', { userId, permission: 'project.write' }, { token, organization })
  expect(factsOf(await ask(owner.token, home)).code).toBe(0)
  expect(factsOf(await ask(user.token, abroad)).code).toBe(0)
  ok(await call('SearchMyGrants', {}, { token: owner.token, organization: abroad }))
  expect(factsOf(await ask(owner.token, abroad)).reason).toBe('PERMISSION_DENIED')
})
