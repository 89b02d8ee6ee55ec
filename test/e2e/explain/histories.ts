import type { JsonObject } from '@bufbuild/protobuf'
import * as fc from 'fast-check'
import type { Operation } from '../../examples/contract.ts'

/** Two organizations, a project of the first, and a user of each. */
export interface Scene {
  home: string
  abroad: string
  projectId: string
  users: { userId: string; token: string; organization: string }[]
}

/** A change by the administrator. It may be refused, because the object is not there. */
export interface Change {
  operation: Operation
  /** The user, by its number. */
  user: number
  place: 'home' | 'abroad'
  more: JsonObject
}

const change = (operation: Operation, more: fc.Arbitrary<JsonObject> = fc.constant({})) =>
  fc.record({
    operation: fc.constant(operation),
    user: fc.nat(1),
    place: fc.constantFrom('home' as const, 'abroad' as const),
    more,
  })
const roles = (...names: string[]) =>
  fc.subarray(names, { minLength: 1, maxLength: 2 }).map((some) => ({ roles: some }))
const ofOrganization = roles('ORG_OWNER', 'ORG_OWNER_VIEWER', 'ORG_USER_MANAGER', 'ORG_USER_PERMISSION_EDITOR')
const ofProject = roles('PROJECT_OWNER', 'PROJECT_OWNER_VIEWER', 'PROJECT_GRANT_OWNER')
const ofInstance = roles('IAM_OWNER_VIEWER', 'IAM_USER_MANAGER', 'IAM_ORG_MANAGER')
const roleKeys = fc.subarray(['reader', 'writer']).map((keys) => ({ roleKeys: keys }))
const roleKey = fc.constantFrom('reader', 'writer').map((key) => ({ roleKey: key }))

/** Each kind of change that gives a right, takes one, or decides whether one counts. */
export const changes: fc.Arbitrary<Change> = fc.oneof(
  change('AddOrganizationMember', ofOrganization),
  change('AddOrganizationMember', ofOrganization),
  change('UpdateOrganizationMember', ofOrganization),
  change('RemoveOrganizationMember'),
  change('AddProjectMember', ofProject),
  change('AddProjectMember', ofProject),
  change('UpdateProjectMember', ofProject),
  change('RemoveProjectMember'),
  change('AddInstanceMember', ofInstance),
  change('UpdateInstanceMember', ofInstance),
  change('RemoveInstanceMember'),
  change('AddUserGrant', roleKeys),
  change('AddUserGrant', roleKeys),
  change('UpdateUserGrant', roleKeys),
  change('DeactivateUserGrant'),
  change('ReactivateUserGrant'),
  change('RemoveUserGrant'),
  change('AddProjectGrant', roleKeys),
  change('UpdateProjectGrant', roleKeys),
  change('DeactivateProjectGrant'),
  change('ReactivateProjectGrant'),
  change('RemoveProjectGrant'),
  change(
    'AddProjectRole',
    roleKey.map((role) => ({ ...role, displayName: 'A role' })),
  ),
  change('RemoveProjectRole', roleKey),
  change('DeactivateProject'),
  change('ReactivateProject'),
  change('DeactivateOrganization'),
  change('ReactivateOrganization'),
  change('DeactivateUser'),
  change('ReactivateUser'),
  change('LockUser'),
  change('UnlockUser'),
)
