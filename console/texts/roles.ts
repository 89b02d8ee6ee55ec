import { texts } from './texts.ts'

const t = texts(
  {
    owner: 'Owner',
    viewer: 'Viewer: reads everything',
    users: 'User manager: people and their roles in projects',
    permissions: 'Permission editor: roles in projects',
    projects: 'Project permission editor: who gets projects',
    iamOwner: 'Owner of the instance',
    iamViewer: 'Viewer of the instance: reads everything',
    iamOrgs: 'Organization manager: every organization',
    iamUsers: 'User manager: people of every organization',
    iamLogin: 'Login application: signs people in by pages of its own',
  },
  {
    owner: 'Eigentümer',
    viewer: 'Leser: liest alles',
    users: 'Benutzerverwalter: Personen und ihre Rollen in Projekten',
    permissions: 'Rechteverwalter: Rollen in Projekten',
    projects: 'Projektrechteverwalter: wer Projekte bekommt',
    iamOwner: 'Eigentümer der Instanz',
    iamViewer: 'Leser der Instanz: liest alles',
    iamOrgs: 'Organisationsverwalter: jede Organisation',
    iamUsers: 'Benutzerverwalter: Personen jeder Organisation',
    iamLogin: 'Login-Anwendung: meldet Personen auf eigenen Seiten an',
  },
)

/** What each role of an organization lets one do. */
export const organizationRoles: Record<string, string> = {
  ORG_OWNER: t.owner,
  ORG_OWNER_VIEWER: t.viewer,
  ORG_USER_MANAGER: t.users,
  ORG_USER_PERMISSION_EDITOR: t.permissions,
  ORG_PROJECT_PERMISSION_EDITOR: t.projects,
}

export const instanceRoles: Record<string, string> = {
  IAM_OWNER: t.iamOwner,
  IAM_OWNER_VIEWER: t.iamViewer,
  IAM_ORG_MANAGER: t.iamOrgs,
  IAM_USER_MANAGER: t.iamUsers,
  IAM_LOGIN_CLIENT: t.iamLogin,
}

/** The name of a role of Roster, without what it lets one do. */
export function sayRole(role: string): string {
  return (organizationRoles[role] ?? instanceRoles[role] ?? role).replace(/:.*$/, '')
}
