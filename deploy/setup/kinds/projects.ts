import { Contradiction, type Fields, type Kind } from '../item.ts'
import { objectIn, pick } from './fields.ts'

const service = 'grants.v1.ProjectService'
const applications = 'grants.v1.ApplicationService'
const projectFields = ['projectRoleAssertion', 'projectRoleCheck', 'hasProjectCheck']

export const project: Kind = {
  name: 'project',
  rank: 3,
  aggregate: 'project',
  async read(gateway, { organization, ids }) {
    const found = objectIn(await gateway.ask(`${service}/GetProject`, ids, organization), 'project')
    return found && projectOf(found)
  },
  add: ({ organization, ids, wanted }) => ({
    operation: `${service}/AddProject`,
    request: { ...ids, ...wanted },
    organization,
  }),
  set: ({ organization, ids }, changed) => [
    { operation: `${service}/UpdateProject`, request: { ...ids, ...changed }, organization },
  ],
}

/** The fields of a project, as the file names them. */
export function projectOf(project: Fields): Fields {
  return { name: project['name'], ...Object.fromEntries(projectFields.map((name) => [name, project[name] ?? false])) }
}

export const role: Kind = {
  name: 'role',
  rank: 4,
  async read(gateway, { organization, ids: { projectId, roleKey } }) {
    const roles = await gateway.all(`${service}/SearchProjectRoles`, 'roles', { projectId }, organization)
    const found = roles.find(({ key }) => key === roleKey)
    return found && pick(found, ['displayName', 'group'])
  },
  add: ({ organization, ids, wanted }) => ({
    operation: `${service}/AddProjectRole`,
    request: { ...ids, ...wanted },
    organization,
  }),
  set: ({ organization, ids }, changed) => [
    { operation: `${service}/UpdateProjectRole`, request: { ...ids, ...changed }, organization },
  ],
}

type ApplicationType = 'oidc' | 'api'

function application(type: ApplicationType, add: string): Kind {
  const [config, other] =
    type === 'oidc' ? (['oidcConfig', 'apiConfig'] as const) : (['apiConfig', 'oidcConfig'] as const)
  return {
    name: `${type === 'oidc' ? 'OIDC' : 'API'} application`,
    rank: 5,
    aggregate: 'application',
    async read(gateway, { organization, ids }) {
      const answer = await gateway.ask(`${applications}/GetApplication`, ids, organization)
      const found = objectIn(answer, 'application')
      if (found?.[other]) throw new Contradiction('this application is of the other type')
      return found && applicationOf(found)
    },
    add: ({ organization, ids, wanted }) => ({
      operation: `${applications}/${add}`,
      request: { ...ids, ...wanted },
      organization,
    }),
    set({ organization, ids }, { name, ...changed }) {
      if ('clientId' in changed) throw new Contradiction('an application keeps its clientId')
      const request = {
        ...ids,
        ...(name !== undefined && { name }),
        ...(Object.keys(changed).length > 0 && { [config]: changed, updateMask: maskOf(config, name, changed) }),
      }
      return [{ operation: `${applications}/PatchApplication`, request, organization }]
    },
  }
}

// Lists that are empty, and texts, are set only where the mask names them.
function maskOf(config: string, name: unknown, changed: Fields): string {
  return [...(name === undefined ? [] : ['name']), ...Object.keys(changed).map((field) => `${config}.${field}`)].join()
}

export const oidcApplication = application('oidc', 'AddOIDCApplication')
export const apiApplication = application('api', 'AddAPIApplication')

/** The fields of an application, as the file names them. */
export function applicationOf({ name, oidcConfig, apiConfig }: Fields): Fields {
  const { effective: _, ...config } = (oidcConfig ?? apiConfig ?? {}) as Fields
  return { name, ...config }
}
