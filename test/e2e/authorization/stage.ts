import { ok, profile, unique, uniqueEmail } from '../../examples/people.ts'
import type { Operation } from '../../examples/contract.ts'
import type { CallOptions } from '../clients/call.ts'
import { callGrpc } from '../clients/grpc.ts'

/** The fields of requests that take the id of an object of the stage; in one service, or in every other. */
export const objectFields = [
  'org_id',
  'OrganizationService.domain',
  'user_id',
  'session_id',
  'project_id',
  'app_id',
  'application_id',
  'webhook_id',
  'grant_id',
  'ProjectService.grant_id',
  'OrganizationIdentityProviderService.idp_id',
] as const
export type ObjectField = (typeof objectFields)[number]

/** Objects of one organization. */
export type Objects = Record<ObjectField, string>

/** Two organizations with one object of each kind, and callers of every kind. Each caller acts for an organization. */
export interface Stage {
  home: Objects
  abroad: Objects
  /** More of the organization of `home`, with another project. */
  beside: Objects
  /** By the names of the columns of the table. */
  callers: Record<string, CallOptions>
}

/** Sets the stage. `admin` owns the instance. */
export async function setStage(admin: CallOptions): Promise<Stage> {
  const [homeId, abroadId] = [await addOrganization(admin), await addOrganization(admin)]
  // Where an organization has a grant of a project, the project is not foreign.
  const third = await addOrganization(admin)
  const self = await addHuman(admin, homeId)
  const home = await addObjects(admin, homeId, third, self)
  const abroad = await addObjects(admin, abroadId, third, await addHuman(admin, abroadId))
  const member = async (organization: string, roles: string[]) => {
    const human = await addHuman(admin, organization)
    if (roles.length > 0) await add(admin, 'AddOrganizationMember', { userId: human.userId, roles }, organization)
    return human.caller
  }
  const memberOfProject = async (role: string) => {
    const { userId, caller } = await addHuman(admin, homeId)
    await add(admin, 'AddProjectMember', { projectId: home.project_id, userId, roles: [role] }, homeId)
    return caller
  }
  const memberOfInstance = async (role: string) => {
    // No one may end an organization with a user of higher roles than the own.
    const { userId, caller } = await addHuman(admin, third)
    await add(admin, 'AddInstanceMember', { userId, roles: [role] })
    return { ...caller, organization: homeId }
  }
  const guestOf = async (organization: string) => {
    const { userId, caller } = await addHuman(admin, abroadId)
    await add(admin, 'AddOrganizationMember', { userId, roles: ['ORG_OWNER'] }, organization)
    return { url: caller.url, token: caller.token }
  }
  const otherOwner = await member(abroadId, ['ORG_OWNER'])
  return {
    home,
    abroad,
    beside: await addObjects(admin, homeId, third, await addHuman(admin, homeId)),
    callers: {
      anonymous: { url: admin.url! },
      ordinary: await member(homeId, []),
      self: self.caller,
      manager: await member(homeId, ['ORG_USER_MANAGER']),
      owner: await member(homeId, ['ORG_OWNER']),
      viewer: await member(homeId, ['ORG_OWNER_VIEWER']),
      'other-owner': otherOwner,
      'other-viewer': await member(abroadId, ['ORG_OWNER_VIEWER']),
      // The same one, which says that it acts here.
      intruder: { ...otherOwner, organization: homeId },
      // An owner of this organization that belongs to the other one, and does not say where it acts.
      guest: await guestOf(homeId),
      'project-owner': await memberOfProject('PROJECT_OWNER'),
      'project-viewer': await memberOfProject('PROJECT_OWNER_VIEWER'),
      'grant-owner': await memberOfProject('PROJECT_GRANT_OWNER'),
      'project-token': await addClient(admin, homeId, home.project_id),
      'iam-viewer': await memberOfInstance('IAM_OWNER_VIEWER'),
      'iam-owner': { ...admin, organization: homeId },
    },
  }
}

async function add(
  admin: CallOptions,
  operation: Operation,
  request: Parameters<typeof callGrpc>[1],
  organization?: string,
) {
  return ok(await callGrpc(operation, request, { ...admin, organization }))
}

async function addOrganization(admin: CallOptions): Promise<string> {
  return (await add(admin, 'AddOrganization', { name: unique('Organization') })).organizationId
}

/** A human without roles that has signed in. It acts for its own organization. */
async function addHuman(admin: CallOptions, organization: string) {
  const [userName, password] = [unique('human'), unique('Password')]
  const email = { email: uniqueEmail(), isVerified: true }
  const { userId } = await add(admin, 'AddHumanUser', { userName, profile, email, password }, organization)
  const session = await add(admin, 'CreateSession', { loginName: userName, password })
  const { sessionId, sessionToken } = session as { sessionId: string; sessionToken: string }
  return { userId: userId as string, sessionId, caller: { url: admin.url!, token: sessionToken, organization } }
}

async function addObjects(
  admin: CallOptions,
  organization: string,
  grantedOrgId: string,
  { userId, sessionId }: { userId: string; sessionId: string },
): Promise<Objects> {
  const own = (operation: Operation, request: Parameters<typeof callGrpc>[1]) =>
    add(admin, operation, request, organization)
  const { id: projectId } = await own('AddProject', { name: unique('Project') })
  await own('AddProjectRole', { projectId, roleKey: 'reader', displayName: 'Reader' })
  const { appId } = await own('AddOIDCApplication', { projectId, name: unique('Application') })
  const { grantId } = await own('AddProjectGrant', { projectId, grantedOrgId, roleKeys: ['reader'] })
  const { userGrantId } = await own('AddUserGrant', { userId, projectId, roleKeys: ['reader'] })
  const { webhookId } = await own('AddWebhook', { url: 'https://receiver.example.com/' })
  const idp = { name: unique('Provider'), clientId: 'c', clientSecret: 's', issuer: 'https://issuer.example.com' }
  const { idpId } = await own('AddOrganizationOIDCIDP', idp)
  return {
    org_id: organization,
    // One that it may take.
    'OrganizationService.domain': `${unique('domain')}.localhost`,
    user_id: userId,
    session_id: sessionId,
    project_id: projectId,
    app_id: appId,
    application_id: appId,
    webhook_id: webhookId,
    grant_id: userGrantId,
    'ProjectService.grant_id': grantId,
    'OrganizationIdentityProviderService.idp_id': idpId,
  }
}

/** A machine that owns its organization, by an access token for a project: the token is not for Roster. */
async function addClient(admin: CallOptions, organization: string, projectId: string): Promise<CallOptions> {
  const { userId } = await add(
    admin,
    'AddMachineUser',
    { userName: unique('machine'), name: 'A machine' },
    organization,
  )
  await add(admin, 'AddOrganizationMember', { userId, roles: ['ORG_OWNER'] }, organization)
  await add(admin, 'AddUserGrant', { userId, projectId, roleKeys: ['reader'] }, organization)
  const { clientId, clientSecret } = await add(admin, 'AddMachineSecret', { userId }, organization)
  const grant = { grantType: 'client_credentials', scope: `openid project:${projectId}`, clientId, clientSecret }
  const { accessToken } = await add(admin, 'IssueToken', grant)
  return { url: admin.url!, token: accessToken, organization }
}
