import { Document, visit } from 'yaml'
import { instance } from '#lib/instance'
import { unseen as invisible } from '#lib/names/name-faults'
import type { Gateway } from './gateway.ts'
import type { Fields } from './item.ts'
import { objectIn, pick } from './kinds/fields.ts'
import { applicationOf, projectOf } from './kinds/projects.ts'
import { fieldsOf } from './kinds/users.ts'
import { SetupFaults } from './read-file.ts'
import { setupSchema } from './schema.ts'

/** The file of what is there, or of these organizations alone, in YAML. It has no secret. */
export async function exportSetup(gateway: Gateway, only: string[] = []): Promise<string> {
  const content: Fields = only.length > 0 ? {} : await ofInstance(gateway)
  const organizations: Fields[] = []
  for (const { id, name } of await organizationsOf(gateway, only)) {
    organizations.push(without({ id, name, ...(await organizationOf(gateway, id as string)) }))
    gateway.forget()
  }
  Object.assign(content, { organizations })
  const document = new Document(without(content))
  document.commentBefore = ` yaml-language-server: $schema=setup.schema.json\n Made by setup export. It has no passwords, keys and secrets.`
  return plainText(document)
}

async function ofInstance(gateway: Gateway): Promise<Fields> {
  return {
    loginPolicy: policyOf(await gateway.ask('users.v1.LoginPolicyService/GetInstanceLoginPolicy', {})),
    members: membersOf(await gateway.all('grants.v1.InstanceService/SearchInstanceMembers', 'members', {})),
  }
}

async function organizationsOf(gateway: Gateway, only: string[]): Promise<Fields[]> {
  const service = 'grants.v1.OrganizationService'
  if (only.length === 0) return gateway.all(`${service}/SearchOrganizations`, 'organizations', {})
  const found: Fields[] = []
  for (const orgId of only) {
    const organization = objectIn(await gateway.ask(`${service}/GetOrganization`, { orgId }), 'organization')
    if (!organization) throw new SetupFaults([`There is no organization ${orgId}.`])
    found.push(organization)
  }
  return found
}

// Any text may come from a stranger: nothing in it steers a terminal, and it is read again as it was.
function plainText(document: Document): string {
  visit(document, {
    Scalar(_key, scalar) {
      if (typeof scalar.value === 'string' && unseen.test(scalar.value)) scalar.type = 'QUOTE_DOUBLE'
    },
  })
  return document.toString({ lineWidth: 0 }).replaceAll(new RegExp(unseen, 'gu'), (character) => {
    const code = character.codePointAt(0)!.toString(16)
    return code.length > 4 ? `\\U${code.padStart(8, '0')}` : `\\u${code.padStart(4, '0')}`
  })
}

const unseen = new RegExp(`(?!\\n)(?:${invisible.source}|(?! )\\p{Zs})`, 'u')

async function organizationOf(gateway: Gateway, id: string): Promise<Fields> {
  const all = (operation: string, rows: string, request: Fields = {}) => gateway.all(operation, rows, request, id)
  const users = (await all('users.v1.UserService/SearchUsers', 'users')).filter(({ userId }) => !isFirst(userId))
  const projects = await all('grants.v1.ProjectService/SearchProjects', 'projects')
  const shown: Fields[] = []
  for (const project of projects) {
    const projectId = project['id'] as string
    if (projectId === instance.console.projectId) continue
    shown.push(without({ id: projectId, ...projectOf(project), ...(await ofProject(projectId, all)) }))
  }
  const grants = await all('grants.v1.UserGrantService/SearchUserGrants', 'userGrants')
  const ofType = (type: string) => users.filter((user) => user[type] !== undefined).map(userOf)
  return {
    loginPolicy: policyOf(await gateway.ask('users.v1.LoginPolicyService/GetLoginPolicy', {}, id)),
    people: ofType('human'),
    machines: ofType('machine'),
    projects: shown,
    members: membersOf(await all('grants.v1.OrganizationService/SearchOrganizationMembers', 'members')),
    userGrants: grants.map(({ id: userGrantId, ...grant }) => ({
      userGrantId,
      ...pick(grant, ['userId', 'projectId', ...(grant['projectGrantId'] ? ['projectGrantId'] : [])]),
      roleKeys: grant['roleKeys'] ?? [],
    })),
  }
}

type All = (operation: string, rows: string, request?: Fields) => Promise<Fields[]>

async function ofProject(projectId: string, all: All): Promise<Fields> {
  const of = (operation: string, rows: string) => all(`grants.v1.${operation}`, rows, { projectId })
  const applications = await of('ApplicationService/SearchApplications', 'applications')
  const ofType = (type: string, list: string) =>
    applications
      .filter((application) => application[type] !== undefined)
      .map((application) => without({ id: application['id'], ...pick(applicationOf(application), known(list)) }))
  const roles = await of('ProjectService/SearchProjectRoles', 'roles')
  const grants = await of('ProjectService/SearchProjectGrants', 'projectGrants')
  return {
    roles: roles.map(({ key, displayName, group }) => without({ roleKey: key, displayName, group })),
    oidcApplications: ofType('oidcConfig', 'oidcApplications'),
    apiApplications: ofType('apiConfig', 'apiApplications'),
    grants: grants.map(({ grantId, grantedOrgId, grantedRoleKeys }) => ({
      grantId,
      grantedOrgId,
      roleKeys: grantedRoleKeys ?? [],
    })),
    members: membersOf(await of('ProjectMemberService/SearchProjectMembers', 'members')),
  }
}

// Each Roster has these two from its first start.
function isFirst(userId: unknown): boolean {
  return [instance.humanAdministrator.id, instance.machineAdministrator.id].includes(String(userId))
}

function userOf(user: Fields): Fields {
  return without({ id: user['userId'], ...fieldsOf(user) })
}

function membersOf(members: Fields[]): Fields[] {
  return members.map(({ userId, roles }) => ({ userId, roles }))
}

function policyOf(answer: Fields | undefined): Fields | undefined {
  const policy = without(pick((answer?.['settings'] ?? {}) as Fields, known('loginPolicy')))
  return Object.keys(policy).length > 0 ? policy : undefined
}

/** The fields that the schema has under a name, at any depth. */
function known(name: string): string[] {
  const found = find(setupSchema(), name) as { properties?: Fields; items?: { properties: Fields } }
  return Object.keys(found.properties ?? found.items?.properties ?? {})
}

function find(schema: unknown, name: string): unknown {
  const { properties, items } = (schema ?? {}) as { properties?: Fields; items?: unknown }
  if (items !== undefined) return find(items, name)
  if (properties?.[name] !== undefined) return properties[name]
  return Object.values(properties ?? {})
    .map((inner) => find(inner, name))
    .find((inner) => inner !== undefined)
}

// What is empty is as if it were not there.
function without(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) =>
        value !== undefined &&
        value !== '' &&
        !(Array.isArray(value) && value.length === 0) &&
        !(typeof value === 'string' && value.endsWith('_UNSPECIFIED')),
    ),
  )
}
