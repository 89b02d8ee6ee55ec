import { beforeAll, expect, inject, test } from 'vitest'
import { newOrganization } from '../../examples/people.ts'
import { kinds } from './clients.ts'
import type { Place } from './terraform-kind.ts'
import { terraformKinds } from './terraform-kinds.ts'

const { url, adminToken } = inject('roster')
let place: Place

beforeAll(async () => {
  const organization = await newOrganization()
  const into = (organization: string) => kinds[0]!.connect(url, adminToken, organization)
  const { management, user } = into(organization)
  const { id: project } = await management['addProject']!({ name: 'Place' })
  for (const roleKey of ['reader', 'writer'])
    await management['addProjectRole']!({ projectId: project, roleKey, displayName: roleKey })
  const userType = { case: 'machine', value: { name: 'Robot' } }
  const { id: machine } = await user['createUser']!({ organizationId: organization, username: 'robot', userType })
  place = { in: into, organization, guest: await newOrganization(), project, machine }
})

// https://github.com/zitadel/terraform-provider-zitadel: docs/terraform.md has what the provider itself does.
test.each(terraformKinds)(
  'Terraform creates $kind, reads it without a difference, changes and removes it',
  async ({ create, read, created, update, updated, remove, importedById }) => {
    const id = await create(place)
    if (importedById) expect(id).toMatch(/^\d{18}$/)
    expect(await read(place, id)).toMatchObject(created)
    if (update) {
      await update(place, id)
      expect(await read(place, id)).toMatchObject(updated!)
    }
    await remove(place, id)
    expect(await read(place, id)).toBeUndefined()
  },
)
