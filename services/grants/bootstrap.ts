import type { Decision } from '#lib/eventstore/command'
import { instance } from '#lib/instance'
import { anonymous } from '#lib/rpc/caller'
import type { Context } from './context.ts'
import { addedMember } from './members/new-member.ts'
import { addedOrganization, primaryDomain } from './organizations/new-organization.ts'

/** Creates the first organization and the memberships of the first administrators where they are missing. */
export async function bootstrap({ config, store }: Context): Promise<void> {
  const { organization, humanAdministrator, machineAdministrator, administratorRole } = instance
  await ensure('organization', organization.id, () =>
    addedOrganization(organization.id, organization.name, primaryDomain(organization.name, config.PUBLIC_URL)),
  )
  for (const { id } of [humanAdministrator, machineAdministrator])
    await ensure('member', id, () => addedMember(instance.id, { userId: id, roles: [administratorRole] }))

  function ensure(type: string, id: string, create: () => Decision) {
    return store.execute({
      aggregate: { type, id },
      call: { caller: anonymous, requestId: 'bootstrap', deadline: Date.now() + 30_000 },
      decide: (aggregate) => (aggregate.state === undefined ? create() : { events: [], answer: undefined }),
    })
  }
}
