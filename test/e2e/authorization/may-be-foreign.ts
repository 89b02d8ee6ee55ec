/** Fields that may name an object of another organization, so that it is found: docs/contract.md says so of each. */
export const mayBeForeign = new Set([
  'AddUserGrant.user_id',
  'AddOrganizationMember.user_id',
  'AddProjectMember.user_id',
])
