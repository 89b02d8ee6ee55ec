import { OrganizationState } from '@zitadel/proto/zitadel/org/v2/org_pb'
import { ProjectGrantState, ProjectState } from '@zitadel/proto/zitadel/project_pb'
import { UserState } from '@zitadel/proto/zitadel/user/v2/user_pb'
import { UserGrantState } from '@zitadel/proto/zitadel/user_pb'
import type { ZitadelData } from './zitadel-data.ts'

type One<Field extends keyof ZitadelData> = ZitadelData[Field] extends (infer Item)[] ? Item : never

/** How Roster shows what was moved: its fields that ZITADEL decides. */
export const asRosterShows = {
  organization: ({ id, name, primaryDomain, state }: One<'organizations'>) => ({
    id,
    name,
    primaryDomain,
    state: state === OrganizationState.INACTIVE ? 'ORGANIZATION_STATE_INACTIVE' : 'ORGANIZATION_STATE_ACTIVE',
  }),
  project: ({ id, name, state, details }: One<'projects'>) => ({
    id,
    name,
    state: state === ProjectState.INACTIVE ? 'PROJECT_STATE_INACTIVE' : 'PROJECT_STATE_ACTIVE',
    organizationId: details?.resourceOwner,
  }),
  projectGrant: ({ grantId, projectId, grantedOrgId, grantedRoleKeys, state }: One<'projectGrants'>) => ({
    grantId,
    projectId,
    grantedOrgId,
    grantedRoleKeys,
    state: state === ProjectGrantState.INACTIVE ? 'PROJECT_GRANT_STATE_INACTIVE' : 'PROJECT_GRANT_STATE_ACTIVE',
  }),
  userGrant: ({ id, userId, projectId, projectGrantId, roleKeys, orgId, state }: One<'userGrants'>) => ({
    id,
    userId,
    projectId,
    projectGrantId,
    roleKeys,
    organizationId: orgId,
    state: state === UserGrantState.INACTIVE ? 'USER_GRANT_STATE_INACTIVE' : 'USER_GRANT_STATE_ACTIVE',
  }),
  user: ({ userId, username, state, details, type }: One<'users'>) => ({
    userId,
    userName: username,
    organizationId: details?.resourceOwner,
    state: `USER_STATE_${UserState[state!]}`,
    ...(type?.case === 'machine' && { machine: machine(type.value) }),
    ...(type?.case === 'human' && { human: human(type.value) }),
  }),
}

type TypeOf<Case> =
  Extract<NonNullable<One<'users'>['type']>, { case: Case }> extends { value: infer Value } ? Value : never

function machine({ name, description, accessTokenType }: TypeOf<'machine'>) {
  return { name, description, accessTokenType: accessTokenType ? 'ACCESS_TOKEN_TYPE_JWT' : undefined }
}

function human({ profile, email }: TypeOf<'human'>) {
  const { givenName, familyName, displayName, nickName, preferredLanguage } = profile!
  return {
    profile: {
      firstName: givenName,
      lastName: familyName,
      displayName,
      nickName: nickName || undefined,
      preferredLanguage: preferredLanguage === 'und' ? undefined : preferredLanguage,
    },
    email: { email: email!.email, isVerified: email!.isVerified || undefined },
  }
}
