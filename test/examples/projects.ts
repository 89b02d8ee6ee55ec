import { call } from '../e2e/clients/encodings.ts'
import { admin, ok, unique } from './people.ts'

/** Adds a project with these roles and returns its id. */
export async function newProject(organization: string, roles: string[] = []): Promise<string> {
  const { id } = ok(await call('AddProject', { name: unique('Project') }, admin(organization)))
  for (const roleKey of roles)
    ok(await call('AddProjectRole', { projectId: id, roleKey, displayName: roleKey }, admin(organization)))
  return id
}

/** Grants the owner's project to another organization and returns the id of the grant. */
export async function grantProject(owner: string, projectId: string, grantedOrgId: string, roleKeys: string[]) {
  const { grantId } = ok(await call('AddProjectGrant', { projectId, grantedOrgId, roleKeys }, admin(owner)))
  return grantId as string
}

/** Adds an identity provider and returns its id and name. */
export async function newIdp(name = unique('Provider')): Promise<{ idpId: string; name: string }> {
  const { idpId } = ok(
    await call(
      'AddOIDCIDP',
      {
        name,
        clientId: 'client',
        clientSecret: unique('client-secret'),
        issuer: 'https://issuer.example.com',
        scopes: ['openid'],
      },
      admin(),
    ),
  )
  return { idpId, name }
}
