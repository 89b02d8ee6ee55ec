import type { Sent } from '../api/sent.ts'

/** What an attribute is called where the request has another name for it, or nested. Null: it has no such attribute. */
type Names = Record<string, string | null>

interface Kind {
  kind: string
  /** Attributes that are there in each, such as those that the provider demands or guesses otherwise. */
  always?: Record<string, unknown>
  names?: Names
}

const ids: Names = { organizationId: null, orgId: null, userGrantId: null, grantId: null, clientId: null }

const kinds: Record<string, Kind> = {
  'grants.v1.OrganizationService/AddOrganization': { kind: 'org', names: ids },
  'grants.v1.ProjectService/AddProject': {
    kind: 'project',
    always: { has_project_check: true },
    names: { ...ids, projectId: null },
  },
  'grants.v1.ProjectService/AddProjectRole': { kind: 'project_role' },
  'grants.v1.ProjectService/AddProjectGrant': { kind: 'project_grant', names: { ...ids, projectGrantId: null } },
  'grants.v1.ApplicationService/AddOIDCApplication': {
    kind: 'application_oidc',
    always: {
      redirect_uris: [],
      response_types: ['OIDC_RESPONSE_TYPE_CODE'],
      grant_types: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE'],
    },
    names: { ...ids, loginVersion: null },
  },
  'grants.v1.ApplicationService/AddAPIApplication': { kind: 'application_api', names: ids },
  'grants.v1.UserGrantService/AddUserGrant': { kind: 'user_grant', names: ids },
  'grants.v1.OrganizationService/AddOrganizationMember': { kind: 'org_member' },
  'grants.v1.ProjectMemberService/AddProjectMember': { kind: 'project_member' },
  'grants.v1.InstanceService/AddInstanceMember': { kind: 'instance_member' },
  'users.v1.UserService/AddMachineUser': { kind: 'machine_user', names: { userId: null } },
  'users.v1.CredentialService/AddMachineKey': {
    kind: 'machine_key',
    always: { key_type: 'KEY_TYPE_JSON' },
    names: { type: 'key_type', algorithm: null },
  },
  'users.v1.CredentialService/AddPersonalAccessToken': { kind: 'personal_access_token' },
  'users.v1.UserService/AddHumanUser': {
    kind: 'human_user',
    always: { is_email_verified: false },
    names: { 'email.isVerified': 'is_email_verified', userId: null, password: null },
  },
}

// What the provider does not know of an application.
const unknown = new Set([
  'back_channel_logout_uri',
  'allow_missing_pkce',
  'first_party',
  'roster_api',
  'id_token_algorithm',
  'access_token_lifetime',
])

/** What was made, as a resource of ZITADEL's Terraform provider; undefined where it has no such kind. */
export function terraformOf({ method, request, options }: Sent): string | undefined {
  const known = kinds[method.replace(/^roster\./, '')]
  if (!known) return undefined
  const { kind, always = {}, names = {} } = known
  const organization = kind === 'org' || kind === 'instance_member' ? {} : { org_id: options.organization }
  const given = Object.fromEntries(flatten(request as Record<string, unknown>, names))
  const attributes: Record<string, unknown> = { ...organization, ...always, ...given }
  const left = Object.keys(attributes).filter((name) => unknown.has(name))
  const shown = Object.entries(attributes).filter(([name, value]) => value !== undefined && !unknown.has(name))
  const width = Math.max(0, ...shown.map(([name]) => name.length))
  return [
    `resource "zitadel_${kind}" "${labelOf(attributes, kind)}" {`,
    ...shown.map(([name, value]) => `  ${name.padEnd(width)} = ${literal(value)}`),
    ...left.map((name) => `  # The provider has no ${name}.`),
    '}',
  ].join('\n')
}

function flatten(request: Record<string, unknown>, names: Names, path = ''): [string, unknown][] {
  return Object.entries(request).flatMap(([field, value]) => {
    const full = path + field
    const name = names[full]
    if (name === null) return []
    if (isObject(value)) return flatten(value, names, `${full}.`)
    return [[name ?? snake(field), value] satisfies [string, unknown]]
  })
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

// A label is letters, digits and underscores, and begins with a letter.
function labelOf({ name, role_key: key, user_name: userName }: Record<string, unknown>, kind: string): string {
  const text = [key, userName, name].find((one) => typeof one === 'string' && one !== '')
  const label = (typeof text === 'string' ? text : kind)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[_\d]+|_+$/g, '')
  return label || kind
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  return typeof value === 'string' ? quote(value) : String(value)
}

/** A text of HCL: nothing in it is an interpolation or a directive, or ends it. */
export function quote(text: string): string {
  return (
    JSON.stringify(text)
      // JSON knows \b and \f, HCL does not.
      .replace(/\\./g, (pair) => ({ '\\b': '\\u0008', '\\f': '\\u000c' })[pair] ?? pair)
      .replace(/[$%](?=\{)/g, (sign) => sign + sign)
  )
}
