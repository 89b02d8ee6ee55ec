import { offered } from '#lib/rpc/methods'
import { registry } from '#lib/registry'
import { createSchemas, type Schema } from '../../services/gateway/openapi/schemas.ts'

/** The most things of one list of the file. All together: `mostThings`. */
const mostOfList = 10_000
export const mostThings = 50_000

/** The JSON Schema of a setup file. Fields have the rules and the comments that proto/ gives to those of the operations. */
export function setupSchema(): Schema {
  const schemas = createSchemas(offered)
  const fields = (message: string, names: string): Record<string, Schema> =>
    Object.fromEntries(names.split(' ').map((name) => [name, field(message, name)]))
  const field = (message: string, name: string): Schema => {
    const found = registry.getMessage(`roster.${message}`)!.fields.find(({ jsonName }) => jsonName === name)
    return schemas.field(found!, 'request')
  }
  const id = (message: string, name: string, text: string) => ({ id: { ...field(message, name), description: text } })
  const members = (message: string, text: string) =>
    list(text, { userId: thing('userId'), roles: field(message, 'roles') }, 'userId roles')

  const application = (message: string, text: string, more: string) =>
    list(
      text,
      {
        ...id(message, 'appId', 'The id of the application, and its client id where no other one is chosen.'),
        ...fields(message, `name clientId authMethodType${more}`),
      },
      'id name',
    )
  const [oidc, api] = ['grants.v1.AddOIDCApplicationRequest', 'grants.v1.AddAPIApplicationRequest'] as const
  const [project, grant] = ['grants.v1.AddProjectRequest', 'grants.v1.AddProjectGrantRequest'] as const
  const [human, machine] = ['users.v1.AddHumanUserRequest', 'users.v1.AddMachineUserRequest'] as const

  const projects = list(
    'Projects of the organization.',
    {
      ...id(project, 'projectId', 'The id of the project.'),
      ...fields(project, 'name projectRoleAssertion projectRoleCheck hasProjectCheck'),
      roles: list(
        'Roles that people can have in the project.',
        fields('grants.v1.AddProjectRoleRequest', 'roleKey displayName group'),
        'roleKey displayName',
      ),
      oidcApplications: application(oidc, 'Applications that people sign in to.', ` ${oidcFields}`),
      apiApplications: application(api, 'APIs that introspect tokens.', ''),
      grants: list(
        'Organizations that the project is granted to, and the roles that these may give.',
        {
          grantId: { ...field(grant, 'grantId'), description: 'The id of the grant. Not set: Roster makes one.' },
          grantedOrgId: thing('grantedOrgId'),
          roleKeys: roleKeys(field(grant, 'roleKeys')),
        },
        'grantedOrgId roleKeys',
      ),
      members: members('grants.v1.AddProjectMemberRequest', 'Who has roles of Roster in the project.'),
    },
    'id name',
  )
  const people = list(
    'People of the organization. One without passwordFrom is invited by mail to choose a password.',
    {
      ...id(human, 'userId', 'The id of the person.'),
      ...fields(human, 'userName'),
      ...fields('users.v1.Profile', 'firstName lastName nickName displayName preferredLanguage gender'),
      email: field('users.v1.SetHumanEmail', 'email'),
      isEmailVerified: { const: true, description: 'The address counts as proved. Only where the person is made.' },
      passwordFrom: {
        description: 'Where the first password comes from. It counts only where the person is made.',
        ...object({ env: { type: 'string', minLength: 1, maxLength: 200, description: 'A variable.' } }, 'env'),
      },
      passwordChangeRequired: {
        ...field(human, 'passwordChangeRequired'),
        description:
          'The person chooses another password at the first sign-in by that of passwordFrom, and until then it opens nothing. Only where the person is made.',
      },
    },
    'id userName firstName lastName email',
  )
  const machines = list(
    'Machine users of the organization. Their keys and tokens are made by operations, and are not here.',
    {
      ...id(machine, 'userId', 'The id of the machine.'),
      ...fields(machine, 'userName name description accessTokenType'),
    },
    'id userName name',
  )
  const userGrants = list(
    'Roles of users in projects, given by the organization.',
    {
      userGrantId: {
        ...field('grants.v1.AddUserGrantRequest', 'userGrantId'),
        description: 'The id of the user grant. Not set: Roster makes one.',
      },
      userId: thing('userId'),
      projectId: thing('projectId'),
      projectGrantId: {
        ...text,
        description: "The grant by which another organization's project is granted to this one.",
      },
      roleKeys: roleKeys(field('grants.v1.AddUserGrantRequest', 'roleKeys')),
    },
    'userId projectId roleKeys',
  )
  const loginPolicy = {
    description: 'Settings of sign-in. Those that are not here stay as they are.',
    ...object(fields('users.v1.LoginPolicySettings', policyFields)),
  }
  const organizations = list(
    'Organizations. The first one of each Roster is `default`.',
    {
      ...id('grants.v1.AddOrganizationRequest', 'orgId', 'The id of the organization.'),
      ...fields('grants.v1.AddOrganizationRequest', 'name'),
      loginPolicy,
      people,
      machines,
      projects,
      members: members('grants.v1.AddOrganizationMemberRequest', 'Who has roles of Roster in the organization.'),
      userGrants,
    },
    'id name',
  )
  const root = object({
    loginPolicy,
    organizations,
    members: members('grants.v1.AddInstanceMemberRequest', 'Who has roles of Roster on the instance.'),
  })
  const components = schemas.components()
  const whole = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Setup of Roster',
    description: 'What each start makes and sets: docs/setup.md.',
    ...root,
    definitions: components,
  }
  return JSON.parse(JSON.stringify(whole).replaceAll('#/components/schemas/', '#/definitions/')) as Schema
}

const oidcFields =
  'redirectUris postLogoutRedirectUris additionalOrigins responseTypes grantTypes appType devMode accessTokenType ' +
  'accessTokenRoleAssertion idTokenRoleAssertion idTokenUserinfoAssertion clockSkew backChannelLogoutUri loginVersion ' +
  'allowMissingPkce firstParty rosterApi idTokenAlgorithm accessTokenLifetime organizationId'

const policyFields =
  'allowUsernamePassword allowRegister forceMfa hidePasswordReset defaultRedirectUri passwordCheckLifetime ' +
  'secondFactorCheckLifetime multiFactorCheckLifetime allowPasskeys tellOfSignIns keepSignedIn tosLink ' +
  'privacyPolicyLink helpLink secondFactors forceMfaOfAdministrators trustedBrowserDays allowMailedCodes ' +
  'maxPasswordAttempts'

const text = { type: 'string', minLength: 1, maxLength: 200 }

function thing(name: 'userId' | 'projectId' | 'grantedOrgId'): Schema {
  const words = { userId: 'user', projectId: 'project', grantedOrgId: 'organization' }
  return {
    ...text,
    description: `The id of a ${words[name]}, of this file or of one that is there.`.replace('a o', 'an o'),
  }
}

function roleKeys(field: Schema): Schema {
  return { ...field, maxItems: 1000, items: text }
}

function list(description: string, properties: Record<string, Schema>, required: string): Schema {
  return { description, type: 'array', maxItems: mostOfList, items: object(properties, required) }
}

function object(properties: Record<string, Schema>, required = ''): Schema {
  return {
    type: 'object',
    properties,
    ...(required && { required: required.split(' ') }),
    additionalProperties: false,
  }
}
