import { type Application as ShownApplication, ApplicationState } from '#gen/roster/grants/v1/application_service'
import { type Organization as ShownOrganization, OrganizationState } from '#gen/roster/grants/v1/organization_service'
import {
  type GrantedProject,
  type Project as ShownProject,
  ProjectGrantState,
  ProjectState,
} from '#gen/roster/grants/v1/project_service'
import { type UserGrant as ShownUserGrant, UserGrantState } from '#gen/roster/grants/v1/user_grant_service'
import { details, type Existing } from '#lib/eventstore/aggregate'
import { showOidc } from './applications/show-oidc.ts'
import type { Application } from './vocabulary/application.ts'
import type { Organization } from './vocabulary/organization.ts'
import { checksOf, type Project } from './vocabulary/project.ts'
import type { ProjectGrant } from './vocabulary/project-grant.ts'
import type { UserGrant } from './vocabulary/user-grant.ts'

export function showOrganization(organization: Existing<Organization>): ShownOrganization {
  const { name, primaryDomain, inactive } = organization.state
  return {
    id: organization.id,
    organizationId: organization.id,
    details: details(organization),
    state: inactive ? OrganizationState.ORGANIZATION_STATE_INACTIVE : OrganizationState.ORGANIZATION_STATE_ACTIVE,
    name,
    primaryDomain,
  }
}

export function showProject(project: Existing<Omit<Project, 'roles'>>): ShownProject {
  const { name, inactive } = project.state
  const { roleAssertion, roleCheck, hasProjectCheck } = checksOf(project.state)
  return {
    id: project.id,
    projectId: project.id,
    details: details(project),
    name,
    state: inactive ? ProjectState.PROJECT_STATE_INACTIVE : ProjectState.PROJECT_STATE_ACTIVE,
    projectRoleAssertion: roleAssertion,
    projectRoleCheck: roleCheck,
    hasProjectCheck,
    organizationId: project.organizationId,
  }
}

export function showProjectGrant(grant: Existing<ProjectGrant>, projectName: string): GrantedProject {
  const { projectId, grantedOrganizationId, roleKeys, inactive } = grant.state
  return {
    grantId: grant.id,
    projectGrantId: grant.id,
    grantedOrgId: grantedOrganizationId,
    grantedRoleKeys: roleKeys,
    state: inactive ? ProjectGrantState.PROJECT_GRANT_STATE_INACTIVE : ProjectGrantState.PROJECT_GRANT_STATE_ACTIVE,
    projectId,
    projectName,
    projectOwnerId: grant.organizationId,
    details: details(grant),
  }
}

export function showUserGrant(grant: Existing<UserGrant>): ShownUserGrant {
  const { userId, projectId, projectGrantId, roleKeys, inactive, idpId = '' } = grant.state
  return {
    id: grant.id,
    userGrantId: grant.id,
    details: details(grant),
    userId,
    projectId,
    projectGrantId,
    roleKeys,
    state: inactive ? UserGrantState.USER_GRANT_STATE_INACTIVE : UserGrantState.USER_GRANT_STATE_ACTIVE,
    organizationId: grant.organizationId,
    idpId,
  }
}

/** `personTokenLifetime`: how long access tokens of people live at most, in seconds, if that is known. */
export function showApplication(
  application: Existing<Application>,
  personTokenLifetime: number | undefined,
): ShownApplication {
  const { projectId, name, clientId, inactive, oidc, api } = application.state
  return {
    id: application.id,
    appId: application.id,
    details: details(application),
    state: inactive ? ApplicationState.APPLICATION_STATE_INACTIVE : ApplicationState.APPLICATION_STATE_ACTIVE,
    name,
    config: oidc
      ? { $case: 'oidcConfig', value: showOidc(clientId, oidc, personTokenLifetime) }
      : { $case: 'apiConfig', value: { clientId, ...api!, effective: { ...api! } } },
    projectId,
  }
}
