import type { GrantsAddProjectRequest } from '#gen/console/api'
import { write } from '../api/call.ts'
import { ApiError } from '../api/errors.ts'
import { linesOf } from '../form/merge.ts'
import { apiRequest, type Framework, requestOf } from '../frameworks/framework.ts'

export interface Wanted {
  name: string
  framework: Framework
  projectId: string
  projectName: string
  addresses: string
  back: string
  who: string
  roles: boolean
}

/** An application that is there now; without an id where none had to be registered. */
export interface Added {
  projectId: string
  appId: string
  clientId: string
  clientSecret: string
}

interface Options {
  organization: string
  key: string
  /** The project that an earlier try has made already. */
  madeProject: { current: string }
}

/** Makes the project, if there is none yet, and the application in it. */
export async function addApplication(wanted: Wanted, { organization, key, madeProject }: Options): Promise<Added> {
  const { framework, name, who } = wanted
  const projectId = wanted.projectId || madeProject.current || (await addProject(wanted, organization))
  if (!wanted.projectId) madeProject.current = projectId
  if (framework.registers === 'nothing') return { projectId, appId: '', clientId: '', clientSecret: '' }
  const service = 'roster.grants.v1.ApplicationService'
  const common = { projectId, name }
  try {
    if (framework.registers === 'api') {
      const request = { ...common, ...apiRequest }
      return addedOf(projectId, await write(`${service}/AddAPIApplication`, request, { organization, key }))
    }
    const settings = requestOf(framework, {
      addresses: linesOf(wanted.addresses),
      back: wanted.back,
      roles: wanted.roles,
    })
    const only = who === 'here' ? { organizationId: organization } : {}
    const request = { ...common, ...settings, ...only }
    return addedOf(projectId, await write(`${service}/AddOIDCApplication`, request, { organization, key }))
  } catch (cause) {
    throw cause instanceof ApiError ? inFormOf(cause) : cause
  }
}

async function addProject({ projectName, who }: Wanted, organization: string): Promise<string> {
  const request: GrantsAddProjectRequest = {
    name: projectName,
    ...(who === 'granted' && { hasProjectCheck: true }),
    ...(who === 'role' && { projectRoleCheck: true }),
  }
  const method = 'roster.grants.v1.ProjectService/AddProject'
  const { id = '' } = await write(method, request, { organization }).catch((cause: unknown) => {
    if (cause instanceof ApiError) rename(cause, (field) => (field === 'name' ? 'projectName' : field))
    throw cause
  })
  return id
}

function addedOf(projectId: string, answer: { appId?: string; clientId?: string; clientSecret?: string }): Added {
  const { appId = '', clientId = '', clientSecret = '' } = answer
  return { projectId, appId, clientId, clientSecret }
}

// An address is what the form has for a redirect URI, and for one after sign-out.
function inFormOf(error: ApiError): ApiError {
  rename(error, (field) =>
    field.replace(/^redirectUris/, 'addresses').replace(/^postLogoutRedirectUris\[\d+\]$/, 'back'),
  )
  return error
}

function rename(error: ApiError, nameOf: (field: string) => string) {
  error.violations = error.violations.map(({ field, description }) => ({ field: nameOf(field), description }))
}
