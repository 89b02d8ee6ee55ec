import { ApplicationServiceDefinition } from '#gen/roster/grants/v1/application_service'
import { InstanceServiceDefinition } from '#gen/roster/grants/v1/instance_service'
import { InternalServiceDefinition } from '#gen/roster/grants/v1/internal_service'
import { OrganizationDomainServiceDefinition } from '#gen/roster/grants/v1/organization_domain_service'
import { OrganizationServiceDefinition } from '#gen/roster/grants/v1/organization_service'
import { PermissionServiceDefinition } from '#gen/roster/grants/v1/permission_service'
import { ProjectMemberServiceDefinition } from '#gen/roster/grants/v1/project_member_service'
import { ProjectServiceDefinition } from '#gen/roster/grants/v1/project_service'
import { UserGrantServiceDefinition } from '#gen/roster/grants/v1/user_grant_service'
import { InternalServiceDefinition as IdpInternal } from '#gen/roster/idp/v1/internal_service'
import { InternalServiceDefinition as UsersInternal } from '#gen/roster/users/v1/internal_service'
import { untilReachable } from '#lib/database/database'
import type { Parts, Service } from '#lib/process'
import { createClient } from '#lib/rpc/call'
import { served } from '#lib/rpc/serve'
import { startStoringService, type StoringService } from '#lib/storing-service'
import { bootstrap } from './bootstrap.ts'
import type { Config } from './config.ts'
import type { Context } from './context.ts'
import { addOIDCApplication } from './operations/application/add-oidc-application.ts'
import { addAPIApplication } from './operations/application/add-api-application.ts'
import { getApplication } from './operations/application/get-application.ts'
import { searchApplicationArrivals } from './operations/application/search-application-arrivals.ts'
import { searchApplications } from './operations/application/search-applications.ts'
import { patchApplication } from './operations/application/patch-application.ts'
import { updateApplication } from './operations/application/update-application.ts'
import { updateOIDCConfig } from './operations/application/update-oidc-config.ts'
import { updateAPIConfig } from './operations/application/update-api-config.ts'
import { deactivateApplication } from './operations/application/deactivate-application.ts'
import { reactivateApplication } from './operations/application/reactivate-application.ts'
import { removeApplication } from './operations/application/remove-application.ts'
import { generateClientSecret } from './operations/application/generate-client-secret.ts'
import { addClientSecret } from './operations/application/add-client-secret.ts'
import { listApplicationChanges } from './operations/change/list-application-changes.ts'
import { listProjectChanges } from './operations/change/list-project-changes.ts'
import { listEndingApplicationCredentials } from './operations/credential/list-ending-application-credentials.ts'
import { searchMyProjects } from './operations/project/search-my-projects.ts'
import { listClientSecrets } from './operations/application/list-client-secrets.ts'
import { setClientSecretExpiration } from './operations/application/set-client-secret-expiration.ts'
import { removeClientSecret } from './operations/application/remove-client-secret.ts'
import { addApplicationKey } from './operations/application/add-application-key.ts'
import { listApplicationKeys } from './operations/application/list-application-keys.ts'
import { removeApplicationKey } from './operations/application/remove-application-key.ts'
import { checkProviderRoles } from './operations/internal/check-provider-roles.ts'
import { setProviderRoles } from './operations/internal/set-provider-roles.ts'
import { startFollowingTables } from './provider-roles/follow-tables.ts'
import { giveInvitedRoles } from './operations/internal/give-invited-roles.ts'
import { listInstanceOwners } from './operations/internal/list-instance-owners.ts'
import { listOwnedOrganizations } from './operations/internal/list-owned-organizations.ts'
import { listMemberships } from './operations/internal/list-memberships.ts'
import { listProjectRoles } from './operations/internal/list-project-roles.ts'
import { lookupApplication } from './operations/internal/lookup-application.ts'
import { lookupOrganization } from './operations/internal/lookup-organization.ts'
import { recordRefusals } from './operations/internal/record-refusals.ts'
import { addOrganizationMember } from './operations/member/add-organization-member.ts'
import { updateOrganizationMember } from './operations/member/update-organization-member.ts'
import { removeOrganizationMember } from './operations/member/remove-organization-member.ts'
import { searchOrganizationMembers } from './operations/member/search-organization-members.ts'
import { leaveOrganization } from './operations/member/leave-organization.ts'
import { addProjectMember } from './operations/member/add-project-member.ts'
import { updateProjectMember } from './operations/member/update-project-member.ts'
import { removeProjectMember } from './operations/member/remove-project-member.ts'
import { searchProjectMembers } from './operations/member/search-project-members.ts'
import { addInstanceMember } from './operations/member/add-instance-member.ts'
import { updateInstanceMember } from './operations/member/update-instance-member.ts'
import { removeInstanceMember } from './operations/member/remove-instance-member.ts'
import { searchInstanceMembers } from './operations/member/search-instance-members.ts'
import { addOrganization } from './operations/organization/add-organization.ts'
import { getDefaultOrganization } from './operations/organization/get-default-organization.ts'
import { getOrganization } from './operations/organization/get-organization.ts'
import { searchMyOrganizations } from './operations/organization/search-my-organizations.ts'
import { searchOrganizations } from './operations/organization/search-organizations.ts'
import { updateOrganization } from './operations/organization/update-organization.ts'
import { setPrimaryDomain } from './operations/organization/set-primary-domain.ts'
import { addOrganizationDomain } from './operations/organization-domain/add-organization-domain.ts'
import { confirmOrganizationDomain } from './operations/organization-domain/confirm-organization-domain.ts'
import { getOrganizationDomain } from './operations/organization-domain/get-organization-domain.ts'
import { listOrganizationDomains } from './operations/organization-domain/list-organization-domains.ts'
import { removeOrganizationDomain } from './operations/organization-domain/remove-organization-domain.ts'
import { verifyOrganizationDomain } from './operations/organization-domain/verify-organization-domain.ts'
import { deactivateOrganization } from './operations/organization/deactivate-organization.ts'
import { reactivateOrganization } from './operations/organization/reactivate-organization.ts'
import { removeMyOrganization } from './operations/organization/remove-my-organization.ts'
import { removeOrganization } from './operations/organization/remove-organization.ts'
import { getMyOrganization } from './operations/organization/get-my-organization.ts'
import { explainPermission } from './operations/permission/explain-permission.ts'
import { addProjectGrant } from './operations/project-grant/add-project-grant.ts'
import { deactivateProjectGrant } from './operations/project-grant/deactivate-project-grant.ts'
import { getGrantedProject } from './operations/project-grant/get-granted-project.ts'
import { getProjectGrant } from './operations/project-grant/get-project-grant.ts'
import { reactivateProjectGrant } from './operations/project-grant/reactivate-project-grant.ts'
import { removeProjectGrant } from './operations/project-grant/remove-project-grant.ts'
import { searchGrantedProjects } from './operations/project-grant/search-granted-projects.ts'
import { searchProjectGrants } from './operations/project-grant/search-project-grants.ts'
import { updateProjectGrant } from './operations/project-grant/update-project-grant.ts'
import { addProjectRole } from './operations/project-role/add-project-role.ts'
import { bulkAddProjectRoles } from './operations/project-role/bulk-add-project-roles.ts'
import { listUserRoles } from './operations/project-role/list-user-roles.ts'
import { removeProjectRole } from './operations/project-role/remove-project-role.ts'
import { searchProjectRoles } from './operations/project-role/search-project-roles.ts'
import { searchRoleHolders } from './operations/project-role/search-role-holders.ts'
import { updateProjectRole } from './operations/project-role/update-project-role.ts'
import { addProject } from './operations/project/add-project.ts'
import { deactivateProject } from './operations/project/deactivate-project.ts'
import { getProject } from './operations/project/get-project.ts'
import { reactivateProject } from './operations/project/reactivate-project.ts'
import { removeProject } from './operations/project/remove-project.ts'
import { searchProjects } from './operations/project/search-projects.ts'
import { updateProject } from './operations/project/update-project.ts'
import { addUserGrant } from './operations/user-grant/add-user-grant.ts'
import { bulkAddUserGrants } from './operations/user-grant/bulk-add-user-grants.ts'
import { bulkRemoveUserGrants } from './operations/user-grant/bulk-remove-user-grants.ts'
import { deactivateUserGrant } from './operations/user-grant/deactivate-user-grant.ts'
import { getMyPermissions } from './operations/user-grant/get-my-permissions.ts'
import { getUserGrant } from './operations/user-grant/get-user-grant.ts'
import { reactivateUserGrant } from './operations/user-grant/reactivate-user-grant.ts'
import { removeUserGrant } from './operations/user-grant/remove-user-grant.ts'
import { searchMyGrants } from './operations/user-grant/search-my-grants.ts'
import { searchUserGrants } from './operations/user-grant/search-user-grants.ts'
import { updateUserGrant } from './operations/user-grant/update-user-grant.ts'
import { ownerOfOrganization, ownerOfUser, ownerOfUserGrant } from './owners.ts'
import { startCascades } from './cascades/start-cascades.ts'
import { startPruningRefusals } from './explain/refused-calls.ts'
import { startWatchingDomains } from './organizations/watch-domains.ts'
import { startUserRemoval } from './cascades/user-removal.ts'
import { model } from './model.ts'
import { callerChangedBy } from './projections.ts'
import { internalCalls } from '../internal-calls.ts'
import { membershipsIn, rolesThere } from '../roles-there.ts'

