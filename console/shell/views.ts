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
}

export const groups = { directory: words.directory, access: words.access, signIn: words.signIn, events: words.events }

/** Every view. A new one is a folder and a line here; its file is loaded when somebody goes there. */
export const views: View[] = [
  {
    path: '/people',
    menu: { group: 'directory', label: words.people, letter: 'p' },
    permission: 'user.read',
    component: lazy(() => import('../people/people.tsx')),
  },
  { path: '/people/new', permission: 'user.write', component: lazy(() => import('../people/add-person.tsx')) },
  { path: '/people/:id/:tab?', permission: 'user.read', component: lazy(() => import('../person/person.tsx')) },
]
