import { type ComponentType, h } from 'preact'
import { lazy } from 'preact/compat'
import { useState } from 'preact/hooks'
import type { ViewProps } from '../address/place.ts'
import { words } from './words.ts'

/** A view of an organization, or of the instance: its folder has its route, its queries and its forms. */
export interface View {
  /** Below `/o/{org}`, in wouter's pattern; of the instance `/instance/…`. */
  path: string
  /**
   * Without one it is no entry of the menu. `orOwnProjects`: without the permission it shows the projects in which the person
   * has a role.
   */
  menu?: { group: keyof typeof groups; label: string; letter: string; orOwnProjects?: true }
  /** Without it the menu has no entry. Empty: what the view shows is asked of each of its parts. */
  permission: string
  component: ComponentType<ViewProps>
  load: () => Promise<ViewFile>
}

/** The file of a view. */
export interface ViewFile {
  default: ComponentType<ViewProps>
  /** Reads what the view will show first, where it is the first view and its path has these filters. */
  readFirst?: (organization: string, filters: URLSearchParams) => void
}

export const groups = {
  first: '',
  directory: words.directory,
  access: words.access,
  signIn: words.signIn,
  events: words.events,
  instance: words.instance,
}

/** Every view. A new one is a folder and a line here; its chunk is loaded when the view is opened. */
export const views: View[] = [
  view('', '', () => import('../overview/overview.tsx'), { group: 'first', label: words.overview, letter: 'o' }),
  view('/people', 'user.read', () => import('../people/people.tsx'), {
    group: 'directory',
    label: words.people,
    letter: 'p',
  }),
  view('/people/new', 'user.write', () => import('../people/add-person.tsx')),
  view('/sign-ins', 'user.read', () => import('../sign-ins/sign-ins.tsx'), {
    group: 'signIn',
    label: words.signIns,
    letter: 's',
  }),
  view('/explain', 'user.read', () => import('../explain/explain.tsx'), {
    group: 'signIn',
    label: words.explain,
    letter: 'x',
  }),
  view('/people/:id/:tab?', 'user.read', () => import('../person/person.tsx')),
  view('/projects', 'project.read', () => import('../projects/projects.tsx'), {
    group: 'access',
    label: words.projects,
    letter: 'j',
    orOwnProjects: true,
  }),
  view('/projects/new', 'project.write', () => import('../projects/add-project.tsx')),
  view('/projects/:project/:tab?', 'project.read', () => import('../project/project.tsx')),
  view('/applications', 'project.app.read', () => import('../applications/applications.tsx'), {
    group: 'access',
    label: words.applications,
    letter: 'a',
  }),
  view('/applications/new', 'project.app.write', () => import('../wizard/wizard.tsx')),
  // To who knows no more than its id.
  view('/applications/:id/:tab?', 'project.app.read', () => import('../application/application.tsx')),
  view('/projects/:project/applications/:id/:tab?', 'project.app.read', () => import('../application/application.tsx')),
  view('/providers', 'org.idp.read', () => import('../providers/providers.tsx'), {
    group: 'access',
    label: words.providers,
    letter: 'v',
  }),
  view('/providers/new', 'org.idp.write', () => import('../add-provider/add-provider.tsx')),
  view('/providers/:id/:tab?', 'org.idp.read', () => import('../provider/provider.tsx')),
  view('/invitations', 'user.read', () => import('../invitations/invitations.tsx'), {
    group: 'directory',
    label: words.invitations,
    letter: 'i',
  }),
  view('/invitations/new', 'user.write', () => import('../invitations/add-invitations.tsx')),
  view('/machines', 'user.read', () => import('../machines/machines.tsx'), {
    group: 'directory',
    label: words.machines,
    letter: 'm',
  }),
  view('/machines/new', 'user.write', () => import('../machines/add-machine.tsx')),
  view('/machines/:id/:tab?', 'user.read', () => import('../machine/machine.tsx')),
  view('/organization/:tab?', 'org.read', () => import('../organization/organization.tsx'), {
    group: 'directory',
    label: words.organization,
    letter: 'z',
  }),
  view('/instance/organizations', 'org.read', () => import('../organizations/organizations.tsx'), {
    group: 'instance',
    label: words.organizations,
    letter: 'q',
  }),
  view('/instance/organizations/new', 'org.create', () => import('../organizations/add-organization.tsx')),
  view('/instance/members', 'iam.member.read', () => import('../organization/instance-members.tsx'), {
    group: 'instance',
    label: words.instanceMembers,
    letter: 'w',
  }),
  view('/instance/providers', 'iam.idp.read', () => import('../providers/providers.tsx'), {
    group: 'instance',
    label: words.instanceProviders,
    letter: 'y',
  }),
  view('/instance/providers/new', 'iam.idp.write', () => import('../add-provider/add-provider.tsx')),
  view('/instance/providers/:id/:tab?', 'iam.idp.read', () => import('../provider/provider.tsx')),
]

function view(path: string, permission: string, load: View['load'], menu?: View['menu']): View {
  const Later = lazy(load)
  let Loaded: ComponentType<ViewProps> | undefined
  return {
    path,
    permission,
    load: async () => {
      const file = await load()
      Loaded = file.default
      return file
    },
    component: (props) => {
      // A lazy component shows nothing first, even where its file is there. It stays the one it was: another one would begin
      // anew, and break off what it reads.
      const [chosen] = useState(() => Loaded ?? Later)
      return h(chosen, props)
    },
    ...(menu && { menu }),
  }
}

/** Whether a view is one of the instance: then a role there has to give its permission. */
export function isOfInstance({ path }: View): boolean {
  return path.startsWith('/instance/')
}

/** The whole path of a view, in wouter's pattern. */
export function patternOf(view: View): string {
  return isOfInstance(view) ? view.path : `/o/:org${view.path}`
}