const grants: StoringService<Config, Context> = {
  name: 'grants',
  vocabulary: model,
  callerChangedBy,
  async open({ config, nats, log, sql, store }) {
    const context: Context = {
      config,
      sql,
      store,
      users: createClient(nats, UsersInternal, internalCalls.grants.users),
      idp: createClient(nats, IdpInternal, internalCalls.grants.idp),
    }
    await untilReachable(nats.waits, () => bootstrap(context))
    const background = [
      startUserRemoval(context, nats, log),
      startCascades(context, nats, log),
      startFollowingTables(context, nats, log),
      startPruningRefusals(sql, log),
      startWatchingDomains(context, log),
    ]
    return { context, background }
  },
  owners: { grant_id: ownerOfUserGrant, org_id: ownerOfOrganization, user_id: ownerOfUser },
  rolesThere: async (context, userId, organizationId) =>
    rolesThere(await listMemberships(context, membershipsIn(userId, organizationId)), organizationId),
  services: (listEvents, listCheckpoints) => [
    served<typeof OrganizationServiceDefinition, Context>(OrganizationServiceDefinition, {
      addOrganization,
      getMyOrganization,
      getOrganization,
      searchMyOrganizations,
      getDefaultOrganization,
      searchOrganizations,
      updateOrganization,
      setPrimaryDomain,
      deactivateOrganization,
      reactivateOrganization,
      removeMyOrganization,
      removeOrganization,
      addOrganizationMember,
      updateOrganizationMember,
      removeOrganizationMember,
      searchOrganizationMembers,
      leaveOrganization,
    }),
    served<typeof OrganizationDomainServiceDefinition, Context>(OrganizationDomainServiceDefinition, {
      addOrganizationDomain,
      listOrganizationDomains,
      getOrganizationDomain,
      verifyOrganizationDomain,
      confirmOrganizationDomain,
      removeOrganizationDomain,
    }),
    served<typeof InstanceServiceDefinition, Context>(InstanceServiceDefinition, {
      addInstanceMember,
      updateInstanceMember,
      removeInstanceMember,
      searchInstanceMembers,
    }),
    served<typeof ProjectServiceDefinition, Context>(ProjectServiceDefinition, {
      addProject,
      addProjectRole,
      addProjectGrant,
      getProject,
      listProjectChanges,
      searchMyProjects,
      searchProjects,
      updateProject,
      deactivateProject,
      reactivateProject,
      removeProject,
      bulkAddProjectRoles,
      searchProjectRoles,
      updateProjectRole,
      removeProjectRole,
      searchRoleHolders,
      listUserRoles,
      getProjectGrant,
      searchProjectGrants,
      updateProjectGrant,
      deactivateProjectGrant,
      reactivateProjectGrant,
      removeProjectGrant,
      getGrantedProject,
      searchGrantedProjects,
    }),
    served<typeof ApplicationServiceDefinition, Context>(ApplicationServiceDefinition, {
      addOIDCApplication,
      addAPIApplication,
      getApplication,
      searchApplications,
      searchApplicationArrivals,
      patchApplication,
      updateApplication,
      updateOIDCConfig,
      updateAPIConfig,
      deactivateApplication,
      reactivateApplication,
      removeApplication,
      generateClientSecret,
      addClientSecret,
      listApplicationChanges,
      listEndingApplicationCredentials,
      listClientSecrets,
      setClientSecretExpiration,
      removeClientSecret,
      addApplicationKey,
      listApplicationKeys,
      removeApplicationKey,
    }),
    served<typeof ProjectMemberServiceDefinition, Context>(ProjectMemberServiceDefinition, {
      addProjectMember,
      updateProjectMember,
      removeProjectMember,
      searchProjectMembers,
    }),
    served<typeof UserGrantServiceDefinition, Context>(UserGrantServiceDefinition, {
      addUserGrant,
      bulkAddUserGrants,
      bulkRemoveUserGrants,
      getUserGrant,
      searchUserGrants,
      updateUserGrant,
      deactivateUserGrant,
      reactivateUserGrant,
      removeUserGrant,
      searchMyGrants,
      getMyPermissions,
    }),
    served<typeof PermissionServiceDefinition, Context>(PermissionServiceDefinition, { explainPermission }),
    served<typeof InternalServiceDefinition, Context>(InternalServiceDefinition, {
      listMemberships,
      listProjectRoles,
      lookupOrganization,
      lookupApplication,
      listInstanceOwners,
      listOwnedOrganizations,
      giveInvitedRoles,
      checkProviderRoles,
      setProviderRoles,
      recordRefusals,
      listEvents,
      listCheckpoints,
    }),
  ],
}

/** Starts the grants service: brings its schema up to date, makes the first organization, and answers. */
export function startGrants(parts: Parts<Config>): Promise<Service> {
  return startStoringService(grants, new URL('./migrations/', import.meta.url), parts)
}
