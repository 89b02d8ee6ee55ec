import type { ComponentType } from 'preact'
import { lazy } from 'preact/compat'
import type { ViewProps } from '../address/place.ts'
import { words } from './words.ts'

/** A view of an organization: its folder has its route, its queries and its forms. */
export interface View {
  /** Below `/o/{org}`, in wouter's pattern. */
  path: string
  /** Without one it is no entry of the menu. */
  menu?: { group: keyof typeof groups; label: string; letter: string }
  /** Without it the menu has no entry. */
  permission: string
  component: ComponentType<ViewProps>
  /** Loads the file of the component. */
  load: () => Promise<unknown>
}

export const groups = { directory: words.directory, access: words.access, signIn: words.signIn, events: words.events }

/** Every view. A new one is a folder and a line here; its chunk is loaded when the view is opened. */
export const views: View[] = [
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
  }),
  view('/projects/new', 'project.write', () => import('../projects/add-project.tsx')),
  view('/projects/:project/:tab?', 'project.read', () => import('../project/project.tsx')),
  view('/applications/new', 'project.app.write', () => import('../wizard/wizard.tsx')),
  // To who knows no more than its id.
  view('/applications/:id/:tab?', 'project.app.read', () => import('../application/application.tsx')),
  view('/projects/:project/applications/:id/:tab?', 'project.app.read', () => import('../application/application.tsx')),
]

type Load = () => Promise<{ default: ComponentType<ViewProps> }>

function view(path: string, permission: string, load: Load, menu?: View['menu']): View {
  return { path, permission, load, component: lazy(load), ...(menu && { menu }) }
}
