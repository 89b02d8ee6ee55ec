import { call } from '../e2e/clients/encodings.ts'
import { admin, newHuman, ok } from './people.ts'

/** What tests do with user grants over JSON. `home`: the organization where none is named. */
export function userGrants(home: () => string) {
  const act = async (...[operation, request, caller = admin(home())]: Parameters<typeof call>) =>
    ok(await call(operation, request, caller))
  return {
    act,
    /** Gives a new user roles, in this organization. */
    async give(projectId: string, roleKeys: string[], organization = home()) {
      const { userId } = await newHuman(organization)
      const { userGrantId } = await act('AddUserGrant', { userId, projectId, roleKeys }, admin(organization))
      return { userId, grantId: userGrantId as string }
    },
    rolesOf: async (projectId: string, userId: string, organization = home()) =>
      (await act('ListUserRoles', { projectId, userId }, admin(organization))).roleKeys ?? [],
    holdersOf: async (projectId: string, roleKey: string, organization = home()) =>
      ((await act('SearchRoleHolders', { projectId, roleKey }, admin(organization))).holders ?? []).map(
        ({ userId }: any) => userId,
      ),
    grantOf: async ({ userId, grantId }: { userId: string; grantId: string }, organization = home()) =>
      call('GetUserGrant', { userId, grantId }, admin(organization)),
  }
}
